// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Log entries. They lie side by side in blocks that only grow, and everybody who holds some of them
// (the log, a message, what the store shall write) holds a range of a block: handing 64 entries on
// costs one reference count and copies no payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/raft/ids.hpp>

namespace promtact::raft {

enum class EntryKind : std::uint8_t {
    noop = 0,          // of a new leader; empty
    command = 1,       // for the state machine
    configuration = 2, // see configuration_entry.hpp
};
inline constexpr std::uint8_t entry_kinds = 3;

/// "noop", "command", "configuration"; "unknown" for another number.
std::string_view to_string(EntryKind kind) noexcept;

/// One entry. Lifetime: data is that of the Entries it was read from.
struct Entry {
    Index index = 0;
    Term term = 0;
    EntryKind kind = EntryKind::noop;
    std::span<const std::byte> data{};
};

/// Entries side by side. What lies here never changes; only the end moves, and never further than
/// the room given at the start, so that nothing moves in memory. One thread at a time appends.
class EntryBlock {
  public:
    /// Requires: bytes_max < 2^32
    EntryBlock(std::size_t entries_max, std::size_t bytes_max);

    [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
        return heads_.size() < heads_.capacity() && bytes <= bytes_.capacity() - bytes_.size();
    }
    /// Requires: fits(data.size())
    void push(Term term, EntryKind kind, std::span<const std::byte> data);

    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(heads_.size());
    }
    [[nodiscard]] Term term(std::uint32_t at) const noexcept { return heads_[at].term; }
    [[nodiscard]] EntryKind kind(std::uint32_t at) const noexcept { return heads_[at].kind; }
    [[nodiscard]] std::uint32_t begin_of(std::uint32_t at) const noexcept {
        return at == 0 ? 0 : heads_[at - 1].end;
    }
    [[nodiscard]] std::span<const std::byte> data(std::uint32_t at) const noexcept {
        return std::span(bytes_).subspan(begin_of(at), heads_[at].end - begin_of(at));
    }

  private:
    struct Head {
        Term term = 0;
        std::uint32_t end = 0; // of its data in bytes_
        EntryKind kind = EntryKind::noop;
    };
    std::vector<Head> heads_{};
    std::vector<std::byte> bytes_{};
};

/// A run of entries with consecutive indexes and terms that do not fall. A value: copies share the
/// block.
class Entries {
  public:
    Entries() = default;
    /// The `count` entries of the block from `at` on, the first having index `first`.
    /// Requires: first >= 1; at + count <= block->size()
    /// The block is shared by everybody who holds entries of it.
    Entries(
        Index first, std::shared_ptr<EntryBlock> block, std::uint32_t at, // shared, see above
        std::uint32_t count);

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
    /// Index of the first entry. Requires: !empty()
    [[nodiscard]] Index first() const noexcept { return first_; }
    /// Requires: !empty()
    [[nodiscard]] Index last() const noexcept { return first_ + count_ - 1; }

    /// The entry at this offset from the first. Requires: offset < size()
    [[nodiscard]] Entry operator[](std::uint32_t offset) const noexcept {
        PROMTACT_ASSERT(offset < count_);
        const std::uint32_t at = at_ + offset;
        return {first_ + offset, block_->term(at), block_->kind(at), block_->data(at)};
    }
    /// Requires: offset < size()
    [[nodiscard]] Term term(std::uint32_t offset) const noexcept {
        PROMTACT_ASSERT(offset < count_);
        return block_->term(at_ + offset);
    }
    /// Requires: offset < size()
    [[nodiscard]] EntryKind kind(std::uint32_t offset) const noexcept {
        PROMTACT_ASSERT(offset < count_);
        return block_->kind(at_ + offset);
    }
    /// Bytes of payload of `count` entries from `offset` on. Requires: offset + count <= size()
    [[nodiscard]] std::uint64_t bytes(std::uint32_t offset, std::uint32_t count) const noexcept;
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes(0, count_); }

    /// Requires: offset + count <= size()
    [[nodiscard]] Entries sub(std::uint32_t offset, std::uint32_t count) const;
    /// Drops all but the first `count`. Requires: count <= size()
    void shorten(std::uint32_t count) noexcept;

    /// Takes the next entries in when they follow in the same block.
    bool join(const Entries& next) noexcept;
    /// Writes one more entry behind the last, when nobody has taken that place and it fits.
    bool extend(Term term, EntryKind kind, std::span<const std::byte> data);

    class Iterator {
      public:
        Iterator(const Entries& of, std::uint32_t offset) : of_(&of), offset_(offset) {}
        Entry operator*() const noexcept { return (*of_)[offset_]; }
        Iterator& operator++() noexcept {
            ++offset_;
            return *this;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
            return a.offset_ == b.offset_;
        }

      private:
        const Entries* of_;
        std::uint32_t offset_;
    };
    [[nodiscard]] Iterator begin() const noexcept { return {*this, 0}; }
    [[nodiscard]] Iterator end() const noexcept { return {*this, count_}; }

  private:
    Index first_ = 0;
    std::shared_ptr<EntryBlock> block_{}; // shared by everybody who holds entries of it
    std::uint32_t at_ = 0;
    std::uint32_t count_ = 0;
};

/// Same indexes, terms, kinds and payload.
bool operator==(const Entries& a, const Entries& b) noexcept;

/// Entries made one by one: by a decoder, a store that opens, a test.
class EntriesBuilder {
  public:
    /// Room for so many; a push beyond it is an assertion. Requires: first >= 1
    EntriesBuilder(Index first, std::size_t entries_max, std::size_t bytes_max);
    EntriesBuilder& push(Term term, EntryKind kind, std::span<const std::byte> data);
    [[nodiscard]] Entries build() const;

  private:
    Index first_;
    std::shared_ptr<EntryBlock> block_; // shared with what build() gives out
};

} // namespace promtact::raft
