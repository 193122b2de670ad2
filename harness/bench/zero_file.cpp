// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/zero_file.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/direct_file.hpp>

namespace promtact::harness::bench {
namespace {

constexpr std::uint32_t chunk_bytes = 1U << 20;
constexpr std::uint64_t kept_bytes_max = std::uint64_t{1'000'000} * uring::block_bytes;

Error in_the_way(const std::filesystem::path& path, const char* why) {
    return Error{Errc::refused, 0, path.string() + " exists and " + why + ": choose another -path"};
}

} // namespace

Result<UniqueFd> open_zero_file(const std::filesystem::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0)
        return Error::from_errno(errno, "stat " + path.string());
    if (!S_ISREG(status.st_mode)) return in_the_way(path, "is not a regular file");
    if (static_cast<std::uint64_t>(status.st_size) > kept_bytes_max)
        return in_the_way(path, "is larger than any file this benchmark keeps");
    PROMTACT_TRY_ASSIGN(UniqueFd file, uring::open_direct(path, O_RDWR | O_NOFOLLOW));
    PROMTACT_TRY_ASSIGN(
        const uring::AlignedBuffer buffer, uring::AlignedBuffer::allocate(1, chunk_bytes));
    for (off_t at = 0; at < status.st_size;) {
        const ssize_t got = ::pread(file.get(), buffer.all().data(), chunk_bytes, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Error::from_errno(errno, "read " + path.string());
        if (got == 0) break;
        const auto bytes = buffer.all().first(static_cast<std::size_t>(got));
        if (std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; }))
            return in_the_way(path, "holds data");
        at += got;
    }
    return file;
}

} // namespace promtact::harness::bench
