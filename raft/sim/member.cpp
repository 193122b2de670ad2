// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "member.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/kv/snapshot_loader.hpp>

namespace promtact::raft_sim {
namespace {

using engine::ClientCommand;
using engine::ClientOperation;

/// A batch is written in so many parts at most; a crash keeps any number of them.
constexpr std::uint64_t parts_max = 8;

raft::Image new_cluster(std::uint32_t nodes) {
    std::vector<raft::NodeId> voters(nodes);
    std::iota(voters.begin(), voters.end(), raft::NodeId{1});
    raft::Image image;
    image.snapshot.configuration = raft::make_configuration(std::move(voters));
    return image;
}

std::string key_of(const ClientOperation& operation) {
    return "k" + std::to_string(operation.key);
}

std::vector<std::byte> command_of(const ClientOperation& operation) {
    const std::string key = key_of(operation);
    const std::string value = std::to_string(operation.value);
    const std::string expected = std::to_string(operation.expected.value_or(0));
    kv::Command command{.operation = kv::Operation::put, .key = key, .value = value};
    if (operation.command == ClientCommand::compare_and_set) {
        command.operation = kv::Operation::compare_and_set;
        if (operation.expected) command.expected = expected;
    }
    std::vector<std::byte> bytes;
    kv::encode(command, bytes);
    return bytes;
}

std::optional<std::uint64_t> number_in(std::optional<std::string_view> value) {
    if (!value) return std::nullopt;
    const auto number = parse_u64(*value);
    PROMTACT_ASSERT(number.has_value()); // clients write nothing else
    return *number;
}

} // namespace

Member::Member(const Settings& settings, raft::NodeId id)
    : settings_(settings), id_(id), syncs_(settings.seed, Purpose::disk_fault, id),
      tears_(settings.seed, Purpose::disk_tear, id) {
    open(new_cluster(settings.nodes));
}

void Member::open(raft::Image image) {
    store_.emplace(std::move(image));
    store_->held = true;
    raft::Options options = settings_.raft;
    options.id = id_;
    options.seed = settings_.seed;
    options.incarnation = ++incarnation_;
    auto core = raft::Core::open(options, store_->image().recovered());
    PROMTACT_ASSERT(core.has_value());
    core_.emplace(std::move(core).value());
    machine_ = kv::StateMachine();
    if (!store_->image().state.empty()) {
        const bool loaded = load_machine(store_->image().state);
        PROMTACT_ASSERT(loaded);
    }
}

void Member::crash() {
    if (store_->pending() > 0) {
        store_->complete_in_part(
            static_cast<std::size_t>(tears_.between({batches_}, 0, parts_max)));
    }
    due_.clear();
    out_.clear();
    waiting_.clear();
    reads_.clear();
    answers_.clear();
    core_.reset();
    open(raft::Image(store_->image())); // so that there is something to look at; the engine does
                                        // not touch it before restart()
}

void Member::restart() {}

void Member::tick() {
    ++now_;
    std::size_t durable = 0;
    for (; !due_.empty() && due_.front() <= now_; due_.pop_front())
        ++durable;
    store_->complete(durable);
    core_->tick();
}

void Member::take_proofs() {
    const auto proof = store_->next();
    PROMTACT_ASSERT(proof.has_value()); // this store does not fail
    if (*proof) core_->persisted(**proof);
}

void Member::drain(Witness& witness, std::vector<raft::Message>& sent) {
    take_proofs();
    witness.on_state(*core_);
    while (core_->has_output()) {
        core_->take(out_);
        for (const raft::Entries& entries : out_.entries)
            witness.on_entries(id_, entries);
        if (out_.must_persist()) {
            const auto begun = store_->begin(out_);
            PROMTACT_ASSERT(begun.has_value());
            const std::uint64_t last = due_.empty() ? now_ : due_.back();
            const std::uint64_t sync = syncs_.between({++batches_}, 0, settings_.sync_ticks_max);
            due_.push_back(std::max(last, now_ + sync));
            if (due_.back() <= now_ && due_.size() == 1) {
                due_.pop_front();
                store_->complete(1);
            }
        }
        send(witness, sent);
        apply(witness);
        answer_reads();
        take_proofs();
        witness.on_state(*core_);
    }
}

/// Chunks of snapshots get their bytes here. One that is here no longer cannot be sent.
void Member::send(Witness& witness, std::vector<raft::Message>& sent) {
    for (raft::Message& message : out_.messages) {
        if (message.chunk != nullptr) {
            if (message.chunk->meta != store_->image().snapshot) {
                core_->snapshot_unavailable(message.to);
                continue;
            }
            // Shared, as every chunk is by the copies of its message.
            auto chunk = std::make_shared<raft::SnapshotChunk>(*message.chunk);
            const auto& state = store_->image().state;
            const auto begin = state.begin() + static_cast<std::ptrdiff_t>(chunk->offset);
            chunk->data.assign(begin, begin + chunk->length);
            message.chunk = std::move(chunk);
        }
        witness.on_send(id_, message);
        sent.push_back(std::move(message));
    }
}

void Member::apply(Witness& witness) {
    if (out_.installed) {
        const bool loaded = load_machine(store_->image().partial_state);
        PROMTACT_ASSERT(loaded); // it was looked at when it had come
        ++installs_;
        waiting_.clear();
        witness.on_digest(id_, machine_.applied(), machine_.digest());
    }
    for (const raft::Entries& run : out_.apply) {
        for (const raft::Entry& entry : run) {
            witness.on_apply(id_, entry);
            apply(entry);
            witness.on_digest(id_, entry.index, machine_.digest());
        }
    }
    if (out_.released != 0) store_->release(out_.released);
    if (out_.received) receive_snapshot();
    make_snapshot();
}

void Member::apply(const raft::Entry& entry) {
    if (entry.kind != raft::EntryKind::command) return machine_.skip_to(entry.index);
    const auto answer = machine_.apply(entry.index, entry.data);
    PROMTACT_ASSERT(answer.has_value());
    const auto waiting = waiting_.find(entry.index);
    if (waiting == waiting_.end()) return;
    const auto [term, operation] = waiting->second;
    waiting_.erase(waiting);
    if (term != entry.term) return; // another leader's entry: nobody knows what became of ours
    answers_.push_back(
        {.client = operation.client,
         .id = operation.id,
         .succeeded = answer->status == kv::Status::ok});
}

void Member::answer_reads() {
    for (const raft::ReadyRead& read : out_.reads) {
        const auto asked = reads_.find(read.context);
        if (asked == reads_.end()) continue;
        PROMTACT_ASSERT(machine_.applied() >= read.index);
        answers_.push_back(
            {.client = asked->second.client,
             .id = asked->second.id,
             .value = number_in(machine_.get(key_of(asked->second)))});
        reads_.erase(asked);
    }
    for (const raft::FailedRead& read : out_.failed_reads) {
        const auto asked = reads_.find(read.context);
        if (asked == reads_.end()) continue;
        answers_.push_back({.client = asked->second.client, .id = asked->second.id, .done = false});
        reads_.erase(asked);
    }
}

void Member::receive_snapshot() {
    kv::SnapshotLoader loader;
    const bool whole = store_->image().partial_state.size() == out_.received->bytes &&
                       loader.feed(store_->image().partial_state).has_value() &&
                       std::move(loader).finish().has_value();
    if (whole) {
        core_->install(out_.received->index);
    } else {
        core_->install_failed(out_.received->index);
    }
}

bool Member::load_machine(std::span<const std::byte> state) {
    kv::SnapshotLoader loader;
    if (!loader.feed(state)) return false;
    auto machine = std::move(loader).finish();
    if (!machine) return false;
    machine_ = *std::move(machine);
    return true;
}

void Member::make_snapshot() {
    if (machine_.applied() < core_->snapshot().index + settings_.snapshot_every) return;
    auto meta = core_->snapshot_at(machine_.applied());
    if (!meta) return;
    machine_.begin_snapshot();
    std::vector<std::byte> state;
    while (!machine_.snapshot_done()) {
        constexpr std::size_t piece = 4096;
        const std::size_t begin = state.size();
        state.resize(begin + piece);
        state.resize(begin + machine_.read_snapshot(std::span(state).subspan(begin)));
    }
    machine_.end_snapshot();
    meta->bytes = state.size();
    store_->save_snapshot(*meta, std::move(state));
    const auto compacted = core_->compact(*meta);
    PROMTACT_ASSERT(compacted.has_value());
    ++compactions_;
}

/// Of keys that no client uses.
bool Member::propose(std::uint64_t number) {
    const std::string key = "p" + std::to_string(number % 8);
    const std::string value = std::to_string(number);
    std::vector<std::byte> bytes;
    kv::encode({.operation = kv::Operation::put, .key = key, .value = value}, bytes);
    return core_->propose(bytes).accepted();
}

void Member::submit(const ClientOperation& operation) {
    if (operation.command == ClientCommand::read) {
        if (core_->read_index(operation.id) == raft::ReadStatus::accepted) {
            reads_[operation.id] = operation;
            return;
        }
    } else {
        const raft::ProposeResult result = core_->propose(command_of(operation));
        if (result.accepted()) {
            waiting_[result.index] = {result.term, operation};
            return;
        }
    }
    answers_.push_back({.client = operation.client, .id = operation.id, .done = false});
}

} // namespace promtact::raft_sim
