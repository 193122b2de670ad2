// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fstream>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/gates/compare.hpp>
#include <promtact/gates/evidence.hpp>

#include "testing/fake_gates_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;
using fakes::fake_info;
using fakes::Scratch;
using fakes::well_behaved;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::array<std::string_view, 1> units{"uring"};
const GateInfo good_info = [] {
    GateInfo info = fake_info("good");
    info.qualifies = units;
    return info;
}();
const GateInfo grey_info = [] {
    GateInfo info = fake_info("grey_one");
    info.qualifies = units;
    return info;
}();
const std::vector<GateEntry> catalog_of_two{
    {&good_info, &well_behaved}, {&grey_info, &well_behaved}};

const std::string commit(40, 'c');

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

GateRecord good_record(std::uint64_t scale) {
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

GateRecord grey_record() {
    GateRecord record = record_of(grey_info, GateClass::quick);
    record.verdict = Verdict::unsupported;
    record.reason = "needs CONFIG_NET_SCH_NETEM";
    record.run = good_record(1).run;
    return record;
}

HostFacts fixed_facts() {
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

    // Writes a campaign and accepts it.
    CampaignName add(std::uint64_t scale, const std::function<void(GateRecord&)>& edit = {}) {
        auto writer = CampaignWriter::open(root() / "results/hosts", "test-host");
        EXPECT_TRUE(writer);
        EXPECT_TRUE(writer->write_host(fixed_facts()));
        GateRecord good = good_record(scale);
        GateRecord grey = grey_record();
        if (edit) edit(good);
        EXPECT_TRUE(writer->add(good));
        EXPECT_TRUE(writer->add(grey));
        const auto path = writer->finish(1'800'000'000, commit);
        EXPECT_TRUE(path);
        const CampaignName name{"test-host", path->filename()};
        accepted_.push_back(name);
        write("results/accepted.json", to_json(accepted_));
        return name;
    }
    void render(History& history) {
        Findings findings;
        const Evidence evidence = load_evidence(root(), catalog_of_two, history, findings);
        EXPECT_THAT(findings.problems, IsEmpty());
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

TEST(Evidence, ChecksCleanAfterRendering) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    tree.add(1500);
    tree.render(history);
    const Findings findings = tree.check(history);
    EXPECT_THAT(findings.problems, IsEmpty());
    EXPECT_THAT(findings.notes, IsEmpty());
}

TEST(Evidence, RendersTheSameBytesEveryTime) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    tree.render(history);
    const std::string before = tree.read("results/EVIDENCE.md");
    Findings findings;
    const auto changed = write_documents(
        tree.root(),
        render_evidence(
            load_evidence(tree.root(), catalog_of_two, history, findings), catalog_of_two));
    EXPECT_THAT(*changed, IsEmpty());
    EXPECT_EQ(tree.read("results/EVIDENCE.md"), before);
}

TEST(Evidence, SaysWhatAResultDoesNotEstablishAndKeepsGreyGrey) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    tree.render(history);
    EXPECT_THAT(
        tree.read("results/EVIDENCE.md"),
        AllOf(
            HasSubstr("Does not establish: anything about this host"),
            HasSubstr("grey: unsupported"), HasSubstr("needs CONFIG\\_NET\\_SCH\\_NETEM"),
            HasSubstr("observed fail (it is off)"), HasSubstr("A \\| B &lt;C&gt;")));
    EXPECT_THAT(tree.read("results/STATUS.md"), HasSubstr("| uring | good | pass | test-host |"));
    EXPECT_THAT(tree.read("README.md"), AllOf(HasSubstr("latency p50"), HasSubstr("\n\nend\n")));
}

TEST(Evidence, DrawsCurvesOfEarlierCampaignsBesideTheNewest) {
    Tree tree;
    FakeHistory history;
    const CampaignName first = tree.add(1000);
    const CampaignName second = tree.add(1500);
    tree.render(history);
    const std::string page = tree.read("results/hosts/test-host/README.md");
    EXPECT_THAT(page, HasSubstr("(figures/good.latency.svg)"));
    EXPECT_THAT(
        tree.read("results/hosts/test-host/figures/good.latency.cdf.svg"),
        AllOf(HasSubstr(first.campaign), HasSubstr(second.campaign)));
}

TEST(Evidence, WithoutAcceptedResultsClaimsNothing) {
    Tree tree;
    FakeHistory history;
    tree.write("results/accepted.json", to_json(std::vector<CampaignName>{}));
    tree.render(history);
    EXPECT_THAT(tree.read("results/EVIDENCE.md"), HasSubstr("No result has been accepted yet."));
    EXPECT_THAT(tree.read("results/STATUS.md"), HasSubstr("| uring | good | no accepted result |"));
    EXPECT_THAT(tree.check(history).problems, IsEmpty());
}

struct Sabotage {
    const char* name;
    std::function<void(Tree&, FakeHistory&, const CampaignName&)> act;
    const char* says;
};

class EvidenceCheck : public testing::TestWithParam<Sabotage> {};

TEST_P(EvidenceCheck, FailsWhen) {
    Tree tree;
    FakeHistory history;
    const CampaignName name = tree.add(1000);
    tree.render(history);
    ASSERT_THAT(tree.check(history).problems, IsEmpty());

    GetParam().act(tree, history, name);

    EXPECT_THAT(tree.check(history).problems, Contains(HasSubstr(GetParam().says)));
}

fs::path place_of(const CampaignName& name) {
    return fs::path("results/hosts") / name.host / name.campaign;
}

INSTANTIATE_TEST_SUITE_P(
    Table, EvidenceCheck,
    testing::Values(
        Sabotage{
            "AFigureIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("results/EVIDENCE.md", "500 of 500", "501 of 501");
            },
            "results/EVIDENCE.md:"},
        Sabotage{
            "StatusIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("results/STATUS.md", "| grey: unsupported |", "| pass |");
            },
            "results/STATUS.md:"},
        Sabotage{
            "TheReadmeBlockIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("README.md", "latency p50", "latency p51");
            },
            "README.md:"},
        Sabotage{
            "TheReadmeHasNoMarkers",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("README.md", std::string(figures_end), "");
            },
            "README.md needs"},
        Sabotage{
            "APageIsMissing",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                fs::remove(tree.root() / "results/hosts/test-host/README.md");
            },
            "test-host/README.md: is missing"},
        Sabotage{
            "APictureIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace(
                    "results/hosts/test-host/figures/good.latency.svg", "500 samples", "x");
            },
            "good.latency.svg:"},
        Sabotage{
            "AStrayPageLiesAround",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.write("results/hosts/old-host/README.md", "old");
            },
            "old-host/README.md: nothing renders it"},
        Sabotage{
            "AResultIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName& n) {
                tree.replace(place_of(n) / "good.json", "\"value\": 5", "\"value\": 6");
            },
            "checksum differs"},
        Sabotage{
            "TheCampaignIsUnknown",
            [](Tree& tree, FakeHistory&, const CampaignName& n) {
                fs::remove_all(tree.root() / place_of(n));
            },
            "there is no campaign"},
        Sabotage{
            "TheCommitIsNoAncestor",
            [](Tree&, FakeHistory& h, const CampaignName&) { h.relation = Ancestry::stranger; },
            "is no ancestor"},
        Sabotage{
            "AcceptedHasAnUnknownField",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("results/accepted.json", "\"host\"", "\"hots\"");
            },
            "unknown field \"hots\""},
        Sabotage{
            "AStaleResultIsCalledCurrent",
            [](Tree&, FakeHistory& h, const CampaignName&) { h.changed = {"uring/ring.cpp"}; },
            "calls current what is stale"},
        Sabotage{
            "AFigureIsTypedByHand",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.write("docs/x.md", "It takes 5 ms.\n");
            },
            "docs/x.md:1:10: figure \"5 ms\""},
        Sabotage{
            "AnUnacceptedCampaignIsBroken",
            [](Tree& tree, FakeHistory&, const CampaignName& n) {
                const fs::path other =
                    tree.root() / "results/hosts/test-host/20200101T000000Z-0123456789ab";
                fs::copy(tree.root() / place_of(n), other);
                fs::remove(other / "good.json");
            },
            "20200101T000000Z-0123456789ab/good.json"}),
    [](const testing::TestParamInfo<Sabotage>& row) { return row.param.name; });

