// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "storage_support/direct_target_internal.hpp"
#include "storage_support/flush_evidence_internal.hpp"
#include "test_paths.hpp"

namespace promtact::gates {
namespace {

std::vector<FlushSegment> segments(std::uint64_t active, std::uint64_t idle) {
    return std::vector<FlushSegment>(
        10, FlushSegment{
                .operations = 40,
                .active_flushes = active,
                .active_ns = 5'000'000,
                .idle_flushes = idle,
                .idle_ns = 5'000'000});
}

TEST(FlushEvidence, OneFlushPerOperationIsSeen) {
    EXPECT_EQ(judge_flushes(segments(40, 0)).evidence, FlushEvidence::seen);
    EXPECT_EQ(judge_flushes(segments(48, 8)).evidence, FlushEvidence::seen);
    EXPECT_EQ(judge_flushes(segments(80, 0)).evidence, FlushEvidence::seen) << "journals double it";
}

TEST(FlushEvidence, NoFlushIsMissing) {
    EXPECT_EQ(judge_flushes(segments(0, 0)).evidence, FlushEvidence::missing);
    EXPECT_EQ(judge_flushes(segments(8, 8)).evidence, FlushEvidence::missing)
        << "the flushes of others are not ours";
    EXPECT_EQ(judge_flushes(segments(20, 0)).evidence, FlushEvidence::missing)
        << "every second flush lost";
}

TEST(FlushEvidence, ABusyDiskCannotTell) {
    EXPECT_EQ(judge_flushes(segments(60, 20)).evidence, FlushEvidence::undeterminable);
    EXPECT_EQ(judge_flushes(segments(20, 20)).evidence, FlushEvidence::undeterminable);
}

TEST(FlushEvidence, ABurstOfForeignFlushesNeitherFakesNorHides) {
    auto faked = segments(0, 0);
    for (std::size_t i = 0; i < 4; ++i)
        faked[i].active_flushes = 400;
    EXPECT_EQ(judge_flushes(faked).evidence, FlushEvidence::missing);

    auto hidden = segments(40, 0);
    for (std::size_t i = 0; i < 4; ++i)
        hidden[i].idle_flushes = 400;
    EXPECT_EQ(judge_flushes(hidden).evidence, FlushEvidence::seen);
}

TEST(FlushEvidence, IdleStretchesAreScaledToTheActiveOnes) {
    auto short_idle = segments(40, 2);
    for (FlushSegment& segment : short_idle)
        segment.idle_ns = 500'000; // 2 in a tenth of the time are 20 in all of it
    EXPECT_EQ(judge_flushes(short_idle).evidence, FlushEvidence::undeterminable);
}

TEST(DirectTarget, PatternsOfDifferentBlocksAndSeedsDiffer) {
    std::array<std::byte, 4096> a{};
    std::array<std::byte, 4096> b{};
    fill_pattern(a, 1, 1);
    fill_pattern(b, 1, 2);
    EXPECT_NE(a, b);
    fill_pattern(b, 2, 1);
    EXPECT_NE(a, b);
    fill_pattern(b, 1, 1);
    EXPECT_EQ(a, b);
}

TEST(DirectTarget, FindsTheOneFlippedBit) {
    auto file = ScratchFile::create(promtact::test_build_path(""), O_DIRECT);
    if (!file) GTEST_SKIP() << "needs O_DIRECT: " << file.error().context;
    ASSERT_TRUE(file->fill_with_zeros(1 << 20));
    auto buffer = uring::AlignedBuffer::allocate(1, 4096);
    ASSERT_TRUE(buffer);
    for (std::uint64_t i = 0; i < 100; ++i) {
        fill_pattern(buffer->all(), 7, i);
        ASSERT_EQ(
            ::pwrite(file->fd(), buffer->all().data(), 4096, static_cast<off_t>(i * 4096)), 4096);
    }
    auto clean = first_difference(file->fd(), 0, 100, 7);
    ASSERT_TRUE(clean);
    EXPECT_FALSE(clean->has_value());

    ASSERT_TRUE(flip_bit(file->fd(), 77 * 4096 + 4095));

    const auto found = first_difference(file->fd(), 0, 100, 7);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, 77U);
}

TEST(DirectTarget, ATargetThatEndsEarlyIsAnError) {
    auto file = ScratchFile::create(promtact::test_build_path(""), O_DIRECT);
    if (!file) GTEST_SKIP() << "needs O_DIRECT: " << file.error().context;
    ASSERT_TRUE(file->fill_with_zeros(4096));

    EXPECT_EQ(first_difference(file->fd(), 0, 2, 7).error().code, Errc::out_of_range);
}

TEST(DirectTarget, RefusesAFilesystemInMemoryByName) {
    GateOptions options;
    options.directory = "/dev/shm";
    const auto file = direct_scratch(GateContext(options, false, {}));
    ASSERT_FALSE(file);
    if (file.error().code == Errc::not_found) GTEST_SKIP() << "needs /dev/shm";
    EXPECT_EQ(file.error().code, Errc::unsupported);
    EXPECT_NE(file.error().context.find("/dev/shm"), std::string::npos);
}

} // namespace
} // namespace promtact::gates
