// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>

#include <gtest/gtest.h>

#include <promtact/uring/completion.hpp>

namespace promtact::uring {
namespace {

constexpr Expectation expected{
    .user_data = 77, .kind = OpKind::write_fixed, .length = 4096, .tag = 5};

struct Row {
    const char* name;
    Completion completion;
    Outcome outcome;
    Errc code;
};

TEST(Completion, JudgesIdentityThenSignThenLength) {
    const Row rows[] = {
        {"foreign beats every result", {78, 4096, 0}, Outcome::foreign, Errc::corrupt},
        {"foreign error", {78, -EIO, 0}, Outcome::foreign, Errc::corrupt},
        {"short", {77, 4095, 0}, Outcome::short_done, Errc::short_write},
        {"nothing moved", {77, 0, 0}, Outcome::short_done, Errc::short_write},
        {"again", {77, -EAGAIN, 0}, Outcome::again, Errc::busy},
        {"interrupted", {77, -EINTR, 0}, Outcome::again, Errc::system},
        {"input/output", {77, -EIO, 0}, Outcome::failed, Errc::io},
        {"full", {77, -ENOSPC, 0}, Outcome::failed, Errc::no_space},
        {"cancelled", {77, -ECANCELED, 0}, Outcome::cancelled, Errc::cancelled},
        {"too long", {77, 4097, 0}, Outcome::impossible, Errc::corrupt},
        {"most negative", {77, INT32_MIN, 0}, Outcome::impossible, Errc::corrupt},
        {"buffer selected", {77, 4096, 1}, Outcome::impossible, Errc::corrupt},
        {"more to follow", {77, 4096, 2}, Outcome::impossible, Errc::corrupt},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        EXPECT_EQ(judge(expected, row.completion), row.outcome);
        const auto checked = check(expected, row.completion);
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().code, row.code);
    }
}

TEST(Completion, FullTransferAndZeroSyncAreTheOnlySuccesses) {
    const Expectation sync{.user_data = 9, .kind = OpKind::sync_data};

    EXPECT_EQ(*check(expected, {77, 4096, 0}), 4096U);
    EXPECT_EQ(*check(sync, {9, 0, 0}), 0U);
    EXPECT_EQ(judge(sync, {9, 1, 0}), Outcome::impossible);
}

TEST(InFlight, EachClaimIsSettledExactlyOnce) {
    InFlight table(2);
    const std::uint64_t first = table.claim(OpKind::write, 10, 100);
    const std::uint64_t second = table.claim(OpKind::sync_all, 0, 200);
    ASSERT_NE(first, second);

    const auto settled = table.settle({first, 10, 0});
    const auto again = table.settle({first, 10, 0});

    ASSERT_TRUE(settled);
    EXPECT_EQ(settled->tag, 100U);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Errc::corrupt);
    EXPECT_EQ(table.size(), 1U);
}

TEST(InFlight, LateAnswerToAnEarlierOwnerOfTheSlotIsRecognised) {
    InFlight table(1);
    const std::uint64_t old = table.claim(OpKind::nop, 0, 1);
    ASSERT_TRUE(table.settle({old, 0, 0}));
    const std::uint64_t fresh = table.claim(OpKind::nop, 0, 2);

    EXPECT_FALSE(table.settle({old, 0, 0}));
    EXPECT_TRUE(table.settle({fresh, 0, 0}));
}

TEST(InFlight, ImpossibleAnswerLeavesTheClaimOpen) {
    InFlight table(4);
    const std::uint64_t id = table.claim(OpKind::read, 512, 3);

    EXPECT_FALSE(table.settle({id, 513, 0}));
    EXPECT_EQ(table.size(), 1U);
    EXPECT_TRUE(table.settle({id, 512, 0}));
}

TEST(InFlight, ClaimBeyondCapacityAborts) {
    InFlight table(1);
    table.claim(OpKind::nop, 0, 0);
    EXPECT_DEATH(table.claim(OpKind::nop, 0, 0), "size_ < capacity");
}

} // namespace
} // namespace promtact::uring
