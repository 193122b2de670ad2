// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A store in memory that can be held back, crashed between any two writes, and opened again.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <promtact/raft/configuration.hpp>
#include <promtact/raft/recovered.hpp>
#include <promtact/raft/store.hpp>

namespace promtact::raft {

struct StoredEntry {
    Term term = 0;
    EntryKind kind = EntryKind::noop;
    std::vector<std::byte> data{};
};

/// What a disk holds.
struct Image {
    HardState hard{};
    SnapshotMeta snapshot{};
    std::vector<std::byte> state{}; // of the snapshot
    std::map<Index, StoredEntry> entries{};
    std::optional<PartialSnapshot> partial{};
    std::vector<std::byte> partial_state{};

    [[nodiscard]] Recovered recovered() const;
};

/// Keeps batches until they are made durable, which is at once unless `held`. Single-threaded.
class MemoryStore final : public Store {
  public:
    explicit MemoryStore(Image image = {}) : image_(std::move(image)) {}

    Result<void> begin(const Output& output) override;
    Result<std::optional<Durable>> next() override;

    /// Makes the next `batches` of those that were begun durable.
    void complete(std::size_t batches = ~std::size_t{0});
    /// As complete(), but only the first `parts` writes of the next batch: then the machine stops.
    void complete_in_part(std::size_t parts);
    /// Says a second time what it said last.
    [[nodiscard]] std::optional<Durable> last_proof() const { return last_; }
    [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }

    /// A snapshot made here.
    void save_snapshot(const SnapshotMeta& meta, std::vector<std::byte> state);
    void release(Index through);
    [[nodiscard]] Image& image() noexcept { return image_; }
    [[nodiscard]] const Image& image() const noexcept { return image_; }

    bool held = false; // batches wait for complete()
    bool broken = false;

  private:
    struct Batch {
        BatchId id{};
        std::optional<ReceivedChunk> chunk{};
        std::optional<SnapshotMeta> installed{};
        std::vector<Entries> entries{};
        std::optional<HardState> hard{};
    };
    void write(const Batch& batch, std::size_t parts);

    Image image_;
    std::deque<Batch> pending_{};
    std::optional<BatchId> durable_{};
    std::optional<Durable> last_{};
};

} // namespace promtact::raft
