// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reads the snapshot image of the Go reference and the state-machine image within it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::wal {

inline constexpr std::size_t reference_snapshot_header_bytes = 52;
inline constexpr std::size_t reference_machine_header_bytes = 16;
inline constexpr std::size_t reference_machine_key_bytes = 16;
inline constexpr std::size_t reference_machine_client_bytes = 32;

/// The reference's snapshot. Lifetime: state points into the bytes it was read from.
struct ReferenceSnapshot {
    std::uint64_t last_index = 0;
    std::uint64_t last_term = 0;
    std::uint64_t old_voters = 0;
    std::uint64_t new_voters = 0; // 0 unless a membership change was under way
    std::span<const std::byte> state{};
};

/// Shape: "HYPSNAP2", last index, last term, old voters, new voters, state length (u64 each), u32
/// CRC32C of all that and the state, the state. Nothing may follow. Allocates nothing.
/// Errors: format (magic); corrupt, naming offset and field (length, checksum).
Result<ReferenceSnapshot> import_snapshot(std::span<const std::byte> bytes);

/// One key of the reference's map and its value.
struct ReferenceKey {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    friend bool operator==(const ReferenceKey&, const ReferenceKey&) = default;
};

/// The last request of a client and its answer.
struct ReferenceClient {
    std::uint64_t client = 0;
    std::uint64_t request = 0;
    std::uint64_t value = 0;
    bool found = false;
    friend bool operator==(const ReferenceClient&, const ReferenceClient&) = default;
};

/// All of the reference's state machine.
struct ReferenceMachine {
    std::vector<ReferenceKey> keys{};       // keys ascending, each once
    std::vector<ReferenceClient> clients{}; // clients ascending, each once
};

/// Shape: "HYSM", u16 version 1, two zero bytes, u32 key count, u32 client count, keys of 16 bytes,
/// clients of 32 (id, request, value, found, 7 zero bytes), u32 CRC32C of all before it.
/// The counts must fit the length exactly before anything is allocated.
/// Errors: format (magic, version); corrupt, naming offset and field.
Result<ReferenceMachine> import_machine(std::span<const std::byte> bytes);

} // namespace promtact::wal
