// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The page of a host: what it is, what it answered last, and how that compares with before.
#include <algorithm>

#include <promtact/gates/format.hpp>
#include <promtact/gates/svg_chart.hpp>
#include <promtact/gates/text_table.hpp>

#include "evidence_pages_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t curves_max = 6;

std::string number_or_unknown(const std::optional<std::uint64_t>& value, std::string_view unit) {
    return value.has_value() ? value_text(*value, unit) : "unknown";
}

std::string facts_table(const HostFacts& facts) {
    TextTable table({"fact", "value"});
    const auto row = [&](std::string_view name, const std::string& value) {
        table.row({std::string(name), markdown_escaped(value)});
    };
    row("kernel", facts.kernel.release + " " + facts.kernel.version);
    row("preemption", facts.kernel.preemption);
    row("clock source", facts.kernel.clocksource);
    row("tick", number_or_unknown(facts.kernel.tick_hz, "Hz"));
    row("distribution", facts.machine.distribution);
    row("processor", facts.machine.cpu_model);
    row("processors", std::to_string(facts.machine.cpus));
    row("governor", facts.machine.cpu_governor);
    row("memory", value_text(facts.machine.memory_bytes, "bytes"));
    row("hypervisor", facts.machine.hypervisor);
    row("container", facts.machine.container);
    row("filesystem", facts.storage.filesystem + " (" + facts.storage.mount_options + ")");
    row("journal", facts.storage.journal);
    row("device", facts.storage.device + ", model " + facts.storage.model);
    row("scheduler", facts.storage.scheduler);
    row("write cache", facts.storage.write_cache);
    row("forced unit access", number_or_unknown(facts.storage.fua, ""));
    row("logical block", number_or_unknown(facts.storage.logical_block_bytes, "bytes"));
    row("physical block", number_or_unknown(facts.storage.physical_block_bytes, "bytes"));
    row("atomic write unit", number_or_unknown(facts.storage.atomic_write_max_bytes, "bytes"));
    row("locked memory", facts.limits.memlock_bytes.has_value()
                             ? value_text(*facts.limits.memlock_bytes, "bytes")
                             : "unlimited");
    row("io_uring_disabled", facts.limits.io_uring_disabled);
    row("seccomp", facts.limits.seccomp);
    for (const NamedFact& fact : facts.libraries)
        row(fact.name, fact.value);
    for (const NamedFact& fact : facts.tools)
        row(fact.name, fact.value);
    return table.markdown();
}

const Histogram*
find_histogram(const Campaign& campaign, std::string_view gate, std::string_view name) {
    for (const GateRecord& record : campaign.records) {
        if (record.id != gate) continue;
        const Measurement* measurement = find_measurement(record.measurements, name);
        if (measurement == nullptr) return nullptr;
        const auto* histogram = std::get_if<Histogram>(&measurement->value);
        return histogram != nullptr && histogram->count() > 0 ? histogram : nullptr;
    }
    return nullptr;
}

class HostPage {
  public:
    explicit HostPage(const HostEvidence& host)
        : host_(host), folder_(fs::path("results/hosts") / host.newest().host) {}

    std::vector<Document> render() {
        const Campaign& newest = host_.newest();
        std::string text = generated_banner() + "# " + newest.host +
                           "\n\nNewest accepted campaign: " + newest.name + ", " +
                           campaign_time(newest.name) + ".\n\n## Host\n\n" +
                           facts_table(newest.facts) + "\n## Results\n\n";
        for (const StandingResult& result : host_.results) {
            text += result_section(result.record(), result.freshness(), "###");
            for (const Measurement& measurement : result.record().measurements)
                text += pictures(result, measurement);
        }
        text += earlier_campaigns();
        documents_.insert(documents_.begin(), {folder_ / "README.md", text});
        return std::move(documents_);
    }

  private:
    std::string picture(const std::string& stem, const std::string& caption, std::string svg) {
        const fs::path file = fs::path("figures") / (stem + ".svg");
        documents_.push_back({folder_ / file, std::move(svg)});
        return "![" + markdown_escaped(caption) + "](" + file.string() + ")\n\n";
    }

    std::string pictures(const StandingResult& result, const Measurement& measurement) {
        const std::string& gate = result.record().id;
        if (find_histogram(result.accepted->campaign, gate, measurement.name) == nullptr) return "";
        const std::string title = gate + ": " + measurement.name;
        const auto& histogram = std::get<Histogram>(measurement.value);
        const std::string stem = gate + "." + measurement.name;
        std::string text = picture(stem, title, histogram_svg(histogram, title, measurement.unit));
        std::vector<Curve> curves;
        for (const AcceptedCampaign* accepted : host_.campaigns) {
            if (const Histogram* one = find_histogram(accepted->campaign, gate, measurement.name);
                one != nullptr)
                curves.push_back({accepted->campaign.name, one});
        }
        if (curves.size() > curves_max)
            curves.erase(curves.begin(), curves.end() - static_cast<std::ptrdiff_t>(curves_max));
        const std::string what = title + ", cumulative";
        return text + picture(stem + ".cdf", what, cdf_svg(curves, what, measurement.unit));
    }

    std::string earlier_campaigns() const {
        std::string text = "## Campaigns\n\n";
        TextTable table({"campaign", "kernel", "passed", "failed", "grey"});
        for (const AcceptedCampaign* accepted : host_.campaigns) {
            std::size_t passed = 0;
            std::size_t grey = 0;
            const std::vector<GateRecord>& records = accepted->campaign.records;
            for (const GateRecord& record : records) {
                passed += record.verdict == Verdict::pass ? 1 : 0;
                grey += is_grey(record.verdict) ? 1 : 0;
            }
            table.row(
                {accepted->campaign.name, markdown_escaped(accepted->campaign.facts.kernel.release),
                 std::to_string(passed), std::to_string(records.size() - passed - grey),
                 std::to_string(grey)});
        }
        return text + table.markdown({2, 3, 4});
    }

    const HostEvidence& host_;
    fs::path folder_;
    std::vector<Document> documents_{};
};

} // namespace

std::vector<Document> host_documents(const HostEvidence& host) {
    PROMTACT_ASSERT(!host.campaigns.empty());
    return HostPage(host).render();
}

} // namespace promtact::gates
