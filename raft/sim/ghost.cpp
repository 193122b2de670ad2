// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "ghost.hpp"

#include <algorithm>

namespace promtact::raft_sim {
namespace {

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

Digest128 content_of(const raft::Entry& entry) {
    TraceHash hash;
    hash.add<1>({{static_cast<std::uint64_t>(entry.kind)}});
    hash.add(entry.data);
    return hash.value();
}

/// Whether the disk holds the entry, or a snapshot of the state after it.
bool holds(const raft::Image& disk, raft::Index index, raft::Term term) {
    if (disk.snapshot.index >= index) return true;
    const auto found = disk.entries.find(index);
    return found != disk.entries.end() && found->second.term == term;
}

raft::Index last_on(const raft::Image& disk) {
    const raft::Index last = disk.entries.empty() ? 0 : disk.entries.rbegin()->first;
    return std::max(last, disk.snapshot.index);
}

} // namespace

void Ghost::breaks(std::string property, std::string text, std::string key) {
    if (found_) return;
    found_ = Found{std::move(property), {.text = std::move(text), .key = std::move(key)}};
}

void Ghost::on_crash(raft::NodeId member) {
    lives_.erase(member);
}

void Ghost::on_state(const raft::Core& core) {
    Life& life = lives_[core.id()];
    const std::string who = "member " + number(core.id());
    if (core.term() < life.term)
        breaks("terms never fall", who + " is back in term " + number(core.term()), "term");
    if (core.commit() < life.commit || core.applied() < life.applied)
        breaks("what is committed stays", who + " takes a commit back", "commit");
    if (core.fault() != raft::Fault::none) {
        breaks(
            "no member stops", who + " stopped: " + std::string(to_string(core.fault())),
            std::string(to_string(core.fault())));
    }
    const bool leads = core.role() == raft::Role::leader;
    const bool anew = leads && (life.role != raft::Role::leader || life.term != core.term());
    if (core.term() != life.term || !leads) life.match.clear();
    const raft::Index before = life.commit;
    life.role = core.role();
    life.term = core.term();
    life.commit = core.commit();
    life.applied = core.applied();
    if (anew) on_leader(core);
    if (!leads) return;
    look_at_progress(core, life);
    if (core.commit() > before) look_at_commit(core, before);
}

/// S1: one leader a term, ever. S4: it has every entry that was committed before.
void Ghost::on_leader(const raft::Core& core) {
    const auto [first, fresh] = leaders_.emplace(core.term(), core.id());
    if (first->second != core.id()) {
        breaks(
            "one leader a term",
            "members " + number(first->second) + " and " + number(core.id()) + " lead term " +
                number(core.term()),
            "two leaders");
    }
    for (auto entry = committed_.upper_bound(core.log().base()); entry != committed_.end();
         ++entry) {
        if (entry->second.first > core.term()) continue;
        if (core.log().matches(entry->first, entry->second.first)) continue;
        return breaks(
            "a leader has what was committed",
            "member " + number(core.id()) + " leads term " + number(core.term()) +
                " without committed entry " + number(entry->first),
            "leader lacks");
    }
}

/// S8: what a leader believes of a follower is true of its disk, and never falls.
void Ghost::look_at_progress(const raft::Core& core, Life& life) {
    for (const Member& member : members_) {
        const raft::NodeId id = member.core().id();
        const raft::Progress* follower = core.progress(id);
        if (follower == nullptr) {
            life.match.erase(id);
            continue;
        }
        const std::string who = number(core.id()) + " of " + number(id);
        if (follower->match >= follower->next || follower->next > core.log().last() + 1)
            breaks("progress is in order", "match and next of " + who, "order");
        raft::Index& known = life.match[id];
        if (follower->match < known) breaks("progress is in order", "match of " + who, "falls");
        known = follower->match;
        if (follower->match > last_on(member.disk()))
            breaks("progress is true", who + " is more than its disk has", "match");
    }
}

/// S9: a quorum of the configuration holds it on disk. S10: counted for the leader's own term only.
void Ghost::look_at_commit(const raft::Core& core, raft::Index before) {
    const raft::Index index = core.commit();
    const raft::Term term = core.log().term(index).value_or(0);
    if (term != core.term() && before >= 1 && index > before) {
        // Nothing but a snapshot or an entry of an earlier leadership's commit may do this.
        if (committed_.count(index) == 0) {
            breaks(
                "commits are counted in the leader's own term",
                "entry " + number(index) + " of term " + number(term) + " in term " +
                    number(core.term()),
                "old term");
        }
    }
    const bool quorum = raft::has_quorum(core.configuration(), [&](raft::NodeId voter) {
        return voter <= members_.size() && holds(members_[voter - 1].disk(), index, term);
    });
    if (!quorum) {
        breaks(
            "what is committed is on a quorum's disks",
            "entry " + number(index) + ", which member " + number(core.id()) + " commits",
            "no quorum");
    }
}

/// S3: an index and a term name one entry, with one entry before it.
void Ghost::on_entries(raft::NodeId member, const raft::Entries& entries) {
    const raft::Log& log = members_[member - 1].core().log();
    for (const raft::Entry& entry : entries) {
        const Written written{content_of(entry), log.term(entry.index - 1).value_or(0)};
        const auto [known, fresh] = entries_.try_emplace({entry.index, entry.term}, written);
        const bool base = entry.index - 1 == log.base(); // its term may be known no longer
        if (known->second.content == written.content &&
            (base || known->second.before == written.before || entry.index - 1 < log.base()))
            continue;
        breaks(
            "logs that agree at an entry agree before it",
            "member " + number(member) + " has another entry " + number(entry.index) + " of term " +
                number(entry.term),
            "log matching");
    }
}

/// S5: what was applied at an index is what everybody applies there, for ever.
void Ghost::on_apply(raft::NodeId member, const raft::Entry& entry) {
    const std::pair<raft::Term, Digest128> what{entry.term, content_of(entry)};
    const auto [known, fresh] = committed_.try_emplace(entry.index, what);
    if (known->second == what) return;
    breaks(
        "an index holds one committed entry",
        "member " + number(member) + " applies another at " + number(entry.index), "two entries");
}

/// S17: replicas with the same log up to here are in the same state.
void Ghost::on_digest(raft::NodeId member, raft::Index index, const Digest128& digest) {
    const auto [known, fresh] = digests_.try_emplace(index, digest);
    if (known->second == digest) return;
    breaks(
        "replicas agree",
        "member " + number(member) + " is in another state after entry " + number(index), "state");
}

void Ghost::on_send(raft::NodeId member, const raft::Message& message) {
    if (message.type == raft::MessageType::vote_reply && !message.reject) {
        const auto [vote, fresh] = votes_.try_emplace({member, message.term}, message.to);
        if (vote->second != message.to) { // S2
            breaks(
                "one vote a term",
                "member " + number(member) + " votes for " + number(vote->second) + " and " +
                    number(message.to) + " in term " + number(message.term),
                "two votes");
        }
    }
    look_at_promise(members_[member - 1].disk(), message);
}

/// S7, S11: a crash at the moment of sending would not break what the message promises.
void Ghost::look_at_promise(const raft::Image& disk, const raft::Message& m) {
    using Type = raft::MessageType;
    raft::Term& term = durable_terms_[m.from];
    if (disk.hard.term < term)
        breaks("durable terms never fall", raft::describe(m), "durable term");
    term = std::max(term, disk.hard.term);
    bool kept = true;
    if (m.type != Type::pre_vote && m.type != Type::pre_vote_reply) kept = disk.hard.term >= m.term;
    if (m.type == Type::vote) kept = kept && (disk.hard.term > m.term || disk.hard.vote == m.from);
    if (m.type == Type::vote_reply && !m.reject)
        kept = kept && (disk.hard.term > m.term || disk.hard.vote == m.to);
    if (m.type == Type::append_reply && !m.reject) kept = kept && last_on(disk) >= m.index;
    // A newer snapshot may have taken the place of the one that the leader sent first.
    const raft::Index partial = disk.partial ? disk.partial->meta.index : 0;
    if (m.type == Type::snapshot_reply && !m.reject && m.hint > 0) {
        kept = kept && (disk.snapshot.index >= m.index || partial > m.index ||
                        (partial == m.index && disk.partial_state.size() >= m.hint));
    }
    if (kept) return;
    breaks(
        "promises are durable",
        raft::describe(m) + ", and the disk has term " + number(disk.hard.term) + ", vote " +
            number(disk.hard.vote) + ", entries up to " + number(last_on(disk)) + ", snapshot " +
            number(disk.snapshot.index) + " and " + number(disk.partial_state.size()) +
            " bytes of " + number(partial),
        std::string(to_string(m.type)));
}

} // namespace promtact::raft_sim
