// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "crash_images/gate.hpp"

#include <memory>
#include <string>
#include <unordered_set>

#include <promtact/wal/fault_storage.hpp>
#include <promtact/wal/testing/crash_harness.hpp>

namespace promtact::gates {
namespace {

using wal::testing::CrashHarness;
using wal::testing::CrashTally;
using wal::testing::HarnessOptions;
using wal::testing::Workload;

constexpr std::string_view qualified[] = {"wal"};
constexpr std::uint64_t images_wanted_full = 1'000'000; // distinct by content
constexpr std::uint64_t first_workload = 1000;          // the unit tests enumerate those below

struct Sample {
    std::uint64_t workloads = 0;
    std::uint64_t images_max = 0; // of each
    std::uint32_t steps_factor = 1;
};

Sample sample_of(const GateContext& context) {
    return context.quick() ? Sample{24, 600, 1} : Sample{320, 8000, 4};
}

HarnessOptions harness_options(const GateContext& context) {
    HarnessOptions options{.images_max = sample_of(context).images_max};
    if (context.quick()) options.crash = {.exhaustive_max = 10, .random = 32};
    if (!context.sabotaged()) return options;
    options.decorate = [](Storage& inner) {
        auto faults = std::make_unique<wal::FaultStorage>(inner, 1);
        faults->add(
            {.kind = IoKind::sync_dir,
             .count = ~std::uint64_t{0},
             .fault = wal::StorageFault::lost});
        return faults;
    };
    return options;
}

struct Sum {
    CrashTally tally{};
    std::unordered_set<std::uint64_t> distinct{}; // over all workloads

    void add(const CrashHarness& harness, const CrashTally& one) {
        distinct.insert(harness.hashes().begin(), harness.hashes().end());
        tally += one;
    }
};

std::string tally_line(const Workload& workload, const CrashTally& tally) {
    const auto n = [](std::uint64_t number) { return std::to_string(number); };
    return workload.name + ": unit " + n(workload.atom_bytes) + " bytes, depth " +
           n(workload.depth) + ", syncs " + n(workload.syncs) + ", " +
           (workload.layout == wal::Layout::fixed ? "fixed" : "variable") + "; images " +
           n(tally.distinct) + ", after a second crash " + n(tally.second) + ", torn " +
           n(tally.torn) + "; records " + n(tally.records) + ", rotations " + n(tally.rotations) +
           ", recycled " + n(tally.recycled) + ", released " + n(tally.released);
}

/// Something the workloads were meant to bring about and did not; empty: nothing.
std::string vacuous(const Sum& sum, const GateContext& context) {
    if (sum.tally.torn == 0) return "no image had a torn tail";
    if (sum.tally.second == 0) return "no image was of a second crash";
    if (sum.tally.rotations == 0) return "no segment was full";
    if (sum.tally.recycled == 0) return "no segment was used again";
    if (sum.tally.released == 0) return "no segment was released";
    if (!context.quick() && sum.distinct.size() < images_wanted_full)
        return "only " + std::to_string(sum.distinct.size()) + " images were distinct";
    return {};
}

std::vector<Measurement> measurements_of(const Sum& sum) {
    const auto count = [](std::string name, std::string method, std::uint64_t value) {
        return Measurement{std::move(name), "count", std::move(method), Scalar{value}};
    };
    const CrashTally& tally = sum.tally;
    return {
        count("images", "recovered, distinct by a hash of their content", sum.distinct.size()),
        count("images_visited", "with repetitions", tally.visited),
        count("images_after_second_crash", "of a crash during or after a recovery", tally.second),
        count("images_torn", "recovered to a prefix before a torn tail", tally.torn),
        count("moments", "at which a crash was tried", tally.moments),
        count("refused", "images the log would not open", tally.refused),
        count("lost", "acknowledged records that were missing", tally.lost),
        count("wrong", "records never appended, or with other content", tally.wrong),
        count("resurrected", "records back that a recovery had dropped", tally.resurrected),
        count("records", "appended by the workloads", tally.records),
        count("rotations", "segments filled", tally.rotations),
        count("recycled", "segments used again", tally.recycled),
        count("released", "segments let go", tally.released)};
}

} // namespace

const GateInfo crash_images_info{
    .id = "crash_images",
    .tier = Tier::storage,
    .title = "Write-ahead log: recovery from every image a crash may leave",
    .qualifies = qualified,
    .budget = std::chrono::seconds{40},
    .full_budget = std::chrono::minutes{60},
    .establishes =
        "over generated workloads on a disk model, the log opens every image that a crash may "
        "leave, also of a crash during recovery, with all acknowledged records, none that was "
        "never appended and none that an earlier recovery had dropped",
    .does_not_establish =
        "that a device keeps the promises of the model: a completed flush is durable, an aligned "
        "unit is written whole or not at all",
    .control = "skip_directory_sync",
    .control_breaks = "the storage answers syncs of the directory without carrying them out; some "
                      "image must be refused or lose an acknowledged record",
    .remedy = "run the workload named in the reason with the test WalCrashCampaign and report the "
              "first failing image"};

Result<GateReport> run_crash_images(const GateContext& context) {
    const Sample sample = sample_of(context);
    const HarnessOptions options = harness_options(context);
    GateReport report{.verdict = Verdict::pass};
    Sum sum;
    for (std::uint64_t i = 0; i < sample.workloads && sum.tally.failures() == 0; ++i) {
        Workload workload = wal::testing::generated_workload(first_workload + i);
        workload.steps *= sample.steps_factor;
        context.step(workload.name);
        CrashHarness harness(workload, options);
        const CrashTally& tally = harness.run();
        sum.add(harness, tally);
        report.notes.push_back(tally_line(workload, tally));
    }
    context.step("judge");
    report.parameters = {
        {"workloads", sample.workloads},
        {"images_max_per_workload", sample.images_max},
        {"sample", std::string(to_string(context.options().sample))}};
    report.measurements = measurements_of(sum);
    report.reason = sum.tally.failures() > 0 ? sum.tally.first_failure : vacuous(sum, context);
    if (!report.reason.empty()) {
        report.verdict = Verdict::fail;
        return report;
    }
    report.summary = std::to_string(sum.distinct.size()) + " images of " +
                     std::to_string(sample.workloads) +
                     " workloads recovered, none refused, nothing lost";
    return report;
}

} // namespace promtact::gates
