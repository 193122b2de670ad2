// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A state machine made of the bytes of a snapshot, which may arrive cut in any way. Everything is
// checked: what was accepted is what a machine had written. Nothing is allocated for sizes that are
// only announced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/kv/session_table.hpp>
#include <promtact/kv/snapshot_format.hpp>
#include <promtact/kv/state_machine.hpp>

namespace promtact::kv {

/// Single-threaded. Fed until finish(); after an error it gives the same error for ever.
class SnapshotLoader {
  public:
    /// Takes the next bytes.
    /// Errors: format (not a snapshot, or of another version); corrupt (everything else that
    /// read_snapshot() does not write), with the place in the stream
    Result<void> feed(std::span<const std::byte> bytes);

    /// The machine. Errors: as feed(); corrupt when the end has not come
    Result<StateMachine> finish() &&;

    /// What is held beside the machine, in bytes.
    [[nodiscard]] std::size_t buffered() const noexcept { return part_.size(); }

  private:
    Result<void> advance();
    Result<void> take_head();
    Result<std::size_t> measure() const;
    Result<void> take_part();
    Result<void> take_value();
    Result<void> take_session();
    Result<void> take_answer();
    Result<void> take_end();
    Result<void> close_session();
    [[nodiscard]] SnapshotPart due() const noexcept;
    [[nodiscard]] Error corrupt(const std::string& what) const;

    StateMachine machine_{};
    TraceHash checksum_{};
    std::vector<std::byte> part_{};
    std::size_t wanted_ = SnapshotBytes::head; // of part_, before something can be done with it
    std::uint64_t offset_ = 0;                 // of part_ in the stream
    std::uint64_t keys_left_ = 0;
    std::uint64_t sessions_left_ = 0;
    std::uint64_t answers_left_ = 0;
    std::string last_key_{};
    std::uint64_t session_id_ = 0; // of the session that is being read or was read last
    Session session_{};
    bool has_head_ = false;
    bool measured_ = false; // wanted_ is the whole part
    bool ended_ = false;
    std::optional<Error> failure_{};
};

} // namespace promtact::kv
