// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The ring on the kernel that runs the test.
#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/ring.hpp>

#include "kernel_constants_internal.hpp"
#include "kernel_ring_internal.hpp"

namespace promtact::uring {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class KernelRingTest : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto ring = Ring::open({});
        if (!ring) GTEST_SKIP() << "needs io_uring: " << describe(ring.error());
    }
    static bool offers(RingMode mode) { return Ring::open({.only = mode}).has_value(); }
    std::array<Finished, 128> out{};
};

constexpr RingMode all_modes[] = {RingMode::deferred, RingMode::cooperative, RingMode::plain};

TEST_F(KernelRingTest, EveryModeOfferedAnswersInOrderOfItsTags) {
    for (const RingMode mode : all_modes) {
        SCOPED_TRACE(to_string(mode));
        for (const bool registered : {true, false}) {
            auto ring = Ring::open({.entries = 8, .only = mode, .register_ring = registered});
            if (!ring) continue;
            EXPECT_EQ(ring->setup().mode, mode);
            EXPECT_EQ(ring->setup().ring_registered, registered);
            for (std::uint64_t tag = 0; tag < 8; ++tag)
                ASSERT_TRUE(ring->prepare({.kind = OpKind::nop, .tag = tag}));
            ASSERT_EQ(*ring->wait(out, 8, seconds{5}), 8U);
            for (std::uint64_t tag = 0; tag < 8; ++tag) {
                EXPECT_EQ(out[tag].tag, tag);
                EXPECT_TRUE(out[tag].check());
            }
        }
    }
}

TEST_F(KernelRingTest, AutomaticSetupRecordsWhatWasRefused) {
    const auto ring = Ring::open({.entries = 4});
    ASSERT_TRUE(ring);
    const std::size_t better = ring->setup().mode == RingMode::deferred      ? 0
                               : ring->setup().mode == RingMode::cooperative ? 1
                                                                             : 2;
    EXPECT_EQ(ring->setup().refused.size(), better);
    EXPECT_NE(ring->setup().features & feat_ext_arg, 0U);
}

TEST_F(KernelRingTest, EntriesOutsideTheKernelsRangeAreRefused) {
    for (const std::uint32_t entries : {0U, 32769U, ~0U}) {
        const auto ring = Ring::open({.entries = entries});
        ASSERT_FALSE(ring);
        EXPECT_EQ(ring.error().code, Errc::invalid_argument);
    }
    EXPECT_TRUE(Ring::open({.entries = 1}));
    EXPECT_TRUE(Ring::open({.entries = 32768}));
}

TEST_F(KernelRingTest, WaitEndsAtItsLimit) {
    auto ring = Ring::open({.entries = 4});
    ASSERT_TRUE(ring);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    const UniqueFd writer(ends[1]);
    std::array<std::byte, 8> data{};
    ASSERT_TRUE(ring->prepare({.kind = OpKind::read, .file = reader.get(), .data = data}));
    const auto start = std::chrono::steady_clock::now();

    const auto arrived = ring->wait(out, 1, milliseconds{20});

    ASSERT_FALSE(arrived);
    EXPECT_EQ(arrived.error().code, Errc::timeout);
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds{20});
    EXPECT_EQ(ring->in_flight(), 1U);
    ASSERT_EQ(::write(writer.get(), "promtact", 8), 8);
    ASSERT_TRUE(ring->drain(seconds{5})); // the buffer is ours again only now
    EXPECT_EQ(static_cast<char>(data[0]), 'p');
}

TEST_F(KernelRingTest, SignalsDoNotEndAWaitEarly) {
    auto ring = Ring::open({.entries = 4});
    ASSERT_TRUE(ring);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    const UniqueFd writer(ends[1]);
    std::array<std::byte, 1> data{};
    struct sigaction ignore {};
    ignore.sa_handler = [](int) {};
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGALRM, &ignore, &before), 0);
    const itimerval every{.it_interval = {0, 5000}, .it_value = {0, 5000}};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &every, nullptr), 0);
    ASSERT_TRUE(ring->prepare({.kind = OpKind::read, .file = reader.get(), .data = data}));

    const auto arrived = ring->wait(out, 1, milliseconds{60});

    const itimerval never{};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &never, nullptr), 0);
    ASSERT_EQ(::sigaction(SIGALRM, &before, nullptr), 0);
    ASSERT_FALSE(arrived);
    EXPECT_EQ(arrived.error().code, Errc::timeout);
    EXPECT_GT(ring->system_calls(), 2U); // it was interrupted and went on
    ASSERT_EQ(::write(writer.get(), "x", 1), 1);
    ASSERT_TRUE(ring->drain(seconds{5}));
}

