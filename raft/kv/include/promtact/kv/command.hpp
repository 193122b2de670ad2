// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a log entry tells the state machine to do, and its bytes.
//
//   u8 version = 1 | u8 operation | u8 flags (bit 0: an expected value follows) | u8 0
//   | u32 key bytes | u32 value bytes | u32 expected bytes | u64 time | u64 session | u64 number
//   | u64 first unanswered | key | value | expected
//
// Little-endian; what an operation does not use is zero. Integrity is the log's: no checksum here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/kv/limits.hpp>

namespace promtact::kv {

inline constexpr std::uint8_t command_version = 1;
inline constexpr std::size_t command_head_bytes = 48;
inline constexpr std::size_t key_bytes_max = 4096;
inline constexpr std::size_t value_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t command_bytes_max =
    command_head_bytes + key_bytes_max + 2 * value_bytes_max;

enum class Operation : std::uint8_t {
    put = 1,
    remove = 2,
    compare_and_set = 3, // puts the value when the key holds `expected`
    open_session = 4,    // the session's id is the index of this entry
    close_session = 5,
    keep_alive = 6, // uses the session, forgets answers below first_unanswered
    set_limits = 7,
};

/// Which request of which client a command is. A client numbers its requests 1, 2, … and repeats
/// one with the same number until it has the answer; several may be on the way at once.
struct Request {
    std::uint64_t session = 0; // 0: none, then nothing guards against doing it twice
    std::uint64_t number = 0;
    std::uint64_t first_unanswered = 0; // every lower number has been answered
    friend bool operator==(const Request&, const Request&) = default;
};

/// A command. Keys and values are any bytes. Lifetime: that of the bytes it was made of.
struct Command {
    Operation operation = Operation::put;
    LogTime time = 0; // of the leader that proposed it
    Request request{};
    std::string_view key{};                     // put, remove, compare_and_set
    std::string_view value{};                   // put, compare_and_set
    std::optional<std::string_view> expected{}; // compare_and_set; std::nullopt: the key is absent
    Limits limits{};                            // set_limits

    friend bool operator==(const Command&, const Command&) = default;
};

/// What a service checks before it proposes.
/// Errors: invalid_argument: an empty or too long key, a too long value, a session without a
/// number or the reverse, first_unanswered of 0 or above the number, limits that are not valid
Result<void> validate(const Command& command);

/// Appends to out; fields that the operation does not use are left out.
/// Requires: validate(command)
void encode(const Command& command, std::vector<std::byte>& out);

/// Takes exactly these bytes. Allocates nothing unless it fails.
/// Errors: format (another version, an operation or flag of a newer one: who does not know them
/// must stop, since others do); corrupt (what encode() never writes)
Result<Command> decode_command(std::span<const std::byte> bytes);

} // namespace promtact::kv
