// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One snapshot on its way out: parts are put in, bytes are taken out. It holds one part at a time,
// a session together with its answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <promtact/base/trace_hash.hpp>
#include <promtact/kv/limits.hpp>
#include <promtact/kv/session_table.hpp>

namespace promtact::kv {

/// What the head of a snapshot says.
struct SnapshotHead {
    std::uint64_t applied = 0;
    LogTime now = 0;
    Limits limits{};
    std::uint64_t keys = 0;
    std::uint64_t sessions = 0;
};

/// Used by the state machine, which knows the order of the parts.
class SnapshotWriter {
  public:
    /// Puts the head in.
    SnapshotWriter(const SnapshotHead& head, const Digest128& state);

    /// Takes bytes of the part that was put in last, as many as fit.
    std::size_t take(std::span<std::byte> out);
    /// All bytes of that part were taken.
    [[nodiscard]] bool empty() const noexcept { return taken_ == part_.size(); }
    /// All bytes of the end were taken.
    [[nodiscard]] bool done() const noexcept { return ended_ && empty(); }

    /// Each requires: empty(), and no end yet
    void put_value(std::string_view key, std::string_view value);
    void put_session(std::uint64_t id, const Session& session);
    void put_end();

  private:
    std::span<std::byte> grow(std::size_t bytes);
    void begin_part();

    Digest128 state_{};
    TraceHash checksum_{};
    std::vector<std::byte> part_{};
    std::size_t taken_ = 0;
    bool ended_ = false;
};

} // namespace promtact::kv
