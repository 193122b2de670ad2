// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <utility>

#include <promtact/raft/entries.hpp>

namespace promtact::raft {

std::string_view to_string(EntryKind kind) noexcept {
    switch (kind) {
    case EntryKind::noop:
        return "noop";
    case EntryKind::command:
        return "command";
    case EntryKind::configuration:
        return "configuration";
    }
    return "unknown";
}

EntryBlock::EntryBlock(std::size_t entries_max, std::size_t bytes_max) {
    PROMTACT_ASSERT(bytes_max < (std::uint64_t{1} << 32));
    heads_.reserve(entries_max);
    bytes_.reserve(bytes_max);
}

void EntryBlock::push(Term term, EntryKind kind, std::span<const std::byte> data) {
    PROMTACT_ASSERT(fits(data.size()));
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    heads_.push_back({term, static_cast<std::uint32_t>(bytes_.size()), kind});
}

Entries::Entries(
    Index first, std::shared_ptr<EntryBlock> block, // shared by all who hold entries of it
    std::uint32_t at, std::uint32_t count)
    : first_(first), block_(std::move(block)), at_(at), count_(count) {
    PROMTACT_ASSERT(first >= 1);
    PROMTACT_ASSERT(block_ != nullptr);
    PROMTACT_ASSERT(std::uint64_t{at} + count <= block_->size());
}

std::uint64_t Entries::bytes(std::uint32_t offset, std::uint32_t count) const noexcept {
    PROMTACT_ASSERT(offset <= count_);
    PROMTACT_ASSERT(count <= count_ - offset);
    if (count == 0) return 0;
    const std::uint32_t at = at_ + offset;
    return block_->begin_of(at + count) - block_->begin_of(at);
}

Entries Entries::sub(std::uint32_t offset, std::uint32_t count) const {
    PROMTACT_ASSERT(offset <= count_);
    PROMTACT_ASSERT(count <= count_ - offset);
    if (count == 0) return {};
    return {first_ + offset, block_, at_ + offset, count};
}

void Entries::shorten(std::uint32_t count) noexcept {
    PROMTACT_ASSERT(count <= count_);
    count_ = count;
}

bool Entries::join(const Entries& next) noexcept {
    if (next.block_ != block_ || at_ + count_ != next.at_) return false;
    PROMTACT_ASSERT(next.first_ == first_ + count_);
    count_ += next.count_;
    return true;
}

bool Entries::extend(Term term, EntryKind kind, std::span<const std::byte> data) {
    if (block_ == nullptr || at_ + count_ != block_->size() || !block_->fits(data.size()))
        return false;
    block_->push(term, kind, data);
    ++count_;
    return true;
}

bool operator==(const Entries& a, const Entries& b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::uint32_t i = 0; i < a.size(); ++i) {
        const Entry x = a[i];
        const Entry y = b[i];
        if (x.index != y.index || x.term != y.term || x.kind != y.kind) return false;
        if (!std::equal(x.data.begin(), x.data.end(), y.data.begin(), y.data.end())) return false;
    }
    return true;
}

EntriesBuilder::EntriesBuilder(Index first, std::size_t entries_max, std::size_t bytes_max)
    // Shared with what build() gives out.
    : first_(first), block_(std::make_shared<EntryBlock>(entries_max, bytes_max)) {
    PROMTACT_ASSERT(first >= 1);
}

EntriesBuilder& EntriesBuilder::push(Term term, EntryKind kind, std::span<const std::byte> data) {
    block_->push(term, kind, data);
    return *this;
}

Entries EntriesBuilder::build() const {
    if (block_->size() == 0) return {};
    return {first_, block_, 0, block_->size()};
}

} // namespace promtact::raft
