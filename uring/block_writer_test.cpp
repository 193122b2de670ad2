// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The writer over a scripted kernel that mostly behaves.
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

TEST_F(Writer, SeparateModeFlushesOnlyAfterTheWriteWasAnswered) {
    BlockWriter writer = make(WriteMode::separate);
    std::size_t writes_answered_at_sync = 0;
    kernel.on_consume = [&](const Operation& operation) {
        if (operation.kind == sync_kind) writes_answered_at_sync = kernel.enters;
    };

    ASSERT_TRUE(writer.durable_write(8192, pattern(4096)));

    EXPECT_EQ(kinds(), (std::vector{write_kind, sync_kind}));
    EXPECT_EQ(writes_answered_at_sync, 2U); // the second call to the kernel, not the first
    EXPECT_FALSE(kernel.seen[0].operation.linked);
    EXPECT_EQ(kernel.seen[0].operation.offset, 8192U);
    EXPECT_TRUE(kernel.seen[1].operation.registered_file);
    EXPECT_EQ(writer.stats().flushes, 1U);
}

TEST_F(Writer, LinkedModeSubmitsOneChain) {
    BlockWriter writer = make(WriteMode::linked);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    EXPECT_EQ(kinds(), (std::vector{write_kind, sync_kind}));
    EXPECT_TRUE(kernel.seen[0].operation.linked);
    EXPECT_FALSE(kernel.seen[1].operation.linked);
    EXPECT_EQ(kernel.enters, 1U);
}

TEST_F(Writer, DsyncModeCarriesTheFlagAndNoSync) {
    BlockWriter writer = make(WriteMode::dsync);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    ASSERT_EQ(kernel.seen.size(), 1U);
    EXPECT_EQ(kernel.seen[0].operation.rw_flags, rwf_dsync);
}

TEST_F(Writer, InlineModeCallsFdatasyncAfterTheWrite) {
    BlockWriter writer = make(WriteMode::inline_fdatasync);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    EXPECT_EQ(kinds(), std::vector{write_kind});
    EXPECT_EQ(kernel.data_syncs, 1U);
}

TEST_F(Writer, WriteOnlyModeNeverFlushes) {
    BlockWriter writer = make(WriteMode::write_only);

    ASSERT_TRUE(writer.durable_write(0, pattern(4096)));

    EXPECT_EQ(kinds(), std::vector{write_kind});
    EXPECT_EQ(kernel.data_syncs, 0U);
    EXPECT_EQ(writer.stats().flushes, 0U);
}

TEST_F(Writer, BytesArriveUnchangedInEveryMode) {
    for (const WriteMode mode : all_modes) {
        SCOPED_TRACE(to_string(mode));
        kernel = FakeKernel{};
        BlockWriter writer = make(mode);
        const auto data = pattern(16384);

        ASSERT_TRUE(writer.durable_write(4096, data));

        ASSERT_EQ(kernel.file.size(), 20480U);
        EXPECT_EQ(std::memcmp(kernel.file.data() + 4096, data.data(), data.size()), 0);
    }
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
    EXPECT_TRUE(kernel.seen.empty());
    EXPECT_TRUE(writer.durable_write(0, bytes.first(4096)));
}

TEST_F(Writer, QueueAtDepthReportsEachTagOnce) {
    for (const WriteMode mode : all_modes) {
        SCOPED_TRACE(to_string(mode));
        kernel = FakeKernel{};
        kernel.replies = {{}, testing::late(), {}, testing::late()};
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

    ASSERT_EQ(kernel.seen.size(), 6U);
    EXPECT_EQ(kernel.seen.back().operation.kind, sync_kind);
    EXPECT_EQ(writer.stats().flushes, 1U);
    EXPECT_EQ(writer.stats().writes, 5U);
}

TEST_F(Writer, FailedWriteOfAGroupIsNotFlushedOver) {
    kernel.replies = {{}, fails(EIO)};
    BlockWriter writer = make(WriteMode::separate, 2);
    const auto data = pattern(4096);
    const std::array blocks{
        BlockWrite{.offset = 0, .data = data}, BlockWrite{.offset = 4096, .data = data}};

    EXPECT_EQ(writer.durable_write_group(blocks).error().code, Errc::io);
    for (const OpKind kind : kinds())
        EXPECT_EQ(kind, write_kind);
}

TEST_F(Writer, CloseReportsAnOutstandingError) {
    kernel.replies = {{}, fails(EIO)};
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

    EXPECT_EQ(std::memcmp(kernel.file.data(), original.data(), original.size()), 0);
}

TEST_F(Writer, LimitedLockedMemoryIsAnErrorUnlessPlainWritesAreAllowed) {
    kernel.register_buffers_result = -ENOMEM;
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
    EXPECT_EQ(kernel.seen[0].operation.kind, OpKind::write);
}

} // namespace
} // namespace promtact::uring
