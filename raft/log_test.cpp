// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/choice.hpp>
#include <promtact/raft/log.hpp>

#include "network.hpp"

namespace promtact::raft {
namespace {

using testing::commands_of;

TEST(RaftLog, KnowsTermsFromTheBaseToTheLast) {
    Log log(5, 2);
    log.append(commands_of(6, {2, 2, 3, 3, 3, 7}));
    EXPECT_EQ(log.term(4), std::nullopt);
    EXPECT_EQ(log.term(5), Term{2});
    EXPECT_EQ(log.term(8), Term{3});
    EXPECT_EQ(log.term(11), Term{7});
    EXPECT_EQ(log.term(12), std::nullopt);
    EXPECT_EQ(log.last_of_term(11, 6), 10U);
    EXPECT_EQ(log.last_of_term(11, 2), 7U);
    EXPECT_EQ(log.last_of_term(9, 9), 9U);
    EXPECT_EQ(log.last_of_term(99, 9), 11U);
    EXPECT_EQ(log.last_of_term(11, 1), 5U); // the base, whose fit is not known
}

/// Against a plain list, in whatever pieces it comes.
TEST(RaftLog, IsTheListThatItStandsForInWhateverPiecesItCame) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::uint64_t draws = 0;
        const auto draw = [&](std::uint32_t below) {
            return promtact_bounded(
                promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, 0, draws++), below);
        };
        Log log;
        std::vector<std::pair<Term, std::size_t>> list; // term and bytes, by index - 1
        for (int move = 0; move < 60; ++move) {
            const Term term = log.last_term() + draw(2) + (list.empty() ? 1U : 0U);
            const std::uint32_t what = draw(10);
            if (what < 4) {
                const std::string text(draw(200), 'x');
                EXPECT_EQ(log.append(term, EntryKind::command, bytes_of(text)), list.size() + 1);
                list.emplace_back(term, text.size());
            } else if (what < 7) {
                const auto more = commands_of(log.last() + 1, {term, term, term});
                log.append(more);
                for (const Entry& entry : more)
                    list.emplace_back(term, entry.data.size());
            } else if (what < 8 && log.last() > log.base()) {
                const Index keep =
                    log.base() + draw(static_cast<std::uint32_t>(log.last() - log.base()));
                log.truncate(keep);
                list.resize(keep);
            } else if (log.last() > log.base()) {
                const Index first =
                    log.base() + 1 + draw(static_cast<std::uint32_t>(log.last() - log.base()));
                const std::uint32_t entries_max = 1 + draw(9);
                const std::uint64_t bytes_max = draw(600);
                Index last = first;
                std::uint64_t sum = list[first - 1].second;
                while (last < log.last() && last - first + 1 < entries_max &&
                       sum + list[last].second <= bytes_max)
                    sum += list[last++].second;
                const Entries read = log.read(first, entries_max, bytes_max);
                ASSERT_EQ(read.first(), first);
                ASSERT_EQ(read.last(), last) << "seed " << seed;
                ASSERT_EQ(read.bytes(), sum);
                ASSERT_EQ(log.bytes(first, last), sum);
            }
            ASSERT_EQ(log.last(), list.size());
            for (Index index = log.base() + 1; index <= log.last(); ++index) {
                ASSERT_EQ(log.at(index).index, index);
                ASSERT_EQ(log.term(index), list[index - 1].first) << "seed " << seed;
                ASSERT_EQ(log.at(index).data.size(), list[index - 1].second);
            }
        }
    }
}

