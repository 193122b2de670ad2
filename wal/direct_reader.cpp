// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <string>

#include <sys/stat.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/uring/aligned_buffer.hpp>

#include "direct_reader_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint32_t chunk_bytes = 1U << 20;

// Whole blocks at `at`, fewer than asked only when the file ends.
Result<std::size_t>
read_some(int fd, const std::filesystem::path& path, std::span<std::byte> out, std::uint64_t at) {
    while (true) {
        const ssize_t got = sys().pread(fd, out.data(), out.size(), static_cast<off_t>(at));
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno == EINTR) continue;
        return Error::from_errno(errno, "read " + path.string() + " at byte " + std::to_string(at));
    }
}

Result<void> feed_blocks(
    std::span<const std::byte> bytes, const std::filesystem::path& path, RecoveryScan& scan,
    const std::function<void(const Record&)>& sink) {
    PROMTACT_ASSERT(bytes.size() % block_bytes == 0);
    for (std::size_t at = 0; at < bytes.size(); at += block_bytes) {
        auto record = scan.feed(bytes.subspan(at).first<block_bytes>());
        if (!record) {
            Error error = std::move(record).error();
            error.context = path.string() + ": " + error.context;
            return error;
        }
        if (*record) sink(**record);
    }
    return {};
}

} // namespace

Result<Recovery> scan_file(
    int fd, const std::filesystem::path& path, RecoveryScan& scan,
    const std::function<void(const Record&)>& sink) {
    struct stat facts {};
    if (::fstat(fd, &facts) != 0) return Error::from_errno(errno, "stat " + path.string());
    if (!S_ISREG(facts.st_mode))
        return Error{Errc::invalid_argument, 0, "log " + path.string() + " is not a regular file"};
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    const std::uint64_t whole = size / block_bytes * block_bytes;
    PROMTACT_TRY_ASSIGN(
        const uring::AlignedBuffer buffer, uring::AlignedBuffer::allocate(1, chunk_bytes));
    for (std::uint64_t at = 0; at < whole;) {
        const std::size_t want = std::min<std::uint64_t>(chunk_bytes, whole - at);
        PROMTACT_TRY_ASSIGN(
            const std::size_t got, read_some(fd, path, buffer.all().first(want), at));
        const std::size_t usable = got / block_bytes * block_bytes;
        if (usable == 0) {
            return Error{
                Errc::io, 0,
                "read " + path.string() + " at byte " + std::to_string(at) +
                    ": ends before its size of " + std::to_string(size)};
        }
        PROMTACT_TRY(feed_blocks(buffer.all().first(usable), path, scan, sink));
        at += usable;
    }
    if (size > whole) scan.feed_incomplete(size - whole);
    const Recovery recovery = scan.finish();
    PROMTACT_ASSERT(recovery.file_bytes == size);
    return recovery;
}

} // namespace promtact::wal
