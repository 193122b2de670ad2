// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "network.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>

namespace promtact::raft::testing {
namespace {

Core open(const Options& options, const Image& image) {
    auto core = Core::open(options, image.recovered());
    if (!core) ADD_FAILURE() << options.id << ": " << core.error().context;
    return std::move(core).value();
}

} // namespace

Options scripted() {
    Options options;
    options.seed = 7;
    options.priority = 100;
    options.trailing_entries = 0;
    return options;
}

Member::Member(const Options& options, Image image)
    : core(open(options, image)), store(std::move(image)),
      applied(decode_state(store.image().state)), applied_index(core.applied()) {}

std::vector<std::byte> encode_state(const std::vector<std::string>& applied) {
    std::vector<std::byte> bytes;
    for (const std::string& line : applied) {
        const auto part = bytes_of(line);
        bytes.insert(bytes.end(), part.begin(), part.end());
        bytes.push_back(std::byte{'\n'});
    }
    return bytes;
}

std::vector<std::string> decode_state(const std::vector<std::byte>& bytes) {
    std::vector<std::string> lines;
    std::string line;
    for (const std::byte byte : bytes) {
        if (byte != std::byte{'\n'}) {
            line += static_cast<char>(byte);
            continue;
        }
        lines.push_back(line);
        line.clear();
    }
    return lines;
}

Message message_of(MessageType type, NodeId from, NodeId to, Term term) {
    Message message;
    message.type = type;
    message.from = from;
    message.to = to;
    message.term = term;
    return message;
}

Entries commands_of(Index first, const std::vector<Term>& terms) {
    EntriesBuilder builder(first, terms.size(), 64 * terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const std::string text = "t" + std::to_string(terms[i]) + "i" + std::to_string(first + i);
        builder.push(terms[i], EntryKind::command, bytes_of(text));
    }
    return builder.build();
}

Image image_of(const std::vector<NodeId>& voters, const std::vector<Term>& terms, HardState hard) {
    Image image;
    image.snapshot.configuration = make_configuration(voters);
    if (!terms.empty()) hard.term = std::max(hard.term, terms.back());
    image.hard = hard;
    for (const Entry& entry : commands_of(1, terms)) {
        image.entries[entry.index] = {
            entry.term, entry.kind, {entry.data.begin(), entry.data.end()}};
    }
    return image;
}

Network::Network(const std::map<NodeId, Image>& images, Options options) : options_(options) {
    for (const auto& [id, image] : images) {
        ids_.push_back(id);
        options_.id = id;
        members_[id] = std::make_unique<Member>(options_, image);
    }
}

Network::Network(std::size_t count, Options options, std::vector<NodeId> learners)
    : options_(options) {
    std::vector<NodeId> voters;
    for (NodeId id = 1; id <= count; ++id)
        voters.push_back(id);
    Image image;
    image.snapshot.configuration = make_configuration(std::move(voters), std::move(learners));
    ids_ = members_of(image.snapshot.configuration);
    for (const NodeId id : ids_) {
        options_.id = id;
        members_[id] = std::make_unique<Member>(options_, image);
    }
}

void Network::add_blank(NodeId id) {
    options_.id = id;
    members_[id] = std::make_unique<Member>(options_, Image{});
    ids_.push_back(id);
}

Member& Network::operator[](NodeId id) {
    const auto found = members_.find(id);
    PROMTACT_ASSERT(found != members_.end());
    return *found->second;
}

void Network::settle() {
    for (std::size_t moves = 0;; ++moves) {
        ASSERT_LT(moves, 100'000U) << "messages answer each other for ever";
        drain_all();
        if (flight.empty()) break;
        const Message message = flight.front();
        flight.pop_front();
        deliver(message);
    }
    check();
}

void Network::drain_all() {
    for (const NodeId id : ids_)
        drain(id);
}

void Network::drain(NodeId id) {
    Member& member = (*this)[id];
    if (!member.up) return;
    for (std::size_t rounds = 0;; ++rounds) {
        ASSERT_LT(rounds, 1000U) << id << " never has enough";
        const auto proof = member.store.next();
        if (!proof) {
            member.core.storage_failed();
        } else if (*proof) {
            member.core.persisted(**proof);
        }
        watch(member);
        if (!member.core.has_output()) break;
        member.core.take(member.out);
        if (member.out.must_persist() && !member.store.begin(member.out))
            member.core.storage_failed();
        for (Message& message : member.out.messages) {
            if (message.chunk != nullptr) {
                auto chunk = std::make_shared<SnapshotChunk>(*message.chunk);
                const auto& state = member.store.image().state;
                EXPECT_EQ(chunk->meta, member.store.image().snapshot);
                const auto begin = state.begin() + static_cast<std::ptrdiff_t>(chunk->offset);
                chunk->data.assign(begin, begin + chunk->length);
                message.chunk = std::move(chunk);
            }
            watch_send(member, message);
            flight.push_back(std::move(message));
        }
        apply(member);
        watch(member);
    }
}

void Network::apply(Member& member) {
    const Output& out = member.out;
    if (out.installed) {
        member.applied = decode_state(member.store.image().partial_state);
        member.applied_index = out.installed->index;
        ++member.installs;
    }
    for (const Entries& run : out.apply) {
        for (const Entry& entry : run) {
            EXPECT_EQ(entry.index, member.applied_index + 1);
            member.applied_index = entry.index;
            const std::pair<Term, std::string> what{entry.term, std::string(text_of(entry.data))};
            const auto [place, fresh] = committed_.emplace(entry.index, what);
            EXPECT_EQ(place->second, what) << "index " << entry.index << " was committed otherwise";
            if (entry.kind == EntryKind::command) member.applied.push_back(what.second);
        }
    }
    for (const ReadyRead& read : out.reads) {
        EXPECT_LE(read.index, member.applied_index);
        member.reads[read.context] = read.index;
    }
    const auto add = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    add(member.failed_reads, out.failed_reads);
    add(member.failed_proposals, out.failed_proposals);
    if (out.transfer) member.transfers.push_back(*out.transfer);
    if (out.released != 0) member.store.release(out.released);
    if (!out.received) return;
    EXPECT_EQ(member.store.image().partial_state.size(), out.received->bytes);
    if (member.reject_installs) {
        member.core.install_failed(out.received->index);
    } else {
        member.core.install(out.received->index);
    }
}

/// At the moment of sending a crash would not break what the message promises.
void Network::watch_send(const Member& member, const Message& m) {
    const Image& disk = member.store.image();
    const bool asks = m.type == MessageType::pre_vote || m.type == MessageType::pre_vote_reply;
    if (!asks) {
        EXPECT_GE(disk.hard.term, m.term) << describe(m);
    }
    if (m.type == MessageType::vote) {
        EXPECT_TRUE(disk.hard.term > m.term || disk.hard.vote == m.from) << describe(m);
    }
    if (m.type == MessageType::vote_reply && !m.reject) {
        EXPECT_TRUE(disk.hard.term > m.term || disk.hard.vote == m.to) << describe(m);
        const auto [vote, fresh] = votes_.emplace(std::pair{m.from, m.term}, m.to);
        EXPECT_EQ(vote->second, m.to) << m.from << " votes twice in term " << m.term;
    }
    if (m.type == MessageType::append_reply && !m.reject && m.index > 0) {
        const Index last = disk.entries.empty() ? 0 : disk.entries.rbegin()->first;
        EXPECT_GE(std::max(last, disk.snapshot.index), m.index) << describe(m);
    }
    if (m.type == MessageType::snapshot_reply && !m.reject && m.hint > 0) {
        EXPECT_GE(disk.partial_state.size(), m.hint) << describe(m);
    }
}

void Network::watch(Member& member) {
    const Core& core = member.core;
    Seen& seen = seen_[core.id()];
    EXPECT_GE(core.term(), seen.term);
    EXPECT_GE(core.commit(), seen.commit);
    EXPECT_GE(core.applied(), seen.applied);
    EXPECT_LE(core.commit(), core.log().last());
    if (core.role() != Role::leader || core.term() != seen.term) seen.match.clear();
    seen.term = core.term();
    seen.commit = core.commit();
    seen.applied = core.applied();
    if (core.role() != Role::leader) return;
    const auto [first, fresh] = leaders_.emplace(core.term(), core.id());
    EXPECT_EQ(first->second, core.id()) << "two leaders in term " << core.term();
    for (const NodeId id : ids_) {
        const Progress* follower = core.progress(id);
        if (follower == nullptr) {
            seen.match.erase(id); // left, and may come back as somebody new
            continue;
        }
        EXPECT_GE(follower->match, seen.match[id]);
        EXPECT_LT(follower->match, follower->next);
        EXPECT_LE(follower->next, core.log().last() + 1);
        seen.match[id] = follower->match;
    }
    for (const auto& [index, what] : committed_) {
        if (index <= core.log().base() || what.first > core.term()) continue;
        EXPECT_TRUE(core.log().matches(index, what.first))
            << "leader " << core.id() << " lacks committed entry " << index;
    }
}

void Network::check() {
    for (const NodeId a : ids_) {
        for (const NodeId b : ids_) {
            if (a >= b) continue;
            const Log& x = core(a).log();
            const Log& y = core(b).log();
            bool same = false; // from here down
            for (Index i = std::min(x.last(), y.last()); i > std::max(x.base(), y.base()); --i) {
                const bool equal = x.term(i) == y.term(i);
                EXPECT_TRUE(equal || !same) << a << " and " << b << " differ at " << i;
                same = same || equal;
            }
        }
    }
}

void Network::pass(std::uint64_t ticks) {
    for (; ticks > 0; --ticks) {
        for (const NodeId id : ids_)
            if ((*this)[id].up) core(id).tick();
        settle();
    }
}

void Network::deliver(const Message& message) {
    if (members_.find(message.to) == members_.end() || !(*this)[message.to].up) return;
    if (cut_.count({message.from, message.to}) > 0 || (lose && lose(message))) return;
    core(message.to).step(message);
    watch((*this)[message.to]);
}

std::vector<Message> Network::pull(const std::function<bool(const Message&)>& fits) {
    std::vector<Message> pulled;
    std::deque<Message> rest;
    for (Message& message : flight) {
        if (fits(message)) {
            pulled.push_back(std::move(message));
        } else {
            rest.push_back(std::move(message));
        }
    }
    flight.swap(rest);
    return pulled;
}

void Network::isolate(NodeId id) {
    for (const NodeId other : ids_) {
        cut(id, other);
        cut(other, id);
    }
}

void Network::crash(NodeId id) {
    (*this)[id].up = false;
}

void Network::restart(NodeId id) {
    Options options = core(id).options();
    ++options.incarnation;
    Image image = (*this)[id].store.image();
    members_[id] = std::make_unique<Member>(options, std::move(image));
    seen_[id] = {};
}

void Network::elect(NodeId id) {
    pass(options_.election_ticks);
    core(id).campaign();
    settle();
    ASSERT_EQ(core(id).role(), Role::leader) << core(id).describe();
}

NodeId Network::leader() {
    NodeId found = no_node;
    for (const NodeId id : ids_) {
        if (!(*this)[id].up || core(id).role() != Role::leader) continue;
        if (found == no_node || core(id).term() > core(found).term()) found = id;
    }
    return found;
}

ProposeResult Network::propose(NodeId id, const std::string& command) {
    return core(id).propose(bytes_of(command));
}

void Network::compact(NodeId id) {
    Member& member = (*this)[id];
    auto meta = member.core.snapshot_at(member.core.applied());
    ASSERT_TRUE(meta.has_value());
    auto state = encode_state(member.applied);
    meta->bytes = state.size();
    member.store.save_snapshot(*meta, std::move(state));
    ASSERT_TRUE(member.core.compact(*meta).has_value());
}

ProposeResult Network::change(NodeId id, std::vector<ConfigurationStep> steps, Force force) {
    ConfigurationChange change;
    change.steps = std::move(steps);
    return core(id).propose_config(change, force);
}

} // namespace promtact::raft::testing
