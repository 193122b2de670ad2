// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The bytes of a snapshot of the state machine: a head, records, an end. It is a stream without
// frames or padding; whoever stores or sends it cuts it where it likes. All is little-endian.
//
//   head     "PROMTKV1" | u16 version = 1 | u16 0 | u32 0 | u64 applied | u64 now | u64
//   sessions_max
//            | u64 outstanding_max | u64 answer_bytes_max | u64 session_timeout | u64 keys
//            | u64 sessions
//   value    u8 1 | 3 bytes 0 | u32 key bytes | u32 value bytes | u32 0 | key | value
//   session  u8 2 | 3 bytes 0 | u32 answers | u64 id | u64 last index | u64 last time
//            | u64 first unanswered
//   answer   u8 3 | u8 status | u8 found | u8 0 | u32 value bytes | u64 number | value
//   end      u8 4 | 7 bytes 0 | 16 bytes digest of the state | 16 bytes checksum
//
// First all values with ascending keys, then all sessions with ascending ids, each followed by its
// answers with ascending numbers. The checksum is a TraceHash over the bytes of each part in turn,
// of the end without the checksum itself; a digest is its low word, then its high word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace promtact::kv {

inline constexpr std::string_view snapshot_magic = "PROMTKV1";
inline constexpr std::uint16_t snapshot_version = 1;

/// The sizes of the parts without their strings.
struct SnapshotBytes {
    static constexpr std::size_t head = 80;
    static constexpr std::size_t value = 16;
    static constexpr std::size_t session = 40;
    static constexpr std::size_t answer = 16;
    static constexpr std::size_t end = 40;
};

/// What a part is: its first byte.
enum class SnapshotPart : std::uint8_t { value = 1, session = 2, answer = 3, end = 4 };

} // namespace promtact::kv
