// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/file_storage.hpp>
#include <promtact/wal/log_core.hpp>

#include "temporary_directory.hpp"
#include "testing/allocation_peak.hpp"

namespace promtact::wal::testing {
namespace {

constexpr std::uint64_t segment_bytes = std::uint64_t{1} << 20;

std::unique_ptr<FileStorage> storage_in(const std::filesystem::path& directory) {
    auto storage = FileStorage::open(directory, {});
    PROMTACT_ASSERT(storage.has_value());
    return std::move(*storage);
}

void fill(const std::filesystem::path& directory, std::uint64_t segments) {
    const auto storage = storage_in(directory);
    LogOptions options{.open = LogOptions::Open::create, .entropy = 1};
    options.segment_bytes = segment_bytes;
    AlignedBytes arena(LogCore::arena_bytes(options), 4096);
    LogCore log(*storage, options, arena.span());
    const std::vector<std::byte> payload(100'000, std::byte{7});
    std::uint64_t now_ns = 0;
    while (log.stats().rotations < segments) {
        log.pump(now_ns += 1000);
        ASSERT_FALSE(log.poisoned());
        if (log.state() == LogCore::State::ready) static_cast<void>(log.append(payload));
    }
    for (log.close(); log.state() != LogCore::State::closed;)
        log.pump(now_ns += 1000);
}

TEST(WalRecoveryMemory, IsAboutOneSegmentHoweverLongTheLog) {
    for (const std::uint64_t segments : {3U, 30U}) {
        const test_support::TemporaryDirectory where;
        fill(where.path(), segments);
        const auto storage = storage_in(where.path());

        const AllocationPeak peak;
        std::uint64_t frames = 0;
        ScanOptions options;
        options.on_frame = [&](const FrameHeader&, std::span<const std::byte>) { ++frames; };
        LogScan scan(*storage, options);
        scan.run();

        EXPECT_EQ(scan.report().verdict, Verdict::ok) << scan.report().text;
        EXPECT_GE(scan.report().segments.size(), segments);
        EXPECT_GT(frames, segments);
        EXPECT_LE(peak.bytes(), segment_bytes + (1U << 20));
    }
}

} // namespace
} // namespace promtact::wal::testing
