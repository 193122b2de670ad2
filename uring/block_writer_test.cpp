// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The writer over a scripted kernel: durable is said only after the completions that prove it.
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

#include <fcntl.h>
#include <sys/mman.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/uring/block_writer.hpp>
#include <promtact/uring/testing/fake_ring.hpp>

namespace promtact::uring {
namespace {

using namespace std::chrono_literals;
using testing::fails;
using testing::FakeKernel;
using testing::moves;

class Writer : public ::testing::Test {
  protected:
    BlockWriter make(WriteMode mode, std::uint32_t depth = 1, std::uint32_t bytes = 16384) {
        BlockWriterOptions options{.mode = mode, .depth = depth, .write_bytes_max = bytes};
        options.timeout = 1ms;
        options.ring.drain_limit = 1ms;
        Ring ring = Ring::over(testing::make_fake_ring(kernel), options.ring);
        UniqueFd file(::memfd_create("promtact-writer-test", MFD_CLOEXEC));
        auto writer = BlockWriter::over(std::move(ring), std::move(file), options);
        PROMTACT_ASSERT(writer.has_value());
        return std::move(*writer);
    }

    [[nodiscard]] std::vector<OpKind> kinds() const {
        std::vector<OpKind> list;
        for (const testing::Seen& seen : kernel->seen)
            list.push_back(seen.operation.kind);
        return list;
    }

    static std::vector<std::byte> pattern(std::size_t bytes, std::uint8_t salt = 1) {
        std::vector<std::byte> data(bytes);
        for (std::size_t i = 0; i < bytes; ++i)
            data[i] = static_cast<std::byte>((i * 131 + i / 4096 + salt) & 0xff);
        return data;
    }