TEST(EvidenceCheck, RefusesADirtyTreeAndAnUnknownCommit) {
    for (const bool dirty : {true, false}) {
        Tree tree;
        FakeHistory history;
        tree.add(1000, [&](GateRecord& record) {
            record.run.dirty = dirty;
            if (!dirty) record.run.commit = "unknown";
        });
        EXPECT_THAT(
            tree.check(history).problems,
            Contains(HasSubstr("good.json: comes from a tree that is no commit")));
    }
}

TEST(EvidenceCheck, AcceptsPagesThatShowAResultAsStale) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    history.changed = {"uring/ring.cpp"};
    tree.render(history);
    EXPECT_THAT(tree.read("results/STATUS.md"), HasSubstr("stale: uring/ring.cpp changed since"));
    EXPECT_THAT(tree.check(history).problems, IsEmpty());
}

TEST(EvidenceCheck, OnlyNotesFreshnessItCannotTellOrThatIsUnderstated) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    tree.render(history);
    history.changed = std::nullopt;
    history.relation = Ancestry::unknown;
    const Findings blind = tree.check(history);
    EXPECT_THAT(blind.problems, IsEmpty());
    EXPECT_THAT(blind.notes, Contains(HasSubstr("freshness has changed")));
    EXPECT_THAT(blind.notes, Contains(HasSubstr("cannot tell whether commit")));
}

