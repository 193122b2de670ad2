// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One member with all that a real one has around its core: a store that becomes durable later, the
// state machine, and the clients that wait.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/choice.hpp>
#include <promtact/engine/client.hpp>
#include <promtact/kv/state_machine.hpp>
#include <promtact/raft/core.hpp>
#include <promtact/raft/memory_store.hpp>

namespace promtact::raft_sim {

/// What all members of a run have in common.
struct Settings {
    std::uint32_t nodes = 3;
    std::uint64_t seed = 1;
    std::uint64_t sync_ticks_max = 2;  // a batch is durable after 0 to so many ticks
    std::uint64_t snapshot_every = 64; // entries
    raft::Options raft{
        .snapshot_chunk_bytes = 256,
        .trailing_entries = 16,
    };
};

/// What a member did, told as it happens. Watched by Ghost.
class Witness {
  public:
    Witness() = default;
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    virtual ~Witness() = default;
    /// After every input and every take().
    virtual void on_state(const raft::Core& core) = 0;
    virtual void on_entries(raft::NodeId member, const raft::Entries& entries) = 0;
    virtual void on_apply(raft::NodeId member, const raft::Entry& entry) = 0;
    /// The state after the entry at `index`.
    virtual void on_digest(raft::NodeId member, raft::Index index, const Digest128& digest) = 0;
    virtual void on_send(raft::NodeId member, const raft::Message& message) = 0;
};

class Member {
  public:
    /// A member of a new cluster of settings.nodes voters.
    Member(const Settings& settings, raft::NodeId id);

    void tick();
    void step(const raft::Message& message) { core_->step(message); }
    /// Does what the core wants done; what is to be sent is appended to `sent`.
    void drain(Witness& witness, std::vector<raft::Message>& sent);
    /// Memory is lost. Of the batch that was being written a part may be durable.
    void crash();
    void restart();

    /// A put of this number, when the core takes itself for the leader.
    bool propose(std::uint64_t number);
    void submit(const engine::ClientOperation& operation);
    std::vector<engine::ClientAnswer>& answers() noexcept { return answers_; }

    [[nodiscard]] const raft::Core& core() const noexcept { return *core_; }
    [[nodiscard]] const raft::Image& disk() const noexcept { return store_->image(); }
    [[nodiscard]] std::uint64_t installs() const noexcept { return installs_; }
    [[nodiscard]] std::uint64_t compactions() const noexcept { return compactions_; }

  private:
    void open(raft::Image image);
    void take_proofs();
    void answer_reads();
    void send(Witness& witness, std::vector<raft::Message>& sent);
    void apply(Witness& witness);
    void apply(const raft::Entry& entry);
    void receive_snapshot();
    void make_snapshot();
    bool load_machine(std::span<const std::byte> state);

    struct Waiting {
        raft::Term term = 0;
        engine::ClientOperation operation{};
    };

    Settings settings_;
    raft::NodeId id_;
    ChoiceStream syncs_;
    ChoiceStream tears_;

    // On disk.
    std::optional<raft::MemoryStore> store_{};
    std::uint32_t incarnation_ = 0;

    // In memory.
    std::optional<raft::Core> core_{};
    raft::Output out_{};
    std::uint64_t now_ = 0;
    std::deque<std::uint64_t> due_{}; // of each batch that is being written, in ticks
    kv::StateMachine machine_{};
    std::map<raft::Index, Waiting> waiting_{};
    std::map<std::uint64_t, engine::ClientOperation> reads_{}; // by context
    std::vector<engine::ClientAnswer> answers_{};

    std::uint64_t batches_ = 0; // of all lives: positions of choices
    std::uint64_t installs_ = 0;
    std::uint64_t compactions_ = 0;
};

} // namespace promtact::raft_sim
