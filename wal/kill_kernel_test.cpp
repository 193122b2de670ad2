// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A writer killed with SIGKILL at any moment never loses what it acknowledged. The long form is
// kill_campaign.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>

#include "temporary_directory.hpp"
#include "testing/kill_writer.hpp"
#include "testing/small_config.hpp"

namespace promtact::wal::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WalKill : public ::testing::TestWithParam<Engine> {
  protected:
    KillOptions options() {
        KillOptions options{.directory = where.path() / "log", .config = small_config(GetParam())};
        return options;
    }
    test_support::TemporaryDirectory where;
};

TEST_P(WalKill, LosesNothingThatWasAcknowledged) {
    KillOptions options = this->options();
    options.cycles = 50;
    const auto tally = run_kill_loop(options);
    if (!tally && (tally.error().code == Errc::unsupported || tally.error().code == Errc::denied))
        GTEST_SKIP() << tally.error().context;
    ASSERT_TRUE(tally) << describe(tally.error());
    EXPECT_THAT(tally->complaint, IsEmpty());
    EXPECT_EQ(tally->cycles, options.cycles);
    EXPECT_GT(tally->acknowledged, 0U);
}

TEST_P(WalKill, AWriterThatAcknowledgesAtOnceIsCaught) {
    KillOptions options = this->options();
    options.cycles = 500; // far fewer are needed
    options.acknowledges_at_once = true;
    const auto tally = run_kill_loop(options);
    if (!tally && (tally.error().code == Errc::unsupported || tally.error().code == Errc::denied))
        GTEST_SKIP() << tally.error().context;
    ASSERT_TRUE(tally) << describe(tally.error());
    EXPECT_THAT(tally->complaint, HasSubstr("now beyond the end"));
}

INSTANTIATE_TEST_SUITE_P(
    Engines, WalKill,
    ::testing::Values(Engine::inline_sync, Engine::ring_sync, Engine::pwrite, Engine::buffered),
    [](const auto& engine) { return std::string(to_string(engine.param)); });

KillSeen seen(Lsn lsn, std::uint64_t counter) {
    return {lsn, KillRecord{1, 0, counter}};
}

TEST(WalKillLedger, MissesWhatWasAcknowledged) {
    KillLedger ledger;
    ledger.hear({.kind = KillMessage::Kind::durable, .record = {1, 0, 1}, .a = 1});
    ledger.hear({.kind = KillMessage::Kind::durable, .record = {1, 0, 2}, .a = 2});
    ledger.compare(1, 2, std::vector{seen(2, 2)});
    EXPECT_THAT(ledger.complaints(), Contains("LSN 1: lost"));
}

TEST(WalKillLedger, KnowsAResurrectedRecord) {
    KillLedger ledger;
    ledger.hear({.kind = KillMessage::Kind::durable, .record = {1, 0, 1}, .a = 1});
    ledger.hear({.kind = KillMessage::Kind::durable, .record = {1, 0, 2}, .a = 2});
    ledger.hear({.kind = KillMessage::Kind::truncating, .a = 3, .b = 1});
    ledger.hear({.kind = KillMessage::Kind::truncated, .a = 3, .b = 1});
    ledger.compare(1, 3, std::vector{seen(1, 1), seen(2, 2)});
    EXPECT_THAT(ledger.complaints(), Contains("LSN 2: resurrected"));
}

TEST(WalKillLedger, HoldsTheLogToWhatItShowedOnce) {
    KillLedger ledger;
    ledger.compare(1, 2, std::vector{seen(1, 1), seen(2, 2)});
    EXPECT_THAT(ledger.complaints(), IsEmpty());
    ledger.compare(1, 1, std::vector{seen(1, 1)});
    EXPECT_THAT(ledger.complaints(), Contains("LSN 2: lost"));
}

TEST(WalKillLedger, KnowsAForeignAnOldAndARepeatedRecord) {
    KillLedger ledger;
    ledger.hear({.kind = KillMessage::Kind::durable, .record = {1, 0, 1}, .a = 1});
    ledger.compare(1, 2, std::vector{KillSeen{1, std::nullopt}, seen(2, 1)});
    EXPECT_THAT(ledger.complaints(), Contains("LSN 1: wrong content"));
    ledger.compare(1, 3, std::vector{seen(1, 1), seen(2, 1), seen(3, 1)});
    EXPECT_THAT(ledger.complaints(), Contains("LSN 3: twice or out of order"));
}

TEST(WalKillLedger, ATruncationThatWasCutOffMayHaveHappenedOrNot) {
    for (const Lsn last : {2U, 3U}) {
        KillLedger ledger;
        ledger.hear({.kind = KillMessage::Kind::durable, .record = {1, 0, 1}, .a = 1});
        ledger.hear({.kind = KillMessage::Kind::durable, .record = {1, 0, 2}, .a = 2});
        ledger.hear({.kind = KillMessage::Kind::truncating, .a = 3, .b = 1});
        std::vector<KillSeen> found{seen(1, 1)};
        if (last == 2) found.push_back(seen(2, 2));
        ledger.compare(1, last, found);
        EXPECT_THAT(ledger.complaints(), IsEmpty());
    }
}

} // namespace
} // namespace promtact::wal::testing