// A ring with a single issuer belongs to the thread that opened it: the kernel answers EEXIST.
TEST_F(KernelRingTest, AnotherThreadIsRefusedByASingleIssuerRing) {
    if (!offers(RingMode::deferred)) GTEST_SKIP() << "needs IORING_SETUP_SINGLE_ISSUER";
    for (const bool registered : {true, false}) {
        auto ring =
            Ring::open({.entries = 4, .only = RingMode::deferred, .register_ring = registered});
        ASSERT_TRUE(ring);
        ASSERT_TRUE(ring->prepare({.kind = OpKind::nop, .tag = 1}));
        Result<void> elsewhere;
        std::thread([&] { elsewhere = ring->submit(); }).join();

        ASSERT_FALSE(elsewhere);
        EXPECT_EQ(elsewhere.error().code, Errc::refused);
        EXPECT_EQ(elsewhere.error().sys_errno, EEXIST);
        EXPECT_NE(elsewhere.error().context.find("single issuer"), std::string::npos);
        ASSERT_TRUE(ring->prepare({.kind = OpKind::nop, .tag = 2}));
        ASSERT_EQ(
            *ring->wait(out, 1, seconds{5}), 1U); // at home it works, without the withdrawn one
        EXPECT_EQ(out[0].tag, 2U);
    }
}

TEST_F(KernelRingTest, PlainRingMovesBetweenThreadsOneAtATime) {
    auto ring = Ring::open({.entries = 4, .only = RingMode::plain});
    ASSERT_TRUE(ring);
    std::size_t arrived = 0;
    std::thread([&] {
        if (!ring->prepare({.kind = OpKind::nop, .tag = 1})) return;
        arrived = ring->wait(out, 1, seconds{5}).value_or(0);
    }).join();
    EXPECT_EQ(arrived, 1U);
}

// With DEFER_TASKRUN a completion exists only after a call that takes events. TASKRUN_FLAG is what
// lets peek() know that it must make one when the eventfd fires.
TEST_F(KernelRingTest, EventfdThenPeekFindsTheCompletionOfADeferredRing) {
    if (!offers(RingMode::deferred)) GTEST_SKIP() << "needs IORING_SETUP_DEFER_TASKRUN";
    auto ring = Ring::open({.entries = 4, .only = RingMode::deferred});
    ASSERT_TRUE(ring);
    const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
    ASSERT_TRUE(ring->register_eventfd(event.get()));
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    const UniqueFd writer(ends[1]);
    std::array<std::byte, 4> data{};
    ASSERT_TRUE(
        ring->prepare({.kind = OpKind::read, .file = reader.get(), .data = data, .tag = 9}));
    ASSERT_TRUE(ring->submit());
    ASSERT_EQ(*ring->peek(out), 0U);

    ASSERT_EQ(::write(writer.get(), "data", 4), 4);
    std::uint64_t fired = 0;
    ASSERT_EQ(::read(event.get(), &fired, sizeof fired), static_cast<ssize_t>(sizeof fired));
    const auto arrived = ring->peek(out);

    ASSERT_TRUE(arrived);
    ASSERT_EQ(*arrived, 1U);
    EXPECT_EQ(out[0].tag, 9U);
}

