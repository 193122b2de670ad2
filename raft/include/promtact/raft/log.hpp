// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The log in memory: the entries behind the last compaction, and how far each of them has got on
// its way to the disk. Several batches may be under way; a completion counts only for entries that
// no later conflict has replaced, so that an old completion never vouches for new bytes.
// Source: Ongaro's dissertation §3.5 (Log Matching), §5.1 (compaction), §10.2.1 (writing in
// parallel).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <promtact/raft/entries.hpp>
#include <promtact/raft/ids.hpp>

namespace promtact::raft {

class Log {
  public:
    /// A log whose entries up to `base` are inside of a snapshot.
    explicit Log(Index base = 0, Term base_term = 0) noexcept
        : base_(base), base_term_(base_term), last_(base), last_term_(base_term), stable_(base),
          taken_(base) {}

    /// The entry before the first that is here. Its term is known, its content is not.
    [[nodiscard]] Index base() const noexcept { return base_; }
    [[nodiscard]] Term base_term() const noexcept { return base_term_; }
    [[nodiscard]] Index last() const noexcept { return last_; }
    [[nodiscard]] Term last_term() const noexcept { return last_term_; }

    /// The term of the entry, or nothing when it is compacted away or not there yet.
    [[nodiscard]] std::optional<Term> term(Index index) const noexcept;
    [[nodiscard]] bool matches(Index index, Term term_wanted) const noexcept {
        return term(index) == term_wanted;
    }
    /// Requires: base() < index <= last()
    [[nodiscard]] Entry at(Index index) const noexcept;
    /// The largest index up to `at_most` (and not below base()) whose term is at most
    /// `term_at_most`: where to look after a mismatch. Source: §3.5, last paragraphs
    [[nodiscard]] Index last_of_term(Index at_most, Term term_at_most) const noexcept;
    /// Bytes of payload of the entries first..last. Requires: base() < first; last <= last()
    [[nodiscard]] std::uint64_t bytes(Index first, Index last) const noexcept;

    /// Adds one entry behind the last; its index is the answer. Requires: term >= last_term()
    Index append(Term term, EntryKind kind, std::span<const std::byte> data);
    /// Requires: entries.first() == last() + 1
    void append(const Entries& entries);
    /// Drops what lies behind `keep`. Requires: base() <= keep < last()
    void truncate(Index keep);
    /// The last entry of those from `first` on that the limits allow; at least first itself.
    /// Requires: base() < first <= last()
    [[nodiscard]] Index
    limit(Index first, std::uint32_t entries_max, std::uint64_t bytes_max) const noexcept;
    /// Entries from `first` on: at least one, then as many as the limits allow. Lies in one piece
    /// afterwards, so that asking again costs nothing. Requires: base() < first <= last()
    Entries read(Index first, std::uint32_t entries_max, std::uint64_t bytes_max);
    /// Appends the entries first..last to out. Requires: base() < first; last <= last()
    void collect(Index first, Index last, std::vector<Entries>& out) const;

    /// Forgets the entries up to `through`. Requires: base() <= through <= last()
    void compact(Index through);
    /// Forgets everything: the log now begins behind `base`, which is not durable yet. What was
    /// durable up to `same` is the prefix of what is there now.
    void reset(Index base, Term base_term, Index same);

    /// Everything up to here is durable.
    [[nodiscard]] Index stable() const noexcept { return stable_; }
    [[nodiscard]] bool has_unsaved() const noexcept { return taken_ < last_; }
    /// Appends what no batch holds yet to out, as part of batch `number`. Requires: numbers rise
    void take_unsaved(std::uint64_t number, std::vector<Entries>& out);
    /// All batches up to `number` are durable.
    void saved(std::uint64_t number) noexcept;
    /// The batch after which the entry at `index` is durable: 0 when it is already, `next` when no
    /// batch holds it yet.
    [[nodiscard]] std::uint64_t batch_of(Index index, std::uint64_t next) const noexcept;
    /// In how many pieces the entries lie.
    [[nodiscard]] std::size_t pieces() const noexcept { return runs_.size(); }

  private:
    struct Batch {
        std::uint64_t number = 0;
        Index last = 0; // the last entry of it that is still in the log
    };

    [[nodiscard]] std::size_t run_of(Index index) const noexcept;
    void join_pieces(Index first, Index last);
    void forget_from(Index first) noexcept;

    Index base_;
    Term base_term_;
    Index last_;
    Term last_term_;
    Index stable_;
    Index taken_;
    std::vector<Entries> runs_{};  // consecutive
    std::vector<Batch> batches_{}; // under way, numbers rising
};

} // namespace promtact::raft