    std::shared_ptr<FakeKernel> kernel = std::make_shared<FakeKernel>();
};

constexpr OpKind write_kind = OpKind::write_fixed;
constexpr OpKind sync_kind = OpKind::sync_data;

TEST_F(Writer, SeparateModeFlushesOnlyAfterTheWriteWasAnswered) {
    BlockWriter writer = make(WriteMode::separate);
    std::size_t writes_answered_at_sync = 0;
    kernel->on_consume = [&](const Operation& operation) {
        if (operation.kind == sync_kind) writes_answered_at_sync = kernel->enters;
    };

    ASSERT_TRUE(writer.durable_write(8192, pattern(4096)));

    EXPECT_EQ(kinds(), (std::vector{write_kind, sync_kind}));
    EXPECT_EQ(writes_answered_at_sync, 2U); // the second call to the kernel, not the first
    EXPECT_FALSE(kernel->seen[0].operation.linked);
    EXPECT_EQ(kernel->seen[0].operation.offset, 8192U);
    EXPECT_TRUE(kernel->seen[1].operation.registered_file);
    EXPECT_EQ(writer.stats().flushes, 1U);
}

TEST_F(Writer, LinkedModeSubmitsOneChain) {
    BlockWriter writer = make(WriteMode::linked);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    EXPECT_EQ(kinds(), (std::vector{write_kind, sync_kind}));
    EXPECT_TRUE(kernel->seen[0].operation.linked);
    EXPECT_FALSE(kernel->seen[1].operation.linked);
    EXPECT_EQ(kernel->enters, 1U);
}

TEST_F(Writer, DsyncModeCarriesTheFlagAndNoSync) {
    BlockWriter writer = make(WriteMode::dsync);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    ASSERT_EQ(kernel->seen.size(), 1U);
    EXPECT_EQ(kernel->seen[0].operation.rw_flags, rwf_dsync);
}

TEST_F(Writer, InlineModeCallsFdatasyncAfterTheWrite) {
    BlockWriter writer = make(WriteMode::inline_fdatasync);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    EXPECT_EQ(kinds(), std::vector{write_kind});
    EXPECT_EQ(kernel->data_syncs, 1U);
}

TEST_F(Writer, WriteOnlyModeNeverFlushes) {
    BlockWriter writer = make(WriteMode::write_only);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    EXPECT_EQ(kinds(), std::vector{write_kind});
    EXPECT_EQ(kernel->data_syncs, 0U);
    EXPECT_EQ(writer.stats().flushes, 0U);
}

constexpr WriteMode all_modes[] = {
    WriteMode::separate, WriteMode::linked, WriteMode::dsync, WriteMode::inline_fdatasync,
    WriteMode::write_only};

TEST_F(Writer, BytesArriveUnchangedInEveryMode) {
    for (const WriteMode mode : all_modes) {
        SCOPED_TRACE(to_string(mode));
        kernel = std::make_shared<FakeKernel>();
        BlockWriter writer = make(mode);
        const auto data = pattern(16384);

        ASSERT_TRUE(writer.durable_write(4096, data));

        ASSERT_EQ(kernel->file.size(), 20480U);
        EXPECT_EQ(std::memcmp(kernel->file.data() + 4096, data.data(), data.size()), 0);
    }
}

// A19: the remainder is resubmitted once, and nothing is flushed before the last byte is complete.
TEST_F(Writer, ShortWriteIsResumedOnceAndFlushedOnlyWhenComplete) {
    for (const WriteMode mode : {WriteMode::separate, WriteMode::linked}) {
        SCOPED_TRACE(to_string(mode));
        kernel = std::make_shared<FakeKernel>();
        kernel->replies = {moves(8192)};
        BlockWriter writer = make(mode);
        const auto data = pattern(16384);
        std::size_t complete_at_sync = 0;
        kernel->on_consume = [&](const Operation& operation) {
            if (operation.kind == sync_kind) complete_at_sync = kernel->file.size();
        };

        ASSERT_TRUE(writer.durable_write(0, data));

        EXPECT_EQ(complete_at_sync, 16384U);
        EXPECT_EQ(kernel->seen.back().operation.kind, sync_kind);
        EXPECT_EQ(std::memcmp(kernel->file.data(), data.data(), data.size()), 0);
        EXPECT_EQ(writer.stats().short_writes, 1U);
    }
}

TEST_F(Writer, FlushThatRanBeforeTheRemainderDoesNotCount) {
    kernel->replies = {moves(4096)};
    kernel->chains = false; // a hard link or a broken kernel: the sync runs all the same
    BlockWriter writer = make(WriteMode::linked);

    ASSERT_TRUE(writer.durable_write(0, pattern(8192)));

    EXPECT_EQ(kinds(), (std::vector{write_kind, sync_kind, write_kind, sync_kind}));
}

TEST_F(Writer, ResumesAtABlockBoundaryWhateverTheCount) {
    kernel->replies = {moves(5000)};
    BlockWriter writer = make(WriteMode::separate);
    const auto data = pattern(16384);

    ASSERT_TRUE(writer.durable_write(0, data));

    EXPECT_EQ(kernel->seen[1].operation.offset, 4096U);
    EXPECT_EQ(kernel->seen[1].operation.data.size(), 12288U);
    EXPECT_EQ(std::memcmp(kernel->file.data(), data.data(), data.size()), 0);
}

TEST_F(Writer, SecondShortWriteStopsTheWriter) {
    kernel->replies = {moves(8192), moves(4096)};
    BlockWriter writer = make(WriteMode::separate);

    const auto written = writer.durable_write(0, pattern(16384));

    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::short_write);
    EXPECT_EQ(kinds(), (std::vector{write_kind, write_kind}));
    EXPECT_EQ(writer.durable_write(0, pattern(4096)).error().code, Errc::poisoned);
}

// A21: after EAGAIN any part may be written, so the whole write is repeated, never resumed.
TEST_F(Writer, EagainRepeatsTheWholeWriteAtTheSameOffset) {
    kernel->replies = {fails(EAGAIN), fails(EINTR)};
    BlockWriter writer = make(WriteMode::separate);

    ASSERT_TRUE(writer.durable_write(4096, pattern(8192)));

    ASSERT_EQ(kinds(), (std::vector{write_kind, write_kind, write_kind, sync_kind}));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(kernel->seen[i].operation.offset, 4096U);
        EXPECT_EQ(kernel->seen[i].operation.data.size(), 8192U);
    }
    EXPECT_EQ(writer.stats().retries, 2U);
}