TEST(RaftLog, ReadingKeepsWithinItsLimitAcrossPieces) {
    Log log;
    log.append(commands_of(1, std::vector<Term>(100, 1)));
    log.append(2, EntryKind::noop, {});
    log.append(commands_of(102, std::vector<Term>(100, 2)));
    EXPECT_EQ(log.read(1, 10, 1'000'000).last(), 10U);
    EXPECT_EQ(log.read(95, 10, 1'000'000).last(), 104U);
    EXPECT_EQ(log.read(95, 10, 1'000'000).size(), 10U);
    EXPECT_EQ(log.read(95, 10, 0).size(), 1U);
    const std::size_t pieces = log.pieces();
    EXPECT_EQ(log.read(95, 10, 1'000'000).size(), 10U); // in one piece by now
    EXPECT_EQ(log.pieces(), pieces);
}

TEST(RaftLog, ACompletionCountsForWhatIsStillThere) {
    Log log;
    std::vector<Entries> out;
    log.append(commands_of(1, {1, 1, 1, 1}));
    EXPECT_EQ(log.batch_of(4, 9), 9U);
    log.take_unsaved(1, out);
    EXPECT_EQ(log.batch_of(4, 9), 1U);
    log.truncate(1);
    log.append(commands_of(2, {2, 2}));
    EXPECT_EQ(log.batch_of(1, 9), 1U);
    EXPECT_EQ(log.batch_of(2, 9), 9U);
    log.take_unsaved(2, out);
    log.saved(1);
    EXPECT_EQ(log.stable(), 1U);
    log.saved(2);
    EXPECT_EQ(log.stable(), 3U);
    EXPECT_EQ(log.batch_of(3, 9), 0U);
}

TEST(RaftLog, CompactionAndResetMoveTheBase) {
    Log log;
    std::vector<Entries> out;
    log.append(commands_of(1, {1, 1, 2, 2, 3}));
    log.take_unsaved(1, out);
    log.saved(1);
    log.compact(3);
    EXPECT_EQ(log.base(), 3U);
    EXPECT_EQ(log.base_term(), 2U);
    EXPECT_EQ(log.at(4).term, 2U);
    log.compact(5);
    EXPECT_EQ(log.last(), 5U);
    EXPECT_EQ(log.last_term(), 3U);
    log.append(commands_of(6, {3, 3}));
    log.take_unsaved(2, out);
    log.reset(20, 9, 5); // while a batch is under way
    EXPECT_EQ(log.last(), 20U);
    EXPECT_EQ(log.batch_of(20, 3), 3U);
    log.saved(2);
    EXPECT_EQ(log.stable(), 5U);
    log.take_unsaved(3, out);
    log.saved(3);
    EXPECT_EQ(log.stable(), 20U);
}

/// Two copies write on after the same entry: neither sees what the other wrote.
TEST(RaftLog, CopiesGoOnByThemselves) {
    Log log;
    log.append(1, EntryKind::command, bytes_of("same"));
    Log copy = log;
    log.append(1, EntryKind::command, bytes_of("mine"));
    copy.append(1, EntryKind::command, bytes_of("yours"));
    EXPECT_EQ(text_of(log.at(2).data), "mine");
    EXPECT_EQ(text_of(copy.at(2).data), "yours");
    copy.truncate(1);
    copy.append(1, EntryKind::command, bytes_of("again"));
    EXPECT_EQ(text_of(log.at(2).data), "mine");
    EXPECT_EQ(text_of(copy.at(2).data), "again");
}

TEST(RaftWindow, IsBoundedInMessagesAndBytesAndComesBackToZero) {
    Window window(3, 100);
    window.add(1, 10);
    window.add(5, 10);
    EXPECT_FALSE(window.full());
    window.free_through(1);
    window.add(6, 10);
    window.add(9, 10);
    EXPECT_TRUE(window.full());
    window.free_through(7);
    EXPECT_EQ(window.messages(), 1U);
    EXPECT_EQ(window.bytes(), 10U);
    window.add(10, 500); // a large one goes through, alone
    EXPECT_TRUE(window.full());
    window.free_through(99);
    EXPECT_TRUE(window.empty());
    EXPECT_EQ(window.bytes(), 0U);
}

} // namespace
} // namespace promtact::raft
