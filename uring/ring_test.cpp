// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Every way a ring may be failed by its kernel, scripted.
#include <array>
#include <cerrno>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/uring/ring.hpp>
#include <promtact/uring/testing/fake_ring.hpp>

namespace promtact::uring {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::fails;
using testing::FakeKernel;

class RingErrors : public ::testing::Test {
  protected:
    Ring make() {
        return Ring::over(
            testing::make_fake_ring(kernel), {.entries = 8, .drain_limit = milliseconds{1}});
    }
    static Operation nop(std::uint64_t tag) { return {.kind = OpKind::nop, .tag = tag}; }
    Operation write(std::uint64_t tag) {
        return {.kind = OpKind::write, .file = 3, .data = bytes, .tag = tag};
    }

    FakeKernel kernel{};
    std::array<std::byte, 512> bytes{};
    std::array<Finished, 8> out{};
};

TEST_F(RingErrors, SubmitErrorLeavesNothingPublishedForTheNextCall) {
    kernel.enter_results = {-EIO};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));

    const auto submitted = ring.submit();

    ASSERT_FALSE(submitted);
    EXPECT_EQ(submitted.error().code, Errc::io);
    EXPECT_EQ(ring.in_flight(), 0U);
    ASSERT_TRUE(ring.prepare(nop(2)));
    ASSERT_TRUE(ring.submit());
    ASSERT_EQ(kernel.seen.size(), 1U);
    EXPECT_EQ(kernel.seen[0].operation.tag, 2U);
}

TEST_F(RingErrors, PartlyConsumedSubmissionKeepsOnlyWhatTheKernelTook) {
    kernel.enter_results = {1, -EIO};
    Ring ring = make();
    for (std::uint64_t tag = 1; tag <= 3; ++tag)
        ASSERT_TRUE(ring.prepare(nop(tag)));

    EXPECT_FALSE(ring.submit());

    EXPECT_EQ(ring.in_flight(), 1U);
    const auto arrived = ring.wait(out, 1, seconds{1});
    ASSERT_TRUE(arrived);
    EXPECT_EQ(*arrived, 1U);
    EXPECT_EQ(out[0].tag, 1U);
    EXPECT_EQ(kernel.seen.size(), 1U);
}

TEST_F(RingErrors, AnswersReachTheCallerBeforeTheErrorOfTheSameWait) {
    kernel.enter_results = {1, -EIO};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));
    ASSERT_TRUE(ring.prepare(nop(2)));

    const auto arrived = ring.wait(out, 2, seconds{1});
    const auto then = ring.wait(out, 0, seconds{1});

    ASSERT_TRUE(arrived);
    EXPECT_EQ(*arrived, 1U);
    ASSERT_FALSE(then);
    EXPECT_EQ(then.error().code, Errc::io);
    EXPECT_TRUE(ring.prepare(nop(3))); // reported once; the ring itself is sound
}

TEST_F(RingErrors, WaitErrorKeepsTheOperationInFlight) {
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(write(1)));
    kernel.replies = {testing::lost()};
    ASSERT_TRUE(ring.submit());
    kernel.enter_results = {-EIO};

    EXPECT_FALSE(ring.wait(out, 1, seconds{1}));

    EXPECT_EQ(ring.in_flight(), 1U); // its buffer is still the kernel's
    EXPECT_FALSE(ring.drain(milliseconds{1}));
}

TEST_F(RingErrors, LostCompletionIsATimeoutAndStaysInFlight) {
    kernel.replies = {testing::lost()};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(write(1)));

    const auto arrived = ring.wait(out, 1, milliseconds{1});

    ASSERT_FALSE(arrived);
    EXPECT_EQ(arrived.error().code, Errc::timeout);
    EXPECT_EQ(ring.in_flight(), 1U);
}

