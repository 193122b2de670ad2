// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The long form of the crash enumeration: PROMTACT_CRASH_WORKLOADS workloads (default 320), at most
// PROMTACT_CRASH_IMAGES distinct images of each (default 8000), with a line for every workload.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include <promtact/base/numbers.hpp>
#include <promtact/wal/testing/crash_harness.hpp>

namespace promtact::wal::testing {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : parse_u64(text).value_or(otherwise);
}

TEST(WalCrashCampaign, AMillionImagesAreRecoveredRightly) {
    const std::uint64_t workloads = from_environment("PROMTACT_CRASH_WORKLOADS", 320);
    const std::uint64_t images = from_environment("PROMTACT_CRASH_IMAGES", 8000);
    const std::uint64_t first = from_environment("PROMTACT_CRASH_FIRST", 1000);
    std::unordered_set<std::uint64_t> distinct;
    CrashTally sum;

    for (std::uint64_t number = first; number < first + workloads; ++number) {
        Workload workload = generated_workload(number);
        workload.steps *= 4;
        CrashHarness harness(workload, {.images_max = images});
        const CrashTally& tally = harness.run();
        distinct.insert(harness.hashes().begin(), harness.hashes().end());
        sum += tally;
        std::printf(
            "%s: atom %u depth %u layout %u | images %llu of %llu, torn %llu, second %llu | "
            "records "
            "%llu rotations %llu recycled %llu released %llu | refused %llu lost %llu wrong %llu "
            "resurrected %llu\n",
            workload.name.c_str(), workload.atom_bytes, workload.depth,
            static_cast<unsigned>(workload.layout), static_cast<unsigned long long>(tally.distinct),
            static_cast<unsigned long long>(tally.visited),
            static_cast<unsigned long long>(tally.torn),
            static_cast<unsigned long long>(tally.second),
            static_cast<unsigned long long>(tally.records),
            static_cast<unsigned long long>(tally.rotations),
            static_cast<unsigned long long>(tally.recycled),
            static_cast<unsigned long long>(tally.released),
            static_cast<unsigned long long>(tally.refused),
            static_cast<unsigned long long>(tally.lost),
            static_cast<unsigned long long>(tally.wrong),
            static_cast<unsigned long long>(tally.resurrected));
        std::fflush(stdout);
        ASSERT_EQ(tally.failures(), 0U) << tally.first_failure;
    }
    std::printf(
        "total: %llu images distinct by content, %llu after a second crash, %llu refused\n",
        static_cast<unsigned long long>(distinct.size()),
        static_cast<unsigned long long>(sum.second), static_cast<unsigned long long>(sum.refused));
    if (workloads >= 320 && images >= 8000) {
        EXPECT_GE(distinct.size(), 1'000'000U);
    }
}

} // namespace
} // namespace promtact::wal::testing
