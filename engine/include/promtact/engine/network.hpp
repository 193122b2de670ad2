// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Messages between the sending and the arriving: fates, cuts, injectors, and what is under way.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <promtact/engine/cuts.hpp>
#include <promtact/engine/fates.hpp>
#include <promtact/engine/injector.hpp>
#include <promtact/engine/run_log.hpp>
#include <promtact/engine/schedule.hpp>

namespace promtact::engine {

/// What happened to messages.
struct RunCounts {
    std::uint64_t sent = 0; // taken from outboxes
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0; // by chance and by faults
    std::uint64_t cut = 0;  // by partitions and injectors
    std::uint64_t copied = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t purged = 0; // when a node went down
};

/// How often something of a name struck.
struct NamedCount {
    std::string name{};
    std::uint64_t fired = 0;
};

/// The messages of a run that are under way, and all that may happen to them.
template <class Message, class W>
class Network {
  public:
    Network(const W& wire, const RunConfig& config, const Membership& members, RunLog<Message>& log)
        : wire_(&wire), config_(&config), members_(&members), log_(&log), fates_(config, members),
          cuts_(config, members) {}

    /// Time went on. Requires: nothing that was due is left
    void advance() {
        schedule_.advance(log_->now());
        if (config_->faults.empty()) return;
        cuts_.advance(log_->now());
        fates_.advance(log_->now());
    }

    /// A node sends a message.
    void send(std::uint32_t node, Message& message) {
        const Route route = wire_->route(message);
        const std::uint32_t to = members_->index(route.to);
        if (to == Membership::unknown || route.from != members_->id(node)) {
            return log_->halt(
                Verdict::error, "node " + std::to_string(members_->id(node).value()) +
                                    " sent a message from " + std::to_string(route.from.value()) +
                                    " to " + std::to_string(route.to.value()) +
                                    (to == Membership::unknown ? ", which is no node"
                                                               : ", in the name of another"));
        }
        ++counts_.sent;
        const std::uint64_t number = counts_.sent;
        log_->sent(number);
        Sending sending = fates_.next(log_->now(), node, to);
        if constexpr (Sized<W, Message>) sending.bytes = wire_->size(message);
        Fate fate = fates_.decide(sending);
        if (editor_ != nullptr) editor_->edit(sending.key, fate);
        carry_out(sending, fate, number, message);
    }

    [[nodiscard]] bool due() const noexcept { return schedule_.due(); }
    /// The next message that arrives. Requires: due()
    [[nodiscard]] typename Schedule<Message>::Taken take() noexcept { return schedule_.take(); }
    /// Stopped on its way by a link that was cut meanwhile. Counts and tells when it was.
    bool is_stopped(const InFlight<Message>& entry) {
        if (!config_->cut_at_arrival || entry.sent == log_->now()) return false;
        const std::uint32_t from = members_->index(entry.from);
        const std::uint32_t to = members_->index(entry.to);
        if (!cuts_.blocks(from, to)) return false;
        static_cast<void>(cuts_.count(from, to));
        ++counts_.cut;
        tell(EventKind::cut, entry);
        return true;
    }
    void deliver(const InFlight<Message>& entry) {
        ++counts_.delivered;
        tell(EventKind::deliver, entry);
    }
    /// Its receiver is down.
    void drop(const InFlight<Message>& entry) {
        ++counts_.purged;
        tell(EventKind::purge, entry);
    }
    /// Its receiver is paused: it waits in the receiver's sockets.
    void hold(InFlight<Message>&& entry) { waiting_.push_back(std::move(entry)); }
    /// What waited for a node arrives now, in order.
    void release(NodeId node) {
        std::vector<InFlight<Message>> still;
        for (InFlight<Message>& entry : waiting_) {
            if (entry.to != node) {
                still.push_back(std::move(entry));
                continue;
            }
            PROMTACT_ASSERT(entry.due <= log_->now());
            entry.due = log_->now();
            entry.sequence = ++scheduled_;
            schedule_.push(std::move(entry));
        }
        waiting_ = std::move(still);
    }
    /// Removes what is under way from or to a node; returns how many messages that were.
    std::size_t purge(NodeId id) {
        const auto touches = [id](const InFlight<Message>& entry) {
            return entry.from == id || entry.to == id;
        };
        std::size_t count =
            schedule_.remove_if(touches, [this](const InFlight<Message>& entry) { drop(entry); });
        for (const InFlight<Message>& entry : waiting_) {
            if (!touches(entry)) continue;
            drop(entry);
            ++count;
        }
        std::erase_if(waiting_, touches);
        return count;
    }

