// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The writer on a real file, read back through a second descriptor.
#include <array>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <linux/falloc.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/scratch_file.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/block_writer.hpp>
#include <promtact/uring/direct_file.hpp>

#include <temporary_directory.hpp>

namespace promtact::uring {
namespace {

constexpr WriteMode all_modes[] = {
    WriteMode::separate, WriteMode::linked, WriteMode::dsync, WriteMode::inline_fdatasync,
    WriteMode::write_only};

class WriterOnDisk : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto ring = Ring::open({});
        if (!ring) GTEST_SKIP() << "needs io_uring: " << describe(ring.error());
        const auto file = open_direct_scratch(directory.path());
        if (!file) GTEST_SKIP() << "needs O_DIRECT: " << describe(file.error());
    }

    static std::vector<std::byte> pattern(std::size_t bytes, unsigned salt) {
        std::vector<std::byte> data(bytes);
        for (std::size_t i = 0; i < bytes; ++i)
            data[i] = static_cast<std::byte>((i * 131 + i / 4096 + salt * 17) & 0xff);
        return data;
    }

    static std::vector<std::byte> read_back(int fd, std::uint64_t offset, std::size_t bytes) {
        const auto second = reopen_descriptor(fd, O_RDONLY | O_DIRECT);
        PROMTACT_ASSERT(second.has_value());
        auto buffer = AlignedBuffer::allocate(1, static_cast<std::uint32_t>(bytes));
        PROMTACT_ASSERT(buffer.has_value());
        const ssize_t got =
            ::pread(second->get(), buffer->all().data(), bytes, static_cast<off_t>(offset));
        PROMTACT_ASSERT(got == static_cast<ssize_t>(bytes));
        return {buffer->all().begin(), buffer->all().end()};
    }

    BlockWriter open(const BlockWriterOptions& options) {
        auto file = open_direct_scratch(directory.path());
        PROMTACT_ASSERT(file.has_value());
        auto writer = BlockWriter::open(std::move(*file), options);
        if (!writer) std::printf("%s\n", describe(writer.error()).c_str());
        PROMTACT_ASSERT(writer.has_value());
        return std::move(*writer);
    }

    test_support::TemporaryDirectory directory;
};

TEST_F(WriterOnDisk, DurableWriterIntegration) {
    for (const WriteMode mode : all_modes) {
        SCOPED_TRACE(to_string(mode));
        BlockWriter writer = open({.mode = mode});
        std::vector<std::byte> block(4096);
        std::memcpy(block.data(), "promtact", 8);

        ASSERT_TRUE(writer.durable_write(0, block));

        EXPECT_EQ(::lseek(writer.fd(), 0, SEEK_END), 4096); // one block, the rest of it zero
        EXPECT_EQ(read_back(writer.fd(), 0, 4096), block);
        EXPECT_EQ(writer.stats().flushes, mode == WriteMode::write_only ? 0U : 1U);
        ASSERT_TRUE(writer.close());
    }
}

TEST_F(WriterOnDisk, QueueOfManyLandsBitExactAtEveryDepth) {
    for (const WriteMode mode : all_modes) {
        for (const std::uint32_t depth : {1U, 3U, 32U}) {
            SCOPED_TRACE(std::string(to_string(mode)) + " depth " + std::to_string(depth));
            BlockWriter writer = open({.mode = mode, .depth = depth, .write_bytes_max = 8192});
            constexpr std::uint64_t count = 100;
            std::vector<int> times(count, 0);
            std::array<WriteDone, 8> done;
            for (std::uint64_t next = 0; next < count || writer.queued() > 0;) {
                while (next < count && writer.queued() < depth) {
                    const auto data = pattern(8192, static_cast<unsigned>(next));
                    ASSERT_TRUE(writer.queue(next, next * 8192, data));
                    ++next;
                }
                const auto finished = writer.wait(done);
                ASSERT_TRUE(finished) << describe(finished.error());
                for (std::size_t i = 0; i < *finished; ++i)
                    ++times[done[i].tag];
            }
            EXPECT_EQ(std::count(times.begin(), times.end(), 1), 100);
            for (std::uint64_t i = 0; i < count; ++i) {
                ASSERT_EQ(
                    read_back(writer.fd(), i * 8192, 8192),
                    pattern(8192, static_cast<unsigned>(i)));
            }
            ASSERT_TRUE(writer.close());
        }
    }
}

TEST_F(WriterOnDisk, GroupOfBlocksLandsBitExact) {
    BlockWriter writer = open({.mode = WriteMode::separate, .depth = 4});
    std::vector<std::vector<std::byte>> data;
    std::vector<BlockWrite> blocks;
    for (unsigned i = 0; i < 20; ++i)
        data.push_back(pattern(4096, i));
    for (unsigned i = 0; i < 20; ++i)
        blocks.push_back({.offset = i * 4096, .data = data[i]});

    ASSERT_TRUE(writer.durable_write_group(blocks));

    for (unsigned i = 0; i < 20; ++i)
        EXPECT_EQ(read_back(writer.fd(), i * 4096, 4096), data[i]);
    EXPECT_EQ(writer.stats().flushes, 1U);
}

