// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The replicated state machine: byte strings under byte strings, and the sessions of clients. What
// it holds after an entry follows from the log up to that entry and nothing else: it has no clock,
// no randomness and no order that depends on memory.
//
// Single-threaded; a copy is an independent machine, with its snapshot under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/kv/answer.hpp>
#include <promtact/kv/command.hpp>
#include <promtact/kv/cut_map.hpp>
#include <promtact/kv/digest_sum.hpp>
#include <promtact/kv/limits.hpp>
#include <promtact/kv/session_table.hpp>
#include <promtact/kv/snapshot_writer.hpp>

namespace promtact::kv {

class StateMachine {
  public:
    /// Requires: validate(limits), and the same limits at every member that begins without a
    /// snapshot
    explicit StateMachine(const Limits& limits = {});

    /// Carries out the command of the entry at `index`. Bytes that are no command are answered as
    /// invalid and change nothing, at every member alike, so that no entry can stop the cluster.
    /// Requires: index > applied(). Errors: format (decode_command()): a newer version is in use;
    /// nothing was done and nothing may be applied any more
    Result<Answer> apply(std::uint64_t index, std::span<const std::byte> command);

    /// Notes entries that are not for the state machine (configurations, those without content).
    /// Requires: index >= applied()
    void skip_to(std::uint64_t index);

    /// The value of a key. Lifetime: until the next change.
    [[nodiscard]] std::optional<std::string_view> get(std::string_view key) const;

    /// The index of the last entry that was applied or skipped.
    [[nodiscard]] std::uint64_t applied() const noexcept { return applied_; }
    /// The highest time that a command has carried.
    [[nodiscard]] LogTime now() const noexcept { return now_; }
    [[nodiscard]] const Limits& limits() const noexcept { return limits_; }
    [[nodiscard]] std::size_t keys() const noexcept { return values_.size(); }
    [[nodiscard]] const SessionTable& sessions() const noexcept { return sessions_; }

    /// Of everything that commands can see: values, sessions, limits, time; not of applied().
    /// Replicas at one index have one digest. Complexity: constant.
    [[nodiscard]] Digest128 digest() const noexcept;

    /// Fixes what the snapshot holds: the state of this moment. Commands may go on; what they
    /// change before it is written is kept aside. Ends a snapshot that is under way.
    void begin_snapshot();
    /// The next bytes of the snapshot; fewer than out holds only at its end. Keeps one value or one
    /// session in memory. Requires: snapshot_active()
    std::size_t read_snapshot(std::span<std::byte> out);
    [[nodiscard]] bool snapshot_active() const noexcept { return writer_.has_value(); }
    /// Nothing is left to read. Requires: snapshot_active()
    [[nodiscard]] bool snapshot_done() const noexcept { return writer_->done(); }
    /// Frees what is kept aside; to be called also when not everything was read.
    void end_snapshot() noexcept;

  private:
    friend class SnapshotLoader;

    Answer carry_out(const Command& command, std::uint64_t index);
    Answer change(const Command& command);
    Answer guarded(const Command& command, std::uint64_t index);
    void store(std::string_view key, std::string_view value);
    void erase(std::string_view key);
    bool fill_writer();

    Limits limits_{};
    std::uint64_t applied_ = 0;
    LogTime now_ = 0;
    CutMap<std::string, std::string> values_{};
    DigestSum values_digest_{};
    SessionTable sessions_{};
    std::optional<SnapshotWriter> writer_{};
};

} // namespace promtact::kv