    void inject(std::unique_ptr<Injector> injector) {
        PROMTACT_ASSERT(injector != nullptr);
        injectors_.push_back({std::move(injector), 0});
    }
    void edit_fates(FateEditor* editor) noexcept { editor_ = editor; }

    [[nodiscard]] std::size_t under_way() const noexcept {
        return schedule_.size() + waiting_.size();
    }
    [[nodiscard]] const RunCounts& counts() const noexcept { return counts_; }
    [[nodiscard]] const ChanceCounts& chance() const noexcept { return fates_.chance(); }
    [[nodiscard]] std::vector<NamedCount> injector_counts() const {
        std::vector<NamedCount> all;
        for (const Injected& injected : injectors_)
            all.push_back({std::string(injected.injector->name()), injected.fired});
        return all;
    }
    /// fn(id, fired) for every fault of links.
    template <class Fn>
    void each_fault_count(Fn fn) const {
        fates_.each_count(fn);
        cuts_.each_count(fn);
    }

  private:
    struct Injected {
        std::unique_ptr<Injector> injector;
        std::uint64_t fired = 0;
    };

    void tell(EventKind kind, const InFlight<Message>& entry) {
        log_->tell(kind, {entry.from, entry.to}, entry.number, entry.digest, &entry.message);
    }
    void
    carry_out(const Sending& sending, const Fate& fate, std::uint64_t number, Message& message) {
        const Route route{sending.key.from, sending.key.to};
        const Digest128 digest = wire_->digest(message);
        if (fate.is_lost()) {
            ++counts_.lost;
            return log_->tell(EventKind::lose, route, number, digest, &message);
        }
        if (denied(sending, fate.delay)) {
            ++counts_.cut;
            return log_->tell(EventKind::cut, route, number, digest, &message);
        }
        if (fate.is_copied()) {
            ++counts_.copied;
            log_->tell(EventKind::duplicate, route, number, digest, &message);
            schedule(route, fate.copy_delay, number, digest, Message(message));
        }
        if (!fate.is_corrupted())
            return schedule(route, fate.delay, number, digest, std::move(message));
        corrupt(route, fate, number, digest, message);
    }
    void corrupt(
        const Route& route, const Fate& fate, std::uint64_t number, const Digest128& digest,
        Message& message) {
        ++counts_.corrupted;
        if constexpr (Corrupting<W, Message>) {
            wire_->corrupt(message, fate.corrupt_bits);
            const Digest128 changed = wire_->digest(message);
            log_->tell(EventKind::corrupt, route, number, changed, &message);
            schedule(route, fate.delay, number, changed, std::move(message));
        } else {
            log_->tell(EventKind::lose, route, number, digest, &message);
        }
    }
    [[nodiscard]] bool denied(const Sending& sending, std::uint64_t delay) {
        const bool cut = cuts_.blocks(sending.from, sending.to);
        if (cut) static_cast<void>(cuts_.count(sending.from, sending.to));
        if (injectors_.empty()) return cut;
        const Attempt attempt{
            .now = log_->now(), .from = sending.key.from, .to = sending.key.to, .delay = delay};
        bool denied = cut;
        for (Injected& injected : injectors_) {
            if (injected.injector->allow(attempt)) continue;
            ++injected.fired;
            denied = true;
        }
        return denied;
    }
    void schedule(
        const Route& route, std::uint64_t delay, std::uint64_t number, const Digest128& digest,
        Message&& message) {
        if (schedule_.size() >= config_->under_way_max) {
            return log_->halt(
                Verdict::stuck, std::to_string(schedule_.size()) + " messages are under way");
        }
        schedule_.push(
            {.message = std::move(message),
             .digest = digest,
             .due = log_->now() + (delay < steps_max ? delay : steps_max),
             .sent = log_->now(),
             .sequence = ++scheduled_,
             .number = number,
             .from = route.from,
             .to = route.to});
    }

    const W* wire_;
    const RunConfig* config_;
    const Membership* members_;
    RunLog<Message>* log_;
    Fates fates_;
    Cuts cuts_;
    Schedule<Message> schedule_{};
    std::vector<InFlight<Message>> waiting_{}; // for nodes that are paused
    std::vector<Injected> injectors_{};
    FateEditor* editor_ = nullptr;
    std::uint64_t scheduled_ = 0;
    RunCounts counts_{};
};

} // namespace promtact::engine
