// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cstring>

#include <gtest/gtest.h>
#include <liburing.h>

#include "kernel_ring_internal.hpp"

namespace promtact::uring {
namespace {

// What the entry must be, built independently: only these fields are set, the rest is zero.
struct Expected {
    std::uint8_t opcode = 0;
    std::uint8_t flags = 0;
    int fd = -1;
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint32_t length = 0;
    std::uint32_t op_flags = 0;
    std::uint16_t buffer = 0;
};

std::array<std::byte, 64> bytes_of(const Expected& expected, std::uint64_t user_data) {
    std::array<std::byte, 64> out{};
    const auto put = [&out](std::size_t at, const auto& value) {
        std::memcpy(out.data() + at, &value, sizeof value);
    };
    put(0, expected.opcode);
    put(1, expected.flags);
    put(4, expected.fd);
    put(8, expected.offset);
    put(16, expected.address);
    put(24, expected.length);
    put(28, expected.op_flags);
    put(32, user_data);
    put(40, expected.buffer);
    return out;
}

std::array<std::byte, 64> encoded(const Operation& operation, std::uint64_t user_data) {
    io_uring_sqe sqe;
    std::memset(&sqe, 0xff, sizeof sqe); // the worst predecessor
    encode_sqe(operation, user_data, sqe);
    std::array<std::byte, 64> out{};
    std::memcpy(out.data(), &sqe, sizeof sqe);
    return out;
}

// A23: a flag or address of an earlier request must not leak into the next.
TEST(EncodeSqe, SetsAll64BytesWhateverWasThereBefore) {
    std::array<std::byte, 512> data{};
    const auto address = reinterpret_cast<std::uintptr_t>(data.data());

    EXPECT_EQ(encoded({.kind = OpKind::nop}, 1), bytes_of({}, 1));
    EXPECT_EQ(
        encoded({.kind = OpKind::sync_data, .registered_file = true, .file = 2}, 3),
        bytes_of({.opcode = 3, .flags = 1, .fd = 2, .op_flags = 1}, 3));
    EXPECT_EQ(
        encoded({.kind = OpKind::sync_all, .file = 9}, 4), bytes_of({.opcode = 3, .fd = 9}, 4));
    EXPECT_EQ(
        encoded(
            {.kind = OpKind::write_fixed,
             .registered_file = true,
             .linked = true,
             .file = 1,
             .offset = 8192,
             .data = data,
             .buffer = 7,
             .rw_flags = rwf_dsync},
            5),
        bytes_of(
            {.opcode = 5,
             .flags = 1 | 4,
             .fd = 1,
             .offset = 8192,
             .address = address,
             .length = 512,
             .op_flags = 2,
             .buffer = 7},
            5));
    EXPECT_EQ(
        encoded({.kind = OpKind::read, .file = 4, .offset = 1, .data = data, .buffer = 7}, 6),
        bytes_of({.opcode = 22, .fd = 4, .offset = 1, .address = address, .length = 512}, 6));
}

} // namespace
} // namespace promtact::uring