TEST_F(RingErrors, UnknownUserDataBreaksTheRingInsteadOfShiftingLaterAnswers) {
    kernel.replies = {testing::unknown()};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));

    const auto arrived = ring.wait(out, 1, seconds{1});
    const auto later = ring.prepare(nop(2));

    ASSERT_FALSE(arrived);
    EXPECT_EQ(arrived.error().code, Errc::corrupt);
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().code, Errc::poisoned);
    EXPECT_NE(describe(later.error()).find("answers no operation"), std::string::npos);
    EXPECT_EQ(ring.in_flight(), 0U); // the true answer was still counted
}

TEST_F(RingErrors, DuplicateUserDataBreaksTheRingAfterDeliveringTheFirstAnswer) {
    kernel.replies = {testing::twice()};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));

    const auto arrived = ring.wait(out, 1, seconds{1});

    ASSERT_TRUE(arrived);
    EXPECT_EQ(*arrived, 1U);
    EXPECT_EQ(ring.prepare(nop(2)).error().code, Errc::poisoned);
}

TEST_F(RingErrors, ReorderedAnswersKeepTheirTags) {
    kernel.replies = {testing::late(), {}};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));
    ASSERT_TRUE(ring.prepare(write(2)));

    ASSERT_EQ(*ring.wait(out, 2, seconds{1}), 2U);

    EXPECT_EQ(out[0].tag, 2U);
    EXPECT_EQ(out[0].kind, OpKind::write);
    EXPECT_EQ(out[1].tag, 1U);
    EXPECT_EQ(out[1].kind, OpKind::nop);
}

TEST_F(RingErrors, InterruptedEnterIsRepeated) {
    kernel.enter_results = {-EINTR, -EINTR, -EINTR};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));

    EXPECT_TRUE(ring.wait(out, 1, seconds{1}));
    EXPECT_EQ(kernel.enters, 4U);
}

TEST_F(RingErrors, InterruptionForEverEndsWithAnError) {
    kernel.enter_results.assign(100'000, -EINTR);
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));

    const auto submitted = ring.submit();

    ASSERT_FALSE(submitted);
    EXPECT_EQ(submitted.error().sys_errno, EINTR);
    EXPECT_LE(kernel.enters, 1000U);
}

TEST_F(RingErrors, PersistentEagainDoesNotSpin) {
    kernel.enter_results.assign(100'000, -EAGAIN);
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));

    const auto submitted = ring.submit();

    ASSERT_FALSE(submitted);
    EXPECT_EQ(submitted.error().code, Errc::busy);
    EXPECT_LE(kernel.enters, 8U);
    EXPECT_EQ(ring.in_flight(), 0U);
}

TEST_F(RingErrors, PassingEagainIsOvercome) {
    kernel.enter_results = {-EAGAIN, -EAGAIN};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));

    EXPECT_TRUE(ring.wait(out, 1, seconds{1}));
}

TEST_F(RingErrors, KernelThatTakesNothingEndsWithBusy) {
    kernel.enter_results.assign(1000, -EBUSY);
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));

    const auto arrived = ring.wait(out, 1, seconds{1});

    ASSERT_FALSE(arrived);
    EXPECT_EQ(arrived.error().code, Errc::busy);
    EXPECT_EQ(ring.in_flight(), 0U);
}

TEST_F(RingErrors, CompletionQueueOverflowIsAnError) {
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));
    kernel.overflowed = 1;
    kernel.replies = {testing::lost()};

    const auto arrived = ring.wait(out, 1, seconds{1});

    ASSERT_FALSE(arrived);
    EXPECT_NE(arrived.error().context.find("1 completions overflowed"), std::string::npos);
    EXPECT_EQ(ring.submit().error().code, Errc::poisoned);
}

TEST_F(RingErrors, OverflowReportedByEnterIsAnError) {
    kernel.enter_results = {-EBADR};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));

    EXPECT_FALSE(ring.wait(out, 1, seconds{1}));
    EXPECT_EQ(ring.prepare(nop(2)).error().code, Errc::poisoned);
}