TEST_F(WriterOnDisk, DirectIOAlignment) {
    BlockWriter writer = open({});
    EXPECT_GE(writer.alignment(), 1U);
    EXPECT_EQ(4096U % writer.alignment(), 0U);
    EXPECT_TRUE(is_aligned(8192, 4096, 4096));
    EXPECT_FALSE(is_aligned(8192, 100, 4096));
    EXPECT_FALSE(is_aligned(100, 4096, 4096));
    const auto refused = writer.durable_write(1, pattern(4096, 0));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
}

// RLIMIT_FSIZE makes the kernel write less than asked, then refuse: the write is never
// acknowledged.
TEST_F(WriterOnDisk, RealShortWriteIsNeverAcknowledged) {
    for (const WriteMode mode : {WriteMode::separate, WriteMode::linked}) {
        SCOPED_TRACE(to_string(mode));
        BlockWriter writer = open({.mode = mode, .write_bytes_max = 16384});
        rlimit before{};
        ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
        const rlimit small{.rlim_cur = 8192, .rlim_max = before.rlim_max};
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        struct sigaction old {};
        ASSERT_EQ(::sigaction(SIGXFSZ, &ignore, &old), 0);
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);

        const auto written = writer.durable_write(0, pattern(16384, 1));

        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
        ASSERT_EQ(::sigaction(SIGXFSZ, &old, nullptr), 0);
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().code, Errc::no_space) << describe(written.error());
        EXPECT_EQ(written.error().sys_errno, EFBIG);
        EXPECT_EQ(writer.stats().short_writes, 1U);
        EXPECT_EQ(writer.stats().flushes, 0U);
        EXPECT_EQ(writer.durable_write(0, pattern(4096, 1)).error().code, Errc::poisoned);
    }
}

TEST_F(WriterOnDisk, DescriptorWithoutDirectFlagIsRefused) {
    UniqueFd file(::open(directory.path().c_str(), O_TMPFILE | O_RDWR, 0600));
    const auto writer = BlockWriter::open(std::move(file), {});
    ASSERT_FALSE(writer);
    EXPECT_NE(writer.error().context.find("O_DIRECT"), std::string::npos);
}

TEST_F(WriterOnDisk, OptionsOutOfRangeAreRefused) {
    for (const BlockWriterOptions& options :
         {BlockWriterOptions{.depth = 0}, BlockWriterOptions{.depth = 5000},
          BlockWriterOptions{.write_bytes_max = 0}, BlockWriterOptions{.write_bytes_max = 4097}}) {
        auto file = open_direct_scratch(directory.path());
        ASSERT_TRUE(file);
        const auto writer = BlockWriter::open(std::move(*file), options);
        ASSERT_FALSE(writer);
        EXPECT_EQ(writer.error().code, Errc::invalid_argument);
    }
}

TEST(DirectFile, MemoryFilesystemIsRefusedByNameAndLeavesNoFile) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to mount a tmpfs";
    test_support::TemporaryDirectory directory;
    if (::mount("none", directory.path().c_str(), "tmpfs", 0, "size=1m") != 0)
        GTEST_SKIP() << "needs CAP_SYS_ADMIN, to mount a tmpfs";

    const auto file = open_direct(directory / "log", O_RDWR | O_CREAT);
    const auto scratch = open_direct_scratch(directory.path());
    const bool left = std::filesystem::exists(directory / "log");

    ASSERT_EQ(::umount2(directory.path().c_str(), MNT_DETACH), 0);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, Errc::unsupported);
    EXPECT_NE(file.error().context.find("filesystem does not support O_DIRECT"), std::string::npos);
    EXPECT_NE(file.error().context.find("tmpfs"), std::string::npos);
    ASSERT_FALSE(scratch);
    EXPECT_EQ(scratch.error().code, Errc::unsupported);
    EXPECT_FALSE(left);
}

TEST(DirectFile, MissingDirectoryAndDirectoryAsFileKeepTheirErrno) {
    EXPECT_EQ(open_direct("/nonexistent/x", O_RDWR).error().code, Errc::not_found);
    EXPECT_EQ(open_direct_scratch("/nonexistent").error().code, Errc::not_found);
    EXPECT_EQ(open_direct("/tmp", O_RDWR).error().sys_errno, EISDIR);
    EXPECT_EQ(open_direct("/proc/version", O_RDONLY).error().code, Errc::unsupported);
}

TEST(DirectFile, ReportsAtomicWriteUnitsOnlyWhenTheKernelDoes) {
    test_support::TemporaryDirectory directory;
    const auto file = open_direct_scratch(directory.path());
    if (!file) GTEST_SKIP() << "needs O_DIRECT: " << describe(file.error());

    const auto unit = atomic_write_unit(file->get());

    ASSERT_TRUE(unit);
    EXPECT_LE(unit->minimum, unit->maximum);
    EXPECT_TRUE(unit->reported || unit->maximum == 0);
    EXPECT_FALSE(atomic_write_unit(-1));
    EXPECT_FALSE(direct_io_alignment(-1));
}

} // namespace
} // namespace promtact::uring
