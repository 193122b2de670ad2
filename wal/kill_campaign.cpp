// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The long form of the kill test: PROMTACT_KILLS kills (default 10000), in loops of 250 on fresh
// directories, over every engine. With PROMTACT_KILL_PROGRESS, a file, an interrupted campaign goes
// on after the last loop that went well.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/numbers.hpp>

#include "temporary_directory.hpp"
#include "testing/kill_writer.hpp"
#include "testing/small_config.hpp"

namespace promtact::wal::testing {
namespace {

constexpr std::uint64_t loop_cycles = 250;

std::uint64_t loops_done(const char* progress) {
    std::ifstream file(progress);
    std::string word;
    return file >> word ? parse_u64(word).value_or(0) : 0;
}

std::string line(std::uint64_t loop, Engine engine, const KillTally& tally) {
    const auto n = [](std::uint64_t number) { return std::to_string(number); };
    return "loop " + n(loop) + " " + std::string(to_string(engine)) + ": kills " + n(tally.cycles) +
           ", before the log was open " + n(tally.before_open) + ", compared " + n(tally.compared) +
           ", acknowledged " + n(tally.acknowledged) + ", found unacknowledged " +
           n(tally.unacknowledged) + ", truncations " + n(tally.truncations) +
           ", released through " + n(tally.released) + "\n";
}

TEST(WalKillCampaign, TenThousandKillsLoseNothing) {
    const char* text = std::getenv("PROMTACT_KILLS");
    const std::uint64_t kills = text == nullptr ? 10'000 : parse_u64(text).value_or(10'000);
    const char* progress = std::getenv("PROMTACT_KILL_PROGRESS");
    constexpr Engine engines[] = {
        Engine::inline_sync, Engine::ring_sync, Engine::pwrite, Engine::buffered};

    std::uint64_t loop = progress == nullptr ? 0 : loops_done(progress);
    for (; loop * loop_cycles < kills; ++loop) {
        const test_support::TemporaryDirectory where;
        const Engine engine = engines[loop % std::size(engines)];
        const auto tally = run_kill_loop(
            {.directory = where.path() / "log",
             .config = small_config(engine),
             .cycles = loop_cycles,
             .seed = loop + 1});
        ASSERT_TRUE(tally) << describe(tally.error());
        std::fputs(line(loop + 1, engine, *tally).c_str(), stdout);
        std::fflush(stdout);
        ASSERT_EQ(tally->complaint, "");
        if (progress != nullptr) std::ofstream(progress) << loop + 1 << '\n';
    }
    // A finished campaign begins anew next time.
    if (progress != nullptr) std::ofstream(progress) << 0 << '\n';
    std::printf("measure: kills %s count\n", std::to_string(loop * loop_cycles).c_str());
}

} // namespace
} // namespace promtact::wal::testing
