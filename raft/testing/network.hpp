// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A few cores with stores in memory and a network in a list, driven by hand. What must hold always
// is watched at every move: one leader a term, one vote a term, nothing committed is ever replaced,
// match and commit never fall, nothing leaves before it is durable.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <promtact/raft/core.hpp>
#include <promtact/raft/memory_store.hpp>

namespace promtact::raft::testing {

/// A member and all that its owner keeps for it.
struct Member {
    Member(const Options& options, Image image);

    Core core;
    MemoryStore store;
    Output out{};
    bool up = true;
    std::vector<std::string> applied{}; // commands, in order
    Index applied_index = 0;
    std::map<std::uint64_t, Index> reads{}; // context -> index
    std::vector<FailedRead> failed_reads{};
    std::vector<FailedProposals> failed_proposals{};
    std::vector<TransferEnd> transfers{};
    std::size_t installs = 0;
    bool reject_installs = false; // the snapshots that come are damaged
};

/// What one command is to the state machine of this fixture: a line in a list.
std::vector<std::byte> encode_state(const std::vector<std::string>& applied);
std::vector<std::string> decode_state(const std::vector<std::byte>& bytes);

/// A message with these fields and no others.
Message message_of(MessageType type, NodeId from, NodeId to, Term term);
/// Commands from `first` on with these terms; each says "t<term>i<index>".
Entries commands_of(Index first, const std::vector<Term>& terms);
/// A disk of a member of voters with a log of these terms.
Image image_of(
    const std::vector<NodeId>& voters, const std::vector<Term>& terms, HardState hard = {});

/// Options for scripts: timeouts never strike by themselves within a test's time, so that who
/// stands is the test's choice. A leader is still heard for election_ticks only.
Options scripted();

class Network {
  public:
    /// Members 1..count with one configuration, and `learners` more who belong to it as such.
    explicit Network(
        std::size_t count, Options options = scripted(), std::vector<NodeId> learners = {});

    /// Members with these disks.
    explicit Network(const std::map<NodeId, Image>& images, Options options = scripted());

    /// A member without anything, to be added by a change.
    void add_blank(NodeId id);
    Member& operator[](NodeId id);
    Core& core(NodeId id) { return (*this)[id].core; }
    [[nodiscard]] const std::vector<NodeId>& ids() const noexcept { return ids_; }

    // Moves.

    /// Takes what members want done, until nobody wants anything and no message is under way.
    void settle();
    /// One member's outputs; messages go into flight.
    void drain(NodeId id);
    /// One tick for everybody who is up, and settle(), so often.
    void pass(std::uint64_t ticks);
    void deliver(const Message& message);
    /// Messages under way, in order; a test may take them away and deliver them itself.
    std::deque<Message> flight{};
    /// Takes out of flight what fits.
    std::vector<Message> pull(const std::function<bool(const Message&)>& fits);
    /// drain() of everybody, without delivering.
    void drain_all();

    // Faults.

    void cut(NodeId from, NodeId to) { cut_.insert({from, to}); }
    void isolate(NodeId id);
    void heal() { cut_.clear(); }
    void crash(NodeId id);
    /// With options other than those of before, when given.
    void restart(NodeId id);
    /// Messages that are lost in flight.
    std::function<bool(const Message&)> lose{};

    // Scripts.

    /// Makes the member leader: time passes until no other is heard, then it stands.
    void elect(NodeId id);
    /// The one leader of the highest term, or no_node.
    [[nodiscard]] NodeId leader();
    ProposeResult propose(NodeId id, const std::string& command);
    /// The state machine's owner makes a snapshot of what is applied.
    void compact(NodeId id);
    ProposeResult change(NodeId id, std::vector<ConfigurationStep> steps, Force force = Force::no);

    // What must hold.

    /// All logs agree where they claim the same term. Called by settle().
    void check();
    [[nodiscard]] std::size_t committed() const noexcept { return committed_.size(); }
    /// What was applied at each index, by anybody, ever.
    [[nodiscard]] const std::map<Index, std::pair<Term, std::string>>& history() const noexcept {
        return committed_;
    }

  private:
    void watch(Member& member);
    void apply(Member& member);
    void watch_send(const Member& member, const Message& message);

    Options options_;
    std::vector<NodeId> ids_{};
    std::map<NodeId, std::unique_ptr<Member>> members_{};
    std::set<std::pair<NodeId, NodeId>> cut_{};
    std::map<Term, NodeId> leaders_{};
    std::map<std::pair<NodeId, Term>, NodeId> votes_{};
    std::map<Index, std::pair<Term, std::string>> committed_{};
    struct Seen {
        Term term = 0;
        Index commit = 0;
        Index applied = 0;
        std::map<NodeId, Index> match{};
    };
    std::map<NodeId, Seen> seen_{};
};

} // namespace promtact::raft::testing