TEST_F(Writer, EagainForEverIsBounded) {
    kernel->replies.assign(1000, fails(EAGAIN));
    BlockWriter writer = make(WriteMode::linked);

    const auto written = writer.durable_write(0, pattern(4096));

    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().sys_errno, EAGAIN);
    EXPECT_LE(kernel->seen.size(), 12U);
    for (std::size_t i = 2; i < kernel->seen.size(); ++i)
        EXPECT_EQ(kernel->seen[i].operation.kind, write_kind); // nothing flushed in between
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
        kernel = std::make_shared<FakeKernel>();
        kernel->replies.assign(failure.replies.begin(), failure.replies.end());
        if (failure.data_sync != 0) kernel->data_sync_results = {failure.data_sync};
        BlockWriter writer = make(failure.mode);

        const auto written = writer.durable_write(0, pattern(4096));

        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().code, failure.code) << describe(written.error());
        EXPECT_EQ(written.error().sys_errno, failure.sys_errno);
        const std::size_t seen = kernel->seen.size();
        const std::uint64_t syncs = kernel->data_syncs;
        for (int call = 0; call < 3; ++call) {
            const auto later = call == 0   ? writer.queue(1, 0, pattern(4096))
                               : call == 1 ? writer.flush()
                                           : writer.durable_write_group({});
            ASSERT_FALSE(later);
            EXPECT_EQ(later.error().code, Errc::poisoned);
            EXPECT_EQ(later.error().sys_errno, failure.sys_errno);
        }
        EXPECT_EQ(kernel->seen.size(), seen);
        EXPECT_EQ(kernel->data_syncs, syncs);
    }
}

TEST_F(Writer, ReorderedChainAnswersAreBothAwaited) {
    kernel->replies = {testing::late(), {}};
    BlockWriter writer = make(WriteMode::linked);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    EXPECT_EQ(kinds(), (std::vector{write_kind, sync_kind}));
}

TEST_F(Writer, ErrorOfALateWriteIsNotHiddenByItsSync) {
    kernel->chains = false;
    // The write's answer comes after the sync's; its error must still reach the caller.
    kernel->replies = {testing::late(), {}};
    BlockWriter writer = make(WriteMode::linked);
    kernel->overflowed = 0;
    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));
    kernel->replies = {{testing::Reply::Kind::lost, 0}, {}};

    const auto written = writer.durable_write(0, pattern(4096));

    ASSERT_FALSE(written); // the sync was answered, the write was not: not durable
    EXPECT_EQ(written.error().code, Errc::timeout);
}

TEST_F(Writer, RefusedArgumentsChangeNothingAndDoNotPoison) {
    BlockWriter writer = make(WriteMode::separate, 1, 8192);
    const auto data = pattern(16384);
    const std::span<const std::byte> bytes = data;
    const struct {
        const char* name;
        std::uint64_t offset;
        std::span<const std::byte> data;
    } rows[] = {
        {"empty", 0, {}},
        {"odd length", 0, bytes.first(4095)},
        {"odd offset", 100, bytes.first(4096)},
        {"too long", 0, bytes.first(12288)},
        {"beyond the largest offset", 0x7ffffffffffff000, bytes.first(8192)},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto written = writer.durable_write(row.offset, row.data);
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().code, Errc::invalid_argument);
    }
    EXPECT_TRUE(kernel->seen.empty());
    EXPECT_TRUE(writer.durable_write(0, bytes.first(4096)));
}

