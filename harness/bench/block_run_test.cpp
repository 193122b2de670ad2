// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include "bench/block_run.hpp"

namespace promtact::harness::bench {
namespace {

TEST(BlockRun, DurationsAreExactInTheirLargestUnit) {
    EXPECT_EQ(exact_duration(0), "0ns");
    EXPECT_EQ(exact_duration(999), "999ns");
    EXPECT_EQ(exact_duration(1'000), "1us");
    EXPECT_EQ(exact_duration(533'815), "533.815us");
    EXPECT_EQ(exact_duration(1'382'461), "1.382461ms");
    EXPECT_EQ(exact_duration(13'669'000), "13.669ms");
    EXPECT_EQ(exact_duration(2'500'000'000), "2.5s");
    EXPECT_EQ(exact_duration(1'000'000'001), "1.000000001s");
}

TEST(BlockRun, TheLineHasTheFieldsOfTheReference) {
    BlockRunResult result;
    for (std::uint64_t ns : {100'000U, 200'000U, 1'000'000U})
        result.latency.record(ns);
    result.operations = 3;
    result.total_ns = 1'500'000;

    const std::string line = figures_line(result);

    EXPECT_TRUE(line.starts_with("operations=3 block=4096 total=1.5ms ops_per_sec=2000 p50="))
        << line;
    EXPECT_NE(line.find(" p99=1ms max=1ms"), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(BlockRun, CountsAreReadAsTheReferenceReadsThem) {
    EXPECT_EQ(*parse_operations("1000"), 1000U);
    EXPECT_EQ(*parse_operations("0x10"), 16U);
    EXPECT_EQ(*parse_operations("-5"), 0U) << "a number, though out of range";
    for (const char* text : {"", "x", "1.5", "-", "1e3", "--1"})
        EXPECT_FALSE(parse_operations(text)) << text;
}

} // namespace
} // namespace promtact::harness::bench
