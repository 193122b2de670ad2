// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Durable is said only after the completions that prove it, whatever the kernel answers.
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/mman.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>

#include "writer_fixture_internal.hpp"

namespace promtact::uring {
namespace {

using testing::fails;
using testing::FakeKernel;
using testing::moves;

// A19: the remainder is resubmitted once, and nothing is flushed before the last byte is complete.
TEST_F(Writer, ShortWriteIsResumedOnceAndFlushedOnlyWhenComplete) {
    for (const WriteMode mode : {WriteMode::separate, WriteMode::linked}) {
        SCOPED_TRACE(to_string(mode));
        kernel = FakeKernel{};
        kernel.replies = {moves(8192)};
        BlockWriter writer = make(mode);
        const auto data = pattern(16384);
        std::size_t complete_at_sync = 0;
        kernel.on_consume = [&](const Operation& operation) {
            if (operation.kind == sync_kind) complete_at_sync = kernel.file.size();
        };

        ASSERT_TRUE(writer.durable_write(0, data));

        EXPECT_EQ(complete_at_sync, 16384U);
        EXPECT_EQ(kernel.seen.back().operation.kind, sync_kind);
        EXPECT_EQ(std::memcmp(kernel.file.data(), data.data(), data.size()), 0);
        EXPECT_EQ(writer.stats().short_writes, 1U);
    }
}

TEST_F(Writer, FlushThatRanBeforeTheRemainderDoesNotCount) {
    kernel.replies = {moves(4096)};
    kernel.chains = false; // a hard link or a broken kernel: the sync runs all the same
    BlockWriter writer = make(WriteMode::linked);

    ASSERT_TRUE(writer.durable_write(0, pattern(8192)));

    EXPECT_EQ(kinds(), (std::vector{write_kind, sync_kind, write_kind, sync_kind}));
}

TEST_F(Writer, ResumesAtABlockBoundaryWhateverTheCount) {
    kernel.replies = {moves(5000)};
    BlockWriter writer = make(WriteMode::separate);
    const auto data = pattern(16384);

    ASSERT_TRUE(writer.durable_write(0, data));

    EXPECT_EQ(kernel.seen[1].operation.offset, 4096U);
    EXPECT_EQ(kernel.seen[1].operation.data.size(), 12288U);
    EXPECT_EQ(std::memcmp(kernel.file.data(), data.data(), data.size()), 0);
}

TEST_F(Writer, SecondShortWriteStopsTheWriter) {
    kernel.replies = {moves(8192), moves(4096)};
    BlockWriter writer = make(WriteMode::separate);

    const auto written = writer.durable_write(0, pattern(16384));

    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::short_write);
    EXPECT_EQ(kinds(), (std::vector{write_kind, write_kind}));
    EXPECT_EQ(writer.durable_write(0, pattern(4096)).error().code, Errc::poisoned);
}

// A21: after EAGAIN any part may be written, so the whole write is repeated, never resumed.
TEST_F(Writer, EagainRepeatsTheWholeWriteAtTheSameOffset) {
    kernel.replies = {fails(EAGAIN), fails(EINTR)};
    BlockWriter writer = make(WriteMode::separate);

    ASSERT_TRUE(writer.durable_write(4096, pattern(8192)));

    ASSERT_EQ(kinds(), (std::vector{write_kind, write_kind, write_kind, sync_kind}));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(kernel.seen[i].operation.offset, 4096U);
        EXPECT_EQ(kernel.seen[i].operation.data.size(), 8192U);
    }
    EXPECT_EQ(writer.stats().retries, 2U);
}

TEST_F(Writer, EagainForEverIsBounded) {
    kernel.replies.assign(1000, fails(EAGAIN));
    BlockWriter writer = make(WriteMode::linked);

    const auto written = writer.durable_write(0, pattern(4096));

    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().sys_errno, EAGAIN);
    EXPECT_LE(kernel.seen.size(), 12U);
    for (std::size_t i = 2; i < kernel.seen.size(); ++i)
        EXPECT_EQ(kernel.seen[i].operation.kind, write_kind); // nothing flushed in between
}

struct Failure {
    const char* name;
    WriteMode mode;
    std::vector<testing::Reply> replies;
    int data_sync;
    Errc code;
    int sys_errno;
};