TEST_F(Writer, QueueAtDepthReportsEachTagOnce) {
    for (const WriteMode mode : all_modes) {
        SCOPED_TRACE(to_string(mode));
        kernel = std::make_shared<FakeKernel>();
        kernel->replies = {{}, testing::late(), {}, testing::late()};
        BlockWriter writer = make(mode, 4);
        for (std::uint64_t tag = 0; tag < 4; ++tag)
            ASSERT_TRUE(writer.queue(100 + tag, tag * 4096, pattern(4096)));
        const auto fifth = writer.queue(9, 0, pattern(4096));
        ASSERT_FALSE(fifth);
        EXPECT_EQ(fifth.error().code, Errc::busy);
        std::array<int, 4> times{};
        std::array<WriteDone, 2> done;
        while (writer.queued() > 0) {
            const auto count = writer.wait(done);
            ASSERT_TRUE(count) << describe(count.error());
            for (std::size_t i = 0; i < *count; ++i)
                ++times[done[i].tag - 100];
        }
        EXPECT_EQ(times, (std::array<int, 4>{1, 1, 1, 1}));
        EXPECT_EQ(writer.stats().writes, 4U);
    }
}

TEST_F(Writer, GroupFlushesOnceAfterTheLastByte) {
    BlockWriter writer = make(WriteMode::separate, 2);
    const auto data = pattern(4096);
    std::vector<BlockWrite> blocks;
    for (std::uint64_t i = 0; i < 5; ++i)
        blocks.push_back({.offset = i * 4096, .data = data});

    ASSERT_TRUE(writer.durable_write_group(blocks));

    ASSERT_EQ(kernel->seen.size(), 6U);
    EXPECT_EQ(kernel->seen.back().operation.kind, sync_kind);
    EXPECT_EQ(writer.stats().flushes, 1U);
    EXPECT_EQ(writer.stats().writes, 5U);
}

TEST_F(Writer, FailedWriteOfAGroupIsNotFlushedOver) {
    kernel->replies = {{}, fails(EIO)};
    BlockWriter writer = make(WriteMode::separate, 2);
    const auto data = pattern(4096);
    const std::array blocks{
        BlockWrite{.offset = 0, .data = data}, BlockWrite{.offset = 4096, .data = data}};

    EXPECT_EQ(writer.durable_write_group(blocks).error().code, Errc::io);
    for (const OpKind kind : kinds())
        EXPECT_EQ(kind, write_kind);
}

TEST_F(Writer, CloseReportsAnOutstandingError) {
    kernel->replies = {{}, fails(EIO)};
    BlockWriter writer = make(WriteMode::separate);
    ASSERT_TRUE(writer.queue(1, 0, pattern(4096)));

    const auto closed = writer.close();

    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().code, Errc::io);
}

// A20: what the kernel reads is what was given, although the caller's memory changed meanwhile.
TEST_F(Writer, CallerMayReuseItsMemoryAtOnce) {
    BlockWriter writer = make(WriteMode::separate, 2);
    auto data = pattern(4096, 3);
    const auto original = data;

    ASSERT_TRUE(writer.queue(1, 0, data));
    std::fill(data.begin(), data.end(), std::byte{0xdd});
    ASSERT_TRUE(writer.close());

    EXPECT_EQ(std::memcmp(kernel->file.data(), original.data(), original.size()), 0);
}

TEST_F(Writer, LimitedLockedMemoryIsAnErrorUnlessPlainWritesAreAllowed) {
    kernel->register_buffers_result = -ENOMEM;
    BlockWriterOptions options;
    const auto over = [&] {
        return BlockWriter::over(
            Ring::over(testing::make_fake_ring(kernel), {}),
            UniqueFd(::memfd_create("promtact-writer-test", MFD_CLOEXEC)), options);
    };

    const auto refused = over();
    options.allow_unregistered = true;
    auto plain = over();

    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().context.find("RLIMIT_MEMLOCK"), std::string::npos);
    ASSERT_TRUE(plain);
    EXPECT_FALSE(plain->buffers_registered());
    ASSERT_TRUE(plain->durable_write(0, pattern(4096)));
    EXPECT_EQ(kernel->seen[0].operation.kind, OpKind::write);
}

} // namespace
} // namespace promtact::uring
