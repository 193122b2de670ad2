// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/raft/memory_store.hpp>

namespace promtact::raft {

Recovered Image::recovered() const {
    Recovered found;
    found.hard = hard;
    found.snapshot = snapshot;
    found.partial = partial;
    if (entries.empty()) return found;
    std::size_t bytes = 0;
    for (const auto& [index, entry] : entries)
        bytes += entry.data.size();
    EntriesBuilder builder(entries.begin()->first, entries.size(), bytes);
    for (const auto& [index, entry] : entries)
        builder.push(entry.term, entry.kind, entry.data);
    found.entries.push_back(builder.build());
    return found;
}

Result<void> MemoryStore::begin(const Output& output) {
    PROMTACT_ASSERT(output.must_persist());
    if (broken) return Error{Errc::io, 0, "the store is broken"};
    pending_.push_back(
        {output.id, output.chunk, output.installed, output.entries, output.hard_state});
    if (!held) complete();
    return {};
}

Result<std::optional<Durable>> MemoryStore::next() {
    if (broken) return Error{Errc::io, 0, "the store is broken"};
    if (!durable_) return std::optional<Durable>{};
    last_ = proof(*durable_);
    durable_.reset();
    return last_;
}

void MemoryStore::complete(std::size_t batches) {
    for (; batches > 0 && !pending_.empty(); --batches) {
        write(pending_.front(), ~std::size_t{0});
        durable_ = pending_.front().id;
        pending_.pop_front();
    }
}

void MemoryStore::complete_in_part(std::size_t parts) {
    if (!pending_.empty()) write(pending_.front(), parts);
    pending_.clear();
}

/// In the order that Output asks for; each entry is a write of its own.
void MemoryStore::write(const Batch& batch, std::size_t parts) {
    const auto go_on = [&parts] {
        if (parts == 0) return false;
        if (parts != ~std::size_t{0}) --parts;
        return true;
    };
    if (batch.chunk && go_on()) {
        const SnapshotChunk& chunk = *batch.chunk->chunk;
        image_.partial_state.resize(chunk.offset);
        image_.partial_state.insert(
            image_.partial_state.end(), chunk.data.begin(), chunk.data.end());
        image_.partial =
            PartialSnapshot{batch.chunk->from, chunk.meta, chunk.offset + chunk.length};
    }
    if (batch.installed && go_on()) {
        image_.snapshot = *batch.installed;
        image_.state = image_.partial_state;
        image_.partial.reset();
    }
    if (batch.installed && go_on()) image_.entries.clear();
    for (const Entries& run : batch.entries) {
        for (const Entry& entry : run) {
            if (!go_on()) return;
            image_.entries.erase(image_.entries.lower_bound(entry.index), image_.entries.end());
            image_.entries[entry.index] = {
                entry.term, entry.kind, {entry.data.begin(), entry.data.end()}};
        }
    }
    if (batch.hard && go_on()) image_.hard = *batch.hard;
}

void MemoryStore::save_snapshot(const SnapshotMeta& meta, std::vector<std::byte> state) {
    image_.snapshot = meta;
    image_.state = std::move(state);
}

void MemoryStore::release(Index through) {
    image_.entries.erase(image_.entries.begin(), image_.entries.upper_bound(through));
}

} // namespace promtact::raft
