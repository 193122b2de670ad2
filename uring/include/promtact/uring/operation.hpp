// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One request to the kernel as plain data. Only kernel_ring.cpp turns it into a submission entry,
// always starting from zeroed memory, so that no flag of an earlier request can leak into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace promtact::uring {

enum class OpKind : std::uint8_t {
    nop,         // round trip, nothing else
    read,        // pread into data
    write,       // pwrite from data
    read_fixed,  // as read; data lies inside registered buffer number `buffer`
    write_fixed, // as write; data lies inside registered buffer number `buffer`
    sync_data,   // fdatasync
    sync_all,    // fsync
};
std::string_view to_string(OpKind kind) noexcept;

/// True for the kinds that move bytes, so that an answer has a length.
constexpr bool is_transfer(OpKind kind) noexcept {
    return kind == OpKind::read || kind == OpKind::write || kind == OpKind::read_fixed ||
           kind == OpKind::write_fixed;
}

/// Lifetime: data must stay valid and unchanged until the operation's Finished was taken from the
/// ring or Ring::drain() returned success.
struct Operation {
    OpKind kind = OpKind::nop;
    bool registered_file = false; // file is an index into the registered table
    bool linked = false;          // the next operation starts only after this one did all it asked
    int file = -1;                // descriptor, or index when registered_file
    std::uint64_t offset = 0;     // bytes
    std::span<std::byte> data{};  // transfers only, at most 2^31 - 1 bytes
    std::uint16_t buffer = 0;     // *_fixed only
    std::uint32_t rw_flags = 0;   // RWF_* of preadv2(2), transfers only
    std::uint64_t tag = 0;        // the caller's own; comes back in Finished
};

/// RWF_* by number: libc headers of Debian 12 lack the newer ones. Source: linux/fs.h
inline constexpr std::uint32_t rwf_dsync = 0x2;
inline constexpr std::uint32_t rwf_atomic = 0x40;

} // namespace promtact::uring
