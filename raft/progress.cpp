// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/assert.hpp>
#include <promtact/raft/progress.hpp>

namespace promtact::raft {

Window::Window(std::uint32_t messages_max, std::uint64_t bytes_max)
    : messages_max_(messages_max), bytes_max_(bytes_max) {
    PROMTACT_ASSERT(messages_max >= 1);
    PROMTACT_ASSERT(bytes_max >= 1);
}

void Window::add(Index last, std::uint64_t bytes) {
    PROMTACT_ASSERT(!full());
    if (ring_.empty()) ring_.resize(messages_max_);
    ring_[(first_ + count_) % messages_max_] = {last, bytes};
    ++count_;
    bytes_ += bytes;
    PROMTACT_ASSERT(count_ <= messages_max_);
}

void Window::free_through(Index match) noexcept {
    while (count_ > 0 && ring_[first_].last <= match) {
        PROMTACT_ASSERT(bytes_ >= ring_[first_].bytes);
        bytes_ -= ring_[first_].bytes;
        first_ = (first_ + 1) % messages_max_;
        --count_;
    }
    PROMTACT_ASSERT(count_ > 0 || bytes_ == 0);
}

void Window::clear() noexcept {
    count_ = 0;
    bytes_ = 0;
    first_ = 0;
}

std::string_view to_string(ProgressState state) noexcept {
    switch (state) {
    case ProgressState::probe:
        return "probe";
    case ProgressState::replicate:
        return "replicate";
    case ProgressState::snapshot:
        return "snapshot";
    }
    return "unknown";
}

void Progress::become_probe() {
    state = ProgressState::probe;
    next = match + 1;
    probe_sent = false;
    ask = false;
    window.clear();
}

void Progress::become_replicate() {
    become_probe();
    state = ProgressState::replicate;
}

void Progress::become_snapshot(const SnapshotMeta& meta) {
    PROMTACT_ASSERT(meta.index > match);
    become_probe();
    state = ProgressState::snapshot;
    snapshot = meta;
    offset = 0;
    chunk_sent = false;
    chunk_ticks = 0;
}

bool Progress::acknowledge(Index index) noexcept {
    probe_sent = false;
    if (index <= match) return false;
    match = index;
    next = std::max(next, match + 1);
    window.free_through(match);
    PROMTACT_ASSERT(match < next);
    return true;
}

bool Progress::refuse(Index index, Index hint) noexcept {
    if (index <= match) return false; // answered before what is known now
    if (state == ProgressState::replicate) {
        if (index >= next) return false;
        become_probe();
        next = std::clamp(hint + 1, match + 1, index);
        return true;
    }
    if (state != ProgressState::probe || index != next - 1) return false;
    next = std::clamp(hint + 1, match + 1, index);
    probe_sent = false;
    PROMTACT_ASSERT(match < next);
    return true;
}

} // namespace promtact::raft