TEST_F(RingErrors, DroppedSubmissionIsAnError) {
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(nop(1)));
    kernel.dropped = 2;

    const auto arrived = ring.wait(out, 1, seconds{1});

    ASSERT_TRUE(arrived); // what was answered was answered
    const auto later = ring.peek(out);
    ASSERT_FALSE(later);
    EXPECT_NE(later.error().context.find("2 submissions dropped"), std::string::npos);
}

TEST_F(RingErrors, SignAndLengthArriveUntouchedForTheCallerToCheck) {
    kernel.replies = {fails(ENOSPC), testing::moves(100), fails(ECANCELED)};
    Ring ring = make();
    for (std::uint64_t tag = 0; tag < 3; ++tag)
        ASSERT_TRUE(ring.prepare(write(tag)));

    ASSERT_EQ(*ring.wait(out, 3, seconds{1}), 3U);

    EXPECT_EQ(out[0].check().error().code, Errc::no_space);
    EXPECT_EQ(out[1].check().error().code, Errc::short_write);
    EXPECT_EQ(out[2].check().error().code, Errc::cancelled);
}

TEST_F(RingErrors, InFlightIsBoundedByTheCompletionQueue) {
    kernel.submission_capacity = 8;
    kernel.completion_capacity = 4;
    Ring ring = make();
    for (std::uint64_t tag = 0; tag < 4; ++tag)
        ASSERT_TRUE(ring.prepare(nop(tag)));

    const auto fifth = ring.prepare(nop(5));

    ASSERT_FALSE(fifth);
    EXPECT_EQ(fifth.error().code, Errc::busy);
    EXPECT_EQ(ring.room(), 0U);
}

TEST_F(RingErrors, DestructorTakesTheAnswersTheKernelStillOwes) {
    std::uint64_t enters_before = 0;
    {
        kernel.replies = {testing::late()};
        Ring ring = make();
        ASSERT_TRUE(ring.prepare(write(1)));
        ASSERT_TRUE(ring.submit());
        enters_before = kernel.enters;
        EXPECT_EQ(ring.in_flight(), 1U);
    }
    EXPECT_GT(kernel.enters, enters_before);
}

TEST_F(RingErrors, DrainNamesWhatWasNeverAnswered) {
    kernel.replies = {testing::lost(), {}};
    Ring ring = make();
    ASSERT_TRUE(ring.prepare(write(1)));
    ASSERT_TRUE(ring.prepare(write(2)));
    ASSERT_TRUE(ring.submit());

    const auto drained = ring.drain(milliseconds{1});

    ASSERT_FALSE(drained);
    EXPECT_EQ(drained.error().code, Errc::timeout);
    EXPECT_EQ(ring.in_flight(), 1U);
}

TEST_F(RingErrors, AnyScriptOfRepliesAnswersEachOperationAtMostOnce) {
    for (std::uint32_t script = 0; script < 7U * 7U * 7U; ++script) {
        kernel = FakeKernel{};
        const testing::Reply choices[] = {
            {},
            fails(EIO),
            testing::moves(7),
            testing::lost(),
            testing::twice(),
            testing::unknown(),
            testing::late()};
        for (const std::uint32_t pick : {script % 7, script / 7 % 7, script / 49})
            kernel.replies.push_back(choices[pick]);
        Ring ring = make();
        for (std::uint64_t tag = 0; tag < 3; ++tag)
            ASSERT_TRUE(ring.prepare(write(tag)));
        std::array<int, 3> answered{};
        for (int round = 0; round < 6 && ring.in_flight() > 0; ++round) {
            const auto arrived = ring.wait(out, 1, milliseconds{1});
            if (!arrived) continue;
            for (std::size_t i = 0; i < *arrived; ++i)
                ++answered[out[i].tag];
        }
        for (const int times : answered)
            EXPECT_LE(times, 1) << "script " << script;
    }
}

} // namespace
} // namespace promtact::uring
