// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <filesystem>
#include <set>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/campaign.hpp>

#include "bench/picture.hpp"
#include "bench/report.hpp"
#include "temporary_directory.hpp"

namespace promtact::harness::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RungResult rung(const std::string& name, std::uint64_t ops) {
    RungResult result;
    result.job.name = name;
    for (std::uint64_t i = 0; i < 100; ++i)
        result.total.latency.record(100'000 + i * 1000);
    result.total.operations = 100;
    result.total.blocks = 100;
    result.total.elapsed_ns = 1'000'000;
    result.total.traffic = DiskTraffic{.flushes = 50, .writes = 100, .write_bytes = 409'600};
    result.ops_per_round = {ops, ops + 10, ops - 10};
    return result;
}

std::vector<SectionResult> results() {
    SectionResult section;
    section.section = {.name = "method", .title = "How <durable>", .question = "Which?"};
    section.rungs = {rung("slow", 1000), rung("fast", 2000), {}};
    section.rungs[2].job.name = "absent";
    section.rungs[2].failure = "RWF_DSYNC & more: not supported here";
    return {section};
}

Circumstances circumstances() {
    Circumstances made;
    made.directory = ".";
    made.run.started_at = "2026-11-29T20:48:20Z";
    made.run.commit = "unknown";
    made.run.command = {"promtact", "bench", "storage"};
    made.run.seed = 0x4A2C;
    return made;
}

TEST(BenchReport, TheTableComparesWithTheFirstRung) {
    const std::string text = ladder_text(results());

    EXPECT_THAT(text, HasSubstr("How <durable>. Which?"));
    EXPECT_THAT(text, HasSubstr("1,990-2,010"));
    EXPECT_THAT(text, HasSubstr("2.000"));
    EXPECT_THAT(text, HasSubstr("0.500")) << "flushes per operation";
    EXPECT_THAT(text, HasSubstr("absent could not run: RWF_DSYNC & more"));
}

TEST(BenchReport, TheLadderBecomesARecordOfTheOneSchema) {
    std::vector<gates::GateRecord> records{ladder_record(results(), circumstances())};
    ASSERT_TRUE(publish(records, "", "", ".", 0));

    const auto json = gates::to_json(records.front());

    ASSERT_TRUE(json) << json.error().context;
    const auto back = gates::gate_record_from_json(*json, "ladder");
    ASSERT_TRUE(back) << back.error().context;
    EXPECT_EQ(back->kind, gates::RecordKind::benchmark);
    EXPECT_NE(gates::find_measurement(back->measurements, "fast_latency"), nullptr);
    EXPECT_EQ(back->samples.size(), 2U);
}

TEST(BenchReport, NamesOfTheRealLadderAreUnique) {
    std::set<std::string> names;
    std::size_t count = 0;
    for (const Section& section : storage_ladder()) {
        for (const Job& job : section.jobs) {
            names.insert(job.name);
            ++count;
        }
    }
    EXPECT_EQ(names.size(), count);
    EXPECT_GE(count, 30U);
}

PeerComparison comparison(PeerVerdict verdict) {
    PeerComparison made;
    for (std::uint64_t i = 0; i < 10; ++i) {
        made.ours.push_back({.operations_per_second = 970 + i, .p50_ns = 100});
        made.theirs.push_back({.operations_per_second = 1000, .p50_ns = 100});
    }
    made.operations = {.low_ppm = 960'000, .point_ppm = 974'000, .high_ppm = 990'000};
    made.p50 = {.low_ppm = 990'000, .point_ppm = 1'000'000, .high_ppm = 1'010'000};
    made.verdict = verdict;
    made.rounds = 1;
    return made;
}

TEST(BenchReport, EveryVerdictOfAComparisonIsAValidRecord) {
    for (const PeerVerdict verdict :
         {PeerVerdict::pass, PeerVerdict::inconclusive, PeerVerdict::fail}) {
        std::vector<gates::GateRecord> records{
            peer_record(comparison(verdict), {}, SyncKind::fsync, "fio-3.33", circumstances())};
        ASSERT_TRUE(publish(records, "", "", ".", 0));
        const auto json = gates::to_json(records.front());
        ASSERT_TRUE(json) << json.error().context;
        EXPECT_THAT(*json, HasSubstr("fio-3.33"));
        EXPECT_EQ(records.front().verdict == gates::Verdict::pass, verdict == PeerVerdict::pass);
    }
    EXPECT_THAT(round_text(comparison(PeerVerdict::pass)), HasSubstr("0.974 [0.960, 0.990]"));
}

TEST(BenchReport, ACampaignOfBenchmarksCanBeReadBack) {
    const test_support::TemporaryDirectory directory;
    std::vector<gates::GateRecord> records{ladder_record(results(), circumstances())};

    const auto campaign = publish(records, directory.path(), "test-host", ".", 1'795'994'507);

    ASSERT_TRUE(campaign) << campaign.error().context;
    const auto loaded = gates::load_campaign(*campaign);
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().context);
}

TEST(BenchPicture, IsOneSelfContainedPage) {
    const std::string page = ladder_page(results(), "Measured <now> & here");

    EXPECT_THAT(page, HasSubstr("<svg"));
    EXPECT_THAT(page, HasSubstr("How &lt;durable&gt;"));
    EXPECT_THAT(page, HasSubstr("Measured &lt;now&gt; &amp; here"));
    EXPECT_THAT(page, HasSubstr("absent could not run: RWF_DSYNC &amp; more"));
    for (const char* foreign : {"https:", "<script", "src=", "href=", "@import", "url("})
        EXPECT_THAT(page, Not(HasSubstr(foreign)));
    EXPECT_EQ(page, ladder_page(results(), "Measured <now> & here")) << "the same bytes again";
}

TEST(BenchPicture, ASectionWithoutAnyRungIsStillAPage) {
    auto none = results();
    for (RungResult& rung : none.front().rungs) {
        rung.ops_per_round.clear();
        rung.failure = "no";
    }
    EXPECT_THAT(ladder_page(none, ""), HasSubstr("</html>"));
    EXPECT_THAT(ladder_text(none), HasSubstr("could not run: no"));
}

} // namespace
} // namespace promtact::harness::bench