const Failure failures[] = {
    {"write EIO", WriteMode::separate, {fails(EIO)}, 0, Errc::io, EIO},
    {"write ENOSPC", WriteMode::separate, {fails(ENOSPC)}, 0, Errc::no_space, ENOSPC},
    {"write cancelled", WriteMode::separate, {fails(ECANCELED)}, 0, Errc::cancelled, ECANCELED},
    {"sync EIO", WriteMode::separate, {{}, fails(EIO)}, 0, Errc::io, EIO},
    {"sync EAGAIN", WriteMode::separate, {{}, fails(EAGAIN)}, 0, Errc::busy, EAGAIN},
    {"sync ENOSPC", WriteMode::separate, {{}, fails(ENOSPC)}, 0, Errc::no_space, ENOSPC},
    {"sync cancelled alone",
     WriteMode::separate,
     {{}, fails(ECANCELED)},
     0,
     Errc::cancelled,
     ECANCELED},
    {"linked write EIO", WriteMode::linked, {fails(EIO)}, 0, Errc::io, EIO},
    {"linked sync EIO", WriteMode::linked, {{}, fails(EIO)}, 0, Errc::io, EIO},
    {"linked sync cancelled after a full write",
     WriteMode::linked,
     {{}, fails(ECANCELED)},
     0,
     Errc::cancelled,
     ECANCELED},
    {"dsync EIO", WriteMode::dsync, {fails(EIO)}, 0, Errc::io, EIO},
    {"dsync unsupported", WriteMode::dsync, {fails(EOPNOTSUPP)}, 0, Errc::unsupported, EOPNOTSUPP},
    {"inline fdatasync EIO", WriteMode::inline_fdatasync, {}, -EIO, Errc::io, EIO},
    {"write lost", WriteMode::separate, {testing::lost()}, 0, Errc::timeout, ETIME},
    {"sync lost", WriteMode::separate, {{}, testing::lost()}, 0, Errc::timeout, ETIME},
    {"unknown answer", WriteMode::separate, {testing::unknown()}, 0, Errc::corrupt, 0},
};

TEST_F(Writer, EveryErrorIsReportedOncePoisonsAndIsNeverRetried) {
    for (const Failure& failure : failures) {
        SCOPED_TRACE(failure.name);
        kernel = FakeKernel{};
        kernel.replies.assign(failure.replies.begin(), failure.replies.end());
        if (failure.data_sync != 0) kernel.data_sync_results = {failure.data_sync};
        BlockWriter writer = make(failure.mode);

        const auto written = writer.durable_write(0, pattern(4096));

        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().code, failure.code) << describe(written.error());
        EXPECT_EQ(written.error().sys_errno, failure.sys_errno);
        const std::size_t seen = kernel.seen.size();
        const std::uint64_t syncs = kernel.data_syncs;
        for (int call = 0; call < 3; ++call) {
            const auto later = call == 0   ? writer.queue(1, 0, pattern(4096))
                               : call == 1 ? writer.flush()
                                           : writer.durable_write_group({});
            ASSERT_FALSE(later);
            EXPECT_EQ(later.error().code, Errc::poisoned);
            EXPECT_EQ(later.error().sys_errno, failure.sys_errno);
        }
        EXPECT_EQ(kernel.seen.size(), seen);
        EXPECT_EQ(kernel.data_syncs, syncs);
    }
}

TEST_F(Writer, ReorderedChainAnswersAreBothAwaited) {
    kernel.replies = {testing::late(), {}};
    BlockWriter writer = make(WriteMode::linked);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    EXPECT_EQ(kinds(), (std::vector{write_kind, sync_kind}));
}

TEST_F(Writer, ErrorOfALateWriteIsNotHiddenByItsSync) {
    kernel.chains = false;
    // The write's answer comes after the sync's; its error must still reach the caller.
    kernel.replies = {testing::late(), {}};
    BlockWriter writer = make(WriteMode::linked);
    kernel.overflowed = 0;
    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));
    kernel.replies = {{testing::Reply::Kind::lost, 0}, {}};

    const auto written = writer.durable_write(0, pattern(4096));

    ASSERT_FALSE(written); // the sync was answered, the write was not: not durable
    EXPECT_EQ(written.error().code, Errc::timeout);
}

} // namespace
} // namespace promtact::uring
