// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A tree with results, accepted campaigns and pages, and a history that says what a test wants.
#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/read_file.hpp>
#include <promtact/gates/evidence.hpp>

#include "fake_gates_internal.hpp"

namespace promtact::gates::fakes {

namespace fs = std::filesystem;

inline constexpr std::array<std::string_view, 1> units{"uring"};
inline const GateInfo good_info = [] {
    GateInfo info = fake_info("good");
    info.qualifies = units;
    return info;
}();
inline const GateInfo grey_info = [] {
    GateInfo info = fake_info("grey_one");
    info.qualifies = units;
    return info;
}();
inline const std::vector<GateEntry> catalog_of_two{
    {&good_info, &well_behaved}, {&grey_info, &well_behaved}};

inline const std::string commit(40, 'c');

class FakeHistory final : public History {
  public:
    Ancestry ancestry(std::string_view) override { return relation; }
    std::optional<std::vector<std::string>>
    changed_since(std::string_view, const std::vector<std::string>& folders) override {
        asked = folders;
        return changed;
    }
    Ancestry relation = Ancestry::ancestor;
    std::optional<std::vector<std::string>> changed = std::vector<std::string>{};
    std::vector<std::string> asked{};
};

inline GateRecord good_record(std::uint64_t scale) {
    GateRecord record = record_of(good_info, GateClass::quick);
    Histogram latency;
    for (std::uint64_t i = 1; i <= 500; ++i)
        latency.record(i * scale);
    record.verdict = Verdict::pass;
    record.summary = "500 of 500";
    record.control = ControlRecord{"turn_it_off", "fail", "fail", "it is off"};
    record.run.started_at = "2026-11-29T20:48:20Z";
    record.run.commit = commit;
    record.run.command = {"promtact", "gates"};
    record.run.build = {"release", "g++ 12.2.0", "-O2", true};
    record.measurements = {
        {"latency", "ns", "one clock pair each", latency}, {"rate", "count", "counted", Scalar{5}}};
    return record;
}

inline GateRecord grey_record() {
    GateRecord record = record_of(grey_info, GateClass::quick);
    record.verdict = Verdict::unsupported;
    record.reason = "needs CONFIG_NET_SCH_NETEM";
    record.run = good_record(1).run;
    return record;
}

inline HostFacts fixed_facts() {
    HostFacts facts;
    facts.name = "test-host";
    facts.kernel.release = "6.18.0";
    facts.machine.cpu_model = "A | B <C>";
    facts.machine.cpus = 2;
    facts.storage.filesystem = "ext4";
    return facts;
}

// A tree with results, a README and accepted.json.
class Tree {
  public:
    Tree() {
        fs::create_directories(root() / "results/hosts");
        write(
            "README.md",
            "# R\n\n" + std::string(figures_begin) + "\n" + std::string(figures_end) + "\n\nend\n");
    }
    [[nodiscard]] const fs::path& root() const { return scratch_.path(); }

    // Writes a campaign of one gate or both and accepts it.
    CampaignName
    add(std::uint64_t scale, const std::function<void(GateRecord&)>& edit = {}, bool both = true) {
        auto writer = CampaignWriter::open(root() / "results/hosts", "test-host");
        EXPECT_TRUE(writer);
        EXPECT_TRUE(writer->write_host(fixed_facts()));
        GateRecord good = good_record(scale);
        GateRecord grey = grey_record();
        if (edit) edit(good);
        EXPECT_TRUE(writer->add(good));
        if (both) {
            EXPECT_TRUE(writer->add(grey));
        }
        const auto path = writer->finish(1'800'000'000, commit);
        EXPECT_TRUE(path);
        CampaignName name{"test-host", path->filename()};
        accepted_.push_back(name);
        write("results/accepted.json", to_json(accepted_));
        return name;
    }
    void render(History& history) {
        Findings findings;
        const Evidence evidence = load_evidence(root(), catalog_of_two, history, findings);
        EXPECT_THAT(findings.problems, testing::IsEmpty());
        auto documents = render_evidence(evidence, catalog_of_two);
        auto readme = render_readme(evidence, read("README.md"));
        ASSERT_TRUE(readme);
        documents.push_back({"README.md", *readme});
        ASSERT_TRUE(write_documents(root(), documents));
    }
    Findings check(History& history) { return check_evidence(root(), catalog_of_two, history); }
    [[nodiscard]] std::string read(const fs::path& name) const {
        const auto text = read_text_file(root() / name, Bytes{1U << 24});
        return text ? *text : "";
    }
    void write(const fs::path& name, const std::string& text) const {
        fs::create_directories((root() / name).parent_path());
        std::ofstream(root() / name, std::ios::binary) << text;
    }
    void replace(const fs::path& name, const std::string& from, const std::string& to) const {
        std::string text = read(name);
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from << " is not in " << name;
        write(name, text.replace(at, from.size(), to));
    }

  private:
    Scratch scratch_{};
    std::vector<CampaignName> accepted_{};
};

inline fs::path place_of(const CampaignName& name) {
    return fs::path("results/hosts") / name.host / name.campaign;
}

} // namespace promtact::gates::fakes
