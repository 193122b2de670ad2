// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What must hold of Raft, seen with the history of all members and with what their disks really
// hold. Names S1 to S17 are those of docs/decisions/0070-what-the-ghost-of-raft-sees.md.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <promtact/engine/invariant.hpp>

#include "member.hpp"

namespace promtact::raft_sim {

class Ghost final : public Witness {
  public:
    /// Lifetime: members outlive it.
    explicit Ghost(const std::deque<Member>& members) : members_(members) {}

    void on_state(const raft::Core& core) override;
    void on_entries(raft::NodeId member, const raft::Entries& entries) override;
    void on_apply(raft::NodeId member, const raft::Entry& entry) override;
    void on_digest(raft::NodeId member, raft::Index index, const Digest128& digest) override;
    void on_send(raft::NodeId member, const raft::Message& message) override;
    /// The member lost its memory: what only has to hold within one life begins anew.
    void on_crash(raft::NodeId member);

    /// The first property that was broken, and how.
    struct Found {
        std::string property{};
        engine::Broken broken{};
    };
    [[nodiscard]] const std::optional<Found>& found() const noexcept { return found_; }
    /// The highest index that anybody applied.
    [[nodiscard]] raft::Index committed() const noexcept {
        return committed_.empty() ? 0 : committed_.rbegin()->first;
    }
    [[nodiscard]] std::size_t leaders() const noexcept { return leaders_.size(); }

  private:
    struct Life {
        raft::Role role = raft::Role::follower;
        raft::Term term = 0;
        raft::Index commit = 0;
        raft::Index applied = 0;
        std::map<raft::NodeId, raft::Index> match{};
    };
    void on_leader(const raft::Core& core);
    void look_at_progress(const raft::Core& core, Life& life);
    void look_at_commit(const raft::Core& core, raft::Index before);
    void look_at_promise(const raft::Image& disk, const raft::Message& message);
    void breaks(std::string property, std::string text, std::string key);

    const std::deque<Member>& members_;
    std::optional<Found> found_{};
    std::map<raft::Term, raft::NodeId> leaders_{};
    std::map<std::pair<raft::NodeId, raft::Term>, raft::NodeId> votes_{};
    struct Written {
        Digest128 content{};
        raft::Term before = 0; // term of the entry before it
    };
    std::map<std::pair<raft::Index, raft::Term>, Written> entries_{};
    std::map<raft::Index, std::pair<raft::Term, Digest128>> committed_{};
    std::map<raft::Index, Digest128> digests_{};
    std::map<raft::NodeId, Life> lives_{};
    std::map<raft::NodeId, raft::Term> durable_terms_{};
};

} // namespace promtact::raft_sim
