// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <promtact/base/choice.h>

#include "storage_support/direct_target_internal.hpp"

namespace promtact::gates {
namespace {

using uring::AlignedBuffer;
using uring::block_bytes;

// One read(2) of exactly the asked bytes; direct reads are only short at the end of the target.
Result<void> read_exactly(int fd, std::uint64_t at, std::span<std::byte> out) {
    for (;;) {
        const ssize_t got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        const std::string attempt =
            "read back " + std::to_string(out.size()) + " bytes at byte " + std::to_string(at);
        if (got < 0) return Error::from_errno(errno, attempt);
        if (static_cast<std::size_t>(got) != out.size())
            return Error{Errc::out_of_range, 0, attempt + ": the target ends before"};
        return {};
    }
}

} // namespace

std::filesystem::path target_directory(const GateContext& context) {
    const std::filesystem::path& given = context.options().directory;
    return given.empty() ? std::filesystem::path(".") : given;
}

Result<ScratchFile> direct_scratch(const GateContext& context) {
    return ScratchFile::create(target_directory(context), O_DIRECT);
}

void fill_pattern(std::span<std::byte> block, std::uint64_t seed, std::uint64_t number) noexcept {
    PROMTACT_ASSERT(block.size() % sizeof(std::uint64_t) == 0);
    const std::uint64_t base = promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, number, 0);
    for (std::size_t at = 0; at < block.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = promtact_mix64(base + at);
        std::memcpy(block.data() + at, &word, sizeof word);
    }
}

Result<std::optional<std::uint64_t>>
first_difference(int fd, std::uint64_t first_byte, std::uint64_t blocks, std::uint64_t seed) {
    constexpr std::uint32_t chunk_blocks = 64;
    PROMTACT_TRY_ASSIGN(
        AlignedBuffer buffer, AlignedBuffer::allocate(1, chunk_blocks * block_bytes));
    std::array<std::byte, block_bytes> expected{};
    for (std::uint64_t done = 0; done < blocks;) {
        const std::uint64_t count = std::min<std::uint64_t>(chunk_blocks, blocks - done);
        const auto chunk = buffer.all().first(static_cast<std::size_t>(count) * block_bytes);
        PROMTACT_TRY(read_exactly(fd, first_byte + done * block_bytes, chunk));
        for (std::uint64_t i = 0; i < count; ++i) {
            fill_pattern(expected, seed, done + i);
            const auto found =
                chunk.subspan(static_cast<std::size_t>(i) * block_bytes, block_bytes);
            if (!std::equal(found.begin(), found.end(), expected.begin()))
                return std::optional<std::uint64_t>{done + i};
        }
        done += count;
    }
    return std::optional<std::uint64_t>{};
}

Result<void> flip_bit(int fd, std::uint64_t at) {
    PROMTACT_TRY_ASSIGN(const UniqueFd other, reopen_descriptor(fd, O_RDWR | O_DIRECT));
    PROMTACT_TRY_ASSIGN(AlignedBuffer buffer, AlignedBuffer::allocate(1, block_bytes));
    const std::uint64_t start = at / block_bytes * block_bytes;
    PROMTACT_TRY(read_exactly(other.get(), start, buffer.all()));
    buffer.all()[static_cast<std::size_t>(at - start)] ^= std::byte{0x10};
    const ssize_t put =
        ::pwrite(other.get(), buffer.all().data(), block_bytes, static_cast<off_t>(start));
    if (put != static_cast<ssize_t>(block_bytes))
        return Error::from_errno(put < 0 ? errno : EIO, "damage byte " + std::to_string(at));
    if (::fdatasync(other.get()) != 0)
        return Error::from_errno(errno, "sync the damage at byte " + std::to_string(at));
    return {};
}

} // namespace promtact::gates