// The control of the test above: without TASKRUN_FLAG the eventfd fires and peek() stays empty.
TEST_F(KernelRingTest, DeferredRingWithoutTaskrunFlagPeeksNothing) {
    KernelRing opened = open_kernel_ring(4, setup_single_issuer | setup_defer_taskrun);
    if (!opened.backend) GTEST_SKIP() << "needs IORING_SETUP_DEFER_TASKRUN";
    Ring ring = Ring::over(std::move(opened.backend), {.entries = 4});
    const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
    ASSERT_TRUE(ring.register_eventfd(event.get()));
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    const UniqueFd writer(ends[1]);
    std::array<std::byte, 4> data{};
    ASSERT_TRUE(ring.prepare({.kind = OpKind::read, .file = reader.get(), .data = data}));
    ASSERT_TRUE(ring.submit());
    ASSERT_EQ(::write(writer.get(), "data", 4), 4);
    std::uint64_t fired = 0;
    ASSERT_EQ(::read(event.get(), &fired, sizeof fired), static_cast<ssize_t>(sizeof fired));

    EXPECT_EQ(*ring.peek(out), 0U);
    EXPECT_EQ(*ring.wait(out, 1, seconds{5}), 1U); // a call that takes events finds it
}

TEST_F(KernelRingTest, MoreCompletionsThanTheQueueHoldsAreRefusedBeforeTheyOverflow) {
    auto ring = Ring::open({.entries = 8});
    ASSERT_TRUE(ring);
    std::uint32_t prepared = 0;
    while (ring->in_flight() < ring->depth()) {
        if (ring->room() == 0) {
            ASSERT_TRUE(ring->submit());
        }
        ASSERT_TRUE(ring->prepare({.kind = OpKind::nop, .tag = prepared++}));
    }
    ASSERT_TRUE(ring->submit());

    const auto more = ring->prepare({.kind = OpKind::nop});

    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, Errc::busy);
    ASSERT_EQ(*ring->wait(out, prepared, seconds{5}), prepared);
}

TEST_F(KernelRingTest, BadRequestsAreAnsweredNotSubmitErrors) {
    auto ring = Ring::open({.entries = 8});
    ASSERT_TRUE(ring);
    std::array<std::byte, 8> data{};
    ASSERT_TRUE(ring->prepare(
        {.kind = OpKind::write, .registered_file = true, .file = 7, .data = data, .tag = 1}));
    ASSERT_TRUE(ring->prepare({.kind = OpKind::write_fixed, .file = 1, .data = data, .tag = 2}));
    ASSERT_TRUE(ring->prepare({.kind = OpKind::nop, .tag = 3}));

    std::size_t count = 0;
    while (count < 3) {
        const auto arrived = ring->wait(std::span(out).subspan(count), 1, seconds{5});
        ASSERT_TRUE(arrived) << describe(arrived.error());
        count += *arrived;
    }

    std::array<int, 4> result{};
    for (std::size_t i = 0; i < 3; ++i)
        result[out[i].tag] = out[i].result;
    EXPECT_EQ(result[1], -EBADF);
    EXPECT_EQ(result[2], -EFAULT);
    EXPECT_EQ(result[3], 0);
}

TEST_F(KernelRingTest, WithdrawnEntriesAreNeverRun) {
    KernelRing opened = open_kernel_ring(4, 0);
    ASSERT_TRUE(opened.backend);
    RingBackend& ring = *opened.backend;
    std::array<Completion, 4> completions{};
    for (int round = 0; round < 10; ++round) { // past the end of the ring, so that indexes wrap
        ASSERT_TRUE(ring.stage({.kind = OpKind::nop}, 1));
        ring.withdraw();
        ASSERT_TRUE(ring.stage({.kind = OpKind::nop}, 2));
        EXPECT_EQ(ring.enter(1, seconds{5}), 1);
        ASSERT_EQ(ring.reap(completions), 1U);
        EXPECT_EQ(completions[0].user_data, 2U);
    }
}

TEST_F(KernelRingTest, OpeningAndClosingLeavesNoDescriptor) {
    const auto count = [] {
        std::size_t open = 0;
        for (int fd = 0; fd < 256; ++fd)
            open += ::fcntl(fd, F_GETFD) >= 0 ? 1U : 0U;
        return open;
    };
    const std::size_t before = count();
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(Ring::open({.entries = 4}));
    EXPECT_EQ(count(), before);
}

} // namespace
} // namespace promtact::uring
