// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <memory>

#include <promtact/raft/log.hpp>

namespace promtact::raft {
namespace {

constexpr std::size_t block_entries_min = 16;
constexpr std::size_t block_entries_max = 512;
constexpr std::size_t block_bytes_min = 1024;
constexpr std::size_t block_bytes_max = std::size_t{64} << 10;

/// Room for what comes next: twice what the last block held, within bounds.
Entries begin_block(
    const Entries* last, Index first, Term term, EntryKind kind, std::span<const std::byte> data) {
    const std::size_t entries = last == nullptr ? 0 : last->size();
    const std::size_t bytes = last == nullptr ? 0 : static_cast<std::size_t>(last->bytes());
    EntriesBuilder builder(
        first, std::clamp(2 * entries, block_entries_min, block_entries_max),
        std::max(data.size(), std::clamp(2 * bytes, block_bytes_min, block_bytes_max)));
    return builder.push(term, kind, data).build();
}

} // namespace

std::size_t Log::run_of(Index index) const noexcept {
    PROMTACT_ASSERT(index > base_);
    PROMTACT_ASSERT(index <= last_);
    if (index >= runs_.back().first()) return runs_.size() - 1;
    const auto behind =
        std::upper_bound(runs_.begin(), runs_.end(), index, [](Index wanted, const Entries& run) {
            return wanted < run.first();
        });
    PROMTACT_ASSERT(behind != runs_.begin());
    return static_cast<std::size_t>(behind - runs_.begin()) - 1;
}

std::optional<Term> Log::term(Index index) const noexcept {
    if (index == last_) return last_term_;
    if (index == base_) return base_term_;
    if (index < base_ || index > last_) return std::nullopt;
    const Entries& run = runs_[run_of(index)];
    return run.term(static_cast<std::uint32_t>(index - run.first()));
}

Entry Log::at(Index index) const noexcept {
    const Entries& run = runs_[run_of(index)];
    return run[static_cast<std::uint32_t>(index - run.first())];
}

Index Log::last_of_term(Index at_most, Term term_at_most) const noexcept {
    Index low = base_; // the answer when nothing fits
    Index high = std::min(at_most, last_);
    if (high <= low) return low;
    // Terms do not fall along the log.
    while (low < high) {
        const Index middle = low + (high - low + 1) / 2;
        if (*term(middle) <= term_at_most) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

std::uint64_t Log::bytes(Index first, Index last) const noexcept {
    std::uint64_t sum = 0;
    for (Index next = first; next <= last;) {
        const Entries& run = runs_[run_of(next)];
        const auto offset = static_cast<std::uint32_t>(next - run.first());
        const auto count = static_cast<std::uint32_t>(std::min(last, run.last()) - next + 1);
        sum += run.bytes(offset, count);
        next += count;
    }
    return sum;
}

Index Log::append(Term term, EntryKind kind, std::span<const std::byte> data) {
    PROMTACT_ASSERT(term >= last_term_);
    if (runs_.empty() || !runs_.back().extend(term, kind, data)) {
        const Entries* previous = runs_.empty() ? nullptr : &runs_.back();
        runs_.push_back(begin_block(previous, last_ + 1, term, kind, data));
    }
    last_term_ = term;
    return ++last_;
}

void Log::append(const Entries& entries) {
    PROMTACT_ASSERT(!entries.empty());
    PROMTACT_ASSERT(entries.first() == last_ + 1);
    PROMTACT_ASSERT(entries.term(0) >= last_term_);
    if (runs_.empty() || !runs_.back().join(entries)) runs_.push_back(entries);
    last_ = entries.last();
    last_term_ = entries.term(entries.size() - 1);
}

void Log::truncate(Index keep) {
    PROMTACT_ASSERT(keep >= base_);
    PROMTACT_ASSERT(keep < last_);
    last_term_ = *term(keep);
    while (!runs_.empty() && runs_.back().first() > keep)
        runs_.pop_back();
    if (!runs_.empty())
        runs_.back().shorten(static_cast<std::uint32_t>(keep - runs_.back().first() + 1));
    last_ = keep;
    forget_from(keep + 1);
}

Index Log::limit(Index first, std::uint32_t entries_max, std::uint64_t bytes_max) const noexcept {
    Index last = first; // at least one
    std::uint64_t sum = 0;
    const Index end = std::min(last_, first + entries_max - 1); // never beyond it
    for (std::size_t at = run_of(first); at < runs_.size() && runs_[at].first() <= end; ++at) {
        const Entries& run = runs_[at];
        const Index from = std::max(first, run.first());
        auto offset = static_cast<std::uint32_t>(from - run.first());
        const auto all = static_cast<std::uint32_t>(std::min(end, run.last()) - from + 1);
        if (sum + run.bytes(offset, all) <= bytes_max) { // the usual case
            sum += run.bytes(offset, all);
            last = run.first() + offset + all - 1;
            continue;
        }
        for (std::uint32_t i = 0; i < all; ++i, ++offset) {
            sum += run.bytes(offset, 1);
            if (sum > bytes_max) return last;
            last = run.first() + offset;
        }
    }
    return last;
}

Entries Log::read(Index first, std::uint32_t entries_max, std::uint64_t bytes_max) {
    PROMTACT_ASSERT(entries_max >= 1);
    const Index last = limit(first, entries_max, bytes_max);
    if (run_of(first) != run_of(last)) join_pieces(first, last);
    const Entries& run = runs_[run_of(first)];
    const auto offset = static_cast<std::uint32_t>(first - run.first());
    return run.sub(offset, static_cast<std::uint32_t>(last - first + 1));
}

/// Copies what lies in pieces into one, which takes their place.
void Log::join_pieces(Index first, Index last) {
    const std::size_t from = run_of(first);
    const std::size_t to = run_of(last);
    EntriesBuilder builder(
        first, static_cast<std::size_t>(last - first + 1),
        static_cast<std::size_t>(bytes(first, last)));
    for (Index next = first; next <= last; ++next) {
        const Entry entry = at(next);
        builder.push(entry.term, entry.kind, entry.data);
    }
    std::vector<Entries> pieces;
    const Entries& front = runs_[from];
    if (front.first() < first)
        pieces.push_back(front.sub(0, static_cast<std::uint32_t>(first - front.first())));
    pieces.push_back(builder.build());
    const Entries& back = runs_[to];
    if (back.last() > last) {
        const auto offset = static_cast<std::uint32_t>(last + 1 - back.first());
        pieces.push_back(back.sub(offset, back.size() - offset));
    }
    const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto rest = runs_.erase(begin, begin + static_cast<std::ptrdiff_t>(to - from) + 1);
    runs_.insert(rest, pieces.begin(), pieces.end());
    PROMTACT_ASSERT(run_of(first) == run_of(last));
}

void Log::collect(Index first, Index last, std::vector<Entries>& out) const {
    PROMTACT_ASSERT(first > base_);
    PROMTACT_ASSERT(last <= last_);
    if (first > last) return;
    for (std::size_t at = run_of(first); at < runs_.size() && runs_[at].first() <= last; ++at) {
        const Entries& run = runs_[at];
        const Index from = std::max(first, run.first());
        const Index to = std::min(last, run.last());
        out.push_back(run.sub(
            static_cast<std::uint32_t>(from - run.first()),
            static_cast<std::uint32_t>(to - from + 1)));
    }
}

void Log::compact(Index through) {
    PROMTACT_ASSERT(through >= base_);
    PROMTACT_ASSERT(through <= stable_);
    if (through == base_) return;
    base_term_ = *term(through);
    const auto kept = std::find_if(
        runs_.begin(), runs_.end(), [&](const Entries& run) { return run.last() > through; });
    runs_.erase(runs_.begin(), kept);
    if (!runs_.empty() && runs_.front().first() <= through) {
        Entries& front = runs_.front();
        const auto offset = static_cast<std::uint32_t>(through + 1 - front.first());
        front = front.sub(offset, front.size() - offset);
    }
    base_ = through;
}

void Log::reset(Index base, Term base_term, Index same) {
    runs_.clear();
    base_ = base;
    base_term_ = base_term;
    last_ = base;
    last_term_ = base_term;
    forget_from(same + 1);
    taken_ = base;
}

void Log::forget_from(Index first) noexcept {
    stable_ = std::min(stable_, first - 1);
    taken_ = std::min(taken_, first - 1);
    for (Batch& batch : batches_)
        batch.last = std::min(batch.last, first - 1);
}

void Log::take_unsaved(std::uint64_t number, std::vector<Entries>& out) {
    PROMTACT_ASSERT(batches_.empty() || batches_.back().number < number);
    collect(taken_ + 1, last_, out);
    taken_ = last_;
    batches_.push_back({number, last_});
}

void Log::saved(std::uint64_t number) noexcept {
    const auto rest = std::find_if(
        batches_.begin(), batches_.end(), [&](const Batch& b) { return b.number > number; });
    for (auto batch = batches_.begin(); batch != rest; ++batch)
        stable_ = std::max(stable_, batch->last);
    batches_.erase(batches_.begin(), rest);
    PROMTACT_ASSERT(stable_ <= last_);
}

std::uint64_t Log::batch_of(Index index, std::uint64_t next) const noexcept {
    if (index <= stable_) return 0;
    for (const Batch& batch : batches_)
        if (batch.last >= index) return batch.number;
    return next;
}

} // namespace promtact::raft
