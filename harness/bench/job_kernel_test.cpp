// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/loop_device.hpp>

#include "bench/block_run.hpp"
#include "bench/fio.hpp"
#include "bench/ladder.hpp"
#include "bench/zero_file.hpp"
#include "test_paths.hpp"

namespace promtact::harness::bench {
namespace {

namespace fs = std::filesystem;

const fs::path directory = test_build_path("");
constexpr JobLimits limits{
    .operations_max = 8, .duration = std::chrono::seconds(30), .region_blocks = 512};

TEST(BenchJob, EveryRungOfTheLadderRuns) {
    const auto results =
        run_ladder(storage_ladder(), {.directory = directory, .rounds = 1, .limits = limits});

    if (!results && results.error().code == Errc::unsupported)
        GTEST_SKIP() << "needs " << describe(results.error());
    ASSERT_TRUE(results) << describe(results.error());
    for (const SectionResult& section : *results) {
        for (const RungResult& rung : section.rungs) {
            if (!rung.failure.empty()) {
                // A kernel may lack a ring mode or a flag; nothing else is an excuse.
                EXPECT_NE(rung.failure.find("not supported"), std::string::npos)
                    << rung.job.name << ": " << rung.failure;
                continue;
            }
            EXPECT_EQ(rung.total.operations, 8U) << rung.job.name;
            EXPECT_EQ(rung.total.latency.count(), 8U) << rung.job.name;
            EXPECT_EQ(rung.total.blocks, 8U * rung.job.blocks_per_flush) << rung.job.name;
        }
    }
}

class BenchOnLoop : public ::testing::Test {
  protected:
    void SetUp() override {
        auto made = LoopDevice::create({.directory = directory, .size_bytes = 4 << 20});
        if (!made) GTEST_SKIP() << "needs a loop device: " << made.error().context;
        loop_.emplace(std::move(*made));
    }
    void TearDown() override {
        if (!loop_) return;
        EXPECT_TRUE(loop_->remove());
    }
    std::optional<LoopDevice> loop_;
};

TEST_F(BenchOnLoop, BlocksHoldTheirPayloadAndEachWasFlushed) {
    auto facts = find_block_device(loop_->name());
    ASSERT_TRUE(facts);
    const auto watch = DiskWatch::below(*facts);
    ASSERT_TRUE(watch);
    const auto before = watch->read();
    auto file = loop_->open(O_RDWR | O_DIRECT);
    ASSERT_TRUE(file);

    const auto result = run_blocks(
        std::move(*file), {.operations = 20,
                           .first_byte = 8192,
                           .payload = [](std::uint64_t number, std::span<std::byte> block) {
                               block[0] = static_cast<std::byte>(number + 1);
                           }});

    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_EQ(result->latency.count(), 20U);
    const auto after = watch->read();
    EXPECT_GE((*after - *before).flushes, 20U);
    auto reader = loop_->open(O_RDONLY);
    ASSERT_TRUE(reader);
    for (std::uint64_t i = 0; i < 20; ++i) {
        unsigned char byte = 0;
        ASSERT_EQ(::pread(reader->get(), &byte, 1, static_cast<off_t>(8192 + i * 4096)), 1);
        EXPECT_EQ(byte, i + 1);
    }
}

TEST(BenchJob, FioRunsOnTheFileWithoutAName) {
    auto file = prepare_file(directory, Layout::overwritten, 200);
    if (!file) GTEST_SKIP() << "needs " << describe(file.error());

    const auto figures = run_fio(*file, {.operations = 200});

    if (!figures && figures.error().code == Errc::unsupported)
        GTEST_SKIP() << "needs " << describe(figures.error());
    ASSERT_TRUE(figures) << describe(figures.error());
    EXPECT_EQ(figures->operations, 200U);
    EXPECT_GT(figures->operation_p50(), 0U);
}

TEST(BenchJob, FioSaysWhatItDislikes) {
    auto file = prepare_file(directory, Layout::append, 1); // empty, and fio may not grow it
    if (!file) GTEST_SKIP() << "needs " << describe(file.error());
    if (!fio_version()) GTEST_SKIP() << "needs fio";

    const auto figures = run_fio(*file, {});

    ASSERT_FALSE(figures);
    EXPECT_TRUE(figures.error().code == Errc::io || figures.error().code == Errc::format);
}

TEST(BenchZeroFile, OnlyTakesWhatHoldsNothing) {
    const fs::path path =
        directory / ("promtact-zero-file-" + std::to_string(::getpid()) + ".test");
    std::ofstream(path) << std::string(10'000, '\0');
    const auto zeros = open_zero_file(path);
    if (!zeros && zeros.error().code == Errc::unsupported) {
        fs::remove(path);
        GTEST_SKIP() << "needs " << describe(zeros.error());
    }
    EXPECT_TRUE(zeros);

    std::ofstream(path, std::ios::app) << "x";
    const auto data = open_zero_file(path);
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().code, Errc::refused);
    fs::remove(path);

    fs::create_symlink("/dev/null", path);
    EXPECT_EQ(open_zero_file(path).error().code, Errc::refused);
    fs::remove(path);
}

} // namespace
} // namespace promtact::harness::bench