TEST(Freshness, LooksAtTheQualifiedUnitsAndTheGatesFolder) {
    FakeHistory history;
    EXPECT_EQ(to_string(freshness_of(good_record(1), catalog_of_two, history)), "current");
    EXPECT_THAT(history.asked, ElementsAre("uring", "gates/good"));
}

TEST(Freshness, IgnoresWhatCannotChangeAnAnswer) {
    FakeHistory history;
    history.changed = {"uring/README.md", "uring/ring_test.cpp", "uring/corpus/x/1"};
    EXPECT_EQ(to_string(freshness_of(good_record(1), catalog_of_two, history)), "current");
    history.changed->push_back("uring/CMakeLists.txt");
    EXPECT_EQ(
        to_string(freshness_of(good_record(1), catalog_of_two, history)),
        "stale: uring/CMakeLists.txt changed since");
}

TEST(Freshness, FollowsTheRevisionOfTheGate) {
    FakeHistory history;
    GateRecord record = good_record(1);
    record.revision = 7;
    EXPECT_THAT(
        to_string(freshness_of(record, catalog_of_two, history)),
        HasSubstr("the gate is at revision 1, the result at 7"));
    record.id = "gone";
    EXPECT_THAT(to_string(freshness_of(record, catalog_of_two, history)), HasSubstr("is gone"));
}

TEST(Accepted, RefusesWhatIsNoCampaignOrTwice) {
    const std::string name = "20261129T204820Z-0123456789ab";
    const std::string one = R"({"host": "h", "campaign": ")" + name + R"("})";
    const auto wrap = [](const std::string& list) {
        return R"({"schema": "promtact.accepted/1", "accepted": [)" + list + "]}";
    };
    EXPECT_TRUE(accepted_from_json(wrap(one), "a.json"));
    EXPECT_FALSE(accepted_from_json(wrap(one + "," + one), "a.json"));
    EXPECT_FALSE(accepted_from_json(wrap(R"({"host": "..", "campaign": "x"})"), "a.json"));
    EXPECT_FALSE(accepted_from_json(R"({"schema": "other", "accepted": []})", "a.json"));
}

TEST(Compare, ShowsRatiosAndWhatMakesThemDoubtful) {
    Tree tree;
    const CampaignName first = tree.add(1000);
    const CampaignName second = tree.add(2000, [](GateRecord& record) { record.revision = 2; });
    const auto a = load_campaign(tree.root() / place_of(first));
    auto b = load_campaign(tree.root() / place_of(second));
    ASSERT_TRUE(a);
    ASSERT_TRUE(b);
    b->facts.kernel.release = "6.19.0";

    const Comparison comparison = compare_campaigns(*a, *b);
    const std::string text = comparison_text(*a, *b, comparison);

    EXPECT_THAT(text, HasSubstr("kernel differs: 6.18.0 and 6.19.0"));
    EXPECT_THAT(text, HasSubstr("pass (other revision)"));
    EXPECT_THAT(text, testing::ContainsRegex("good +latency +p50 .* 2\\.00"));
    EXPECT_THAT(text, testing::ContainsRegex("good +rate +value +5 +5 +1\\.000"));
    EXPECT_TRUE(read_json(comparison_json(*a, *b, comparison), "x"));
}

TEST(Compare, NamesWhatOneCampaignLacks) {
    Tree tree;
    const CampaignName first = tree.add(1000);
    auto a = load_campaign(tree.root() / place_of(first));
    Campaign b = *a;
    b.records.pop_back();
    b.records.front().measurements.pop_back();
    const Comparison comparison = compare_campaigns(*a, b);
    const std::string text = comparison_text(*a, b, comparison);
    EXPECT_THAT(text, testing::ContainsRegex("grey_one +unsupported +absent"));
    EXPECT_THAT(text, testing::ContainsRegex("good +rate +value +5 +- +-"));
}

} // namespace
} // namespace promtact::gates
