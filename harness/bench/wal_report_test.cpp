// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/record.hpp>

#include "bench/wal_comparison.hpp"

namespace promtact::harness::bench {
namespace {

using ::testing::HasSubstr;

WalComparison comparison_with(PeerVerdict verdict) {
    WalComparison comparison;
    for (const WalJob& job : wal_jobs({.only = AppendStyle::callback})) {
        WalRow row{.job = job, .limits = limits_of(job)};
        row.comparison.verdict = PeerVerdict::pass;
        row.comparison.operations = {.low_ppm = 970'000, .point_ppm = 981'000, .high_ppm = 990'000};
        row.comparison.p50 = row.comparison.operations;
        row.comparison.ours = {{100, 9000}, {110, 9000}, {90, 9000}};
        row.comparison.theirs = {{200, 8000}, {210, 8000}, {190, 8000}};
        row.last = {.records = 64, .elapsed_ns = 1, .syncs = 2};
        row.last.latency.record(9000);
        comparison.rows.push_back(row);
    }
    comparison.rows.back().comparison.verdict = verdict;
    return comparison;
}

gates::GateRecord record_of(PeerVerdict verdict) {
    Circumstances circumstances;
    circumstances.run.started_at = "2026-11-29T20:48:20Z";
    circumstances.run.commit = std::string(40, 'c');
    circumstances.run.command = {"promtact", "wal", "bench"};
    circumstances.run.build = {"release", "g++ 12.2.0", "-O2", true};
    return wal_record(comparison_with(verdict), "3.33", circumstances);
}

TEST(WalReport, PassesOnlyWhenEveryRowDoes) {
    EXPECT_EQ(record_of(PeerVerdict::pass).verdict, gates::Verdict::pass);
    const gates::GateRecord open = record_of(PeerVerdict::inconclusive);
    EXPECT_EQ(open.verdict, gates::Verdict::error);
    EXPECT_THAT(open.reason, HasSubstr("callback_64_x_16384 0.981 of 0.750"));
    EXPECT_FALSE(open.remedy.empty());
    const gates::GateRecord failed = record_of(PeerVerdict::fail);
    EXPECT_EQ(failed.verdict, gates::Verdict::fail);
    EXPECT_THAT(failed.reason, HasSubstr("callback_64_x_16384"));
}

TEST(WalReport, IsARecordOfTheSchema) {
    gates::GateRecord record = record_of(PeerVerdict::pass);
    record.host = "host.json#sha256:" + std::string(64, '0');
    const auto text = gates::to_json(record);
    ASSERT_TRUE(text) << text.error().context;
    EXPECT_THAT(*text, HasSubstr("callback_8_x_100_ratio_low"));
    EXPECT_THAT(*text, HasSubstr("\"wal\""));
}

TEST(WalReport, RowsWithoutALimitAreShownNotJudged) {
    WalComparison comparison;
    const WalJob job{.style = AppendStyle::blocking, .writers = 1};
    WalRow row{.job = job, .limits = limits_of(job)};
    row.comparison.verdict = PeerVerdict::fail;
    row.comparison.ours = row.comparison.theirs = {{1, 1}};
    comparison.rows.push_back(row);
    EXPECT_THAT(wal_text(comparison), HasSubstr("shown"));
    EXPECT_EQ(wal_record(comparison, "3.33", {}).verdict, gates::Verdict::pass);
}

TEST(WalReport, EveryStyleHasItsRows) {
    EXPECT_EQ(wal_jobs({}).size(), 27U);
    for (const WalJob& job : wal_jobs({.scale = 3})) {
        EXPECT_GE(job.records, job.writers);
        EXPECT_EQ(job.records % job.writers, 0U) << "each thread appends the same";
    }
}

} // namespace
} // namespace promtact::harness::bench
