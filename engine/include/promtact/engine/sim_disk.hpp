// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The disk of one node in a run: a storage whose requests take virtual time and end in an order the
// seed chooses, whose crash keeps what was synced and, of the rest, what the seed says, and which
// misbehaves as the plan asks.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <promtact/base/choice.hpp>
#include <promtact/base/fault.hpp>
#include <promtact/base/model_storage.hpp>
#include <promtact/engine/duration.hpp>

namespace promtact::engine {

struct SimDiskOptions {
    std::uint64_t seed = 0;
    NodeId node{};
    StorageLimits limits{
        .align_memory = 1, .align_offset = 512, .atomic_bytes = 4096, .depth = 32, .direct = true};
    /// A request takes 0 to this many steps, each its own time: they end in any order.
    std::uint64_t max_delay = 0;
    std::uint64_t tick_ns = 0; // for delays in wall time
};

/// A storage in virtual time. Requests end when advance() says that their step has come.
class SimDisk final : public Storage {
  public:
    /// Lifetime: pool outlives the disk.
    SimDisk(disk::Pool& pool, const SimDiskOptions& options)
        : pool_(pool), options_(options),
          seed_(
              promtact_choose(options.seed, PROMTACT_PURPOSE_DISK_FAULT, options.node.value(), 0)),
          inner_(make(disk::Image{})) {}

    [[nodiscard]] StorageLimits limits() const override { return options_.limits; }
    [[nodiscard]] bool submit(const IoOp& op) override {
        if (waiting_.size() + ready_.size() >= options_.limits.depth) return false;
        const std::uint64_t number = ++requests_;
        IoOp asked = op;
        Waiting waiting{.number = number, .due = now_ + delay_of(number), .kind = op.kind};
        decide(asked, waiting);
        const bool taken = inner_->submit(asked);
        PROMTACT_ASSERT(taken); // its depth is ours
        waiting_.push_back(waiting);
        return true;
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        carry_out();
        const std::size_t count = std::min(done.size(), ready_.size());
        std::copy_n(ready_.begin(), count, done.begin());
        ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
        return count;
    }
    /// In virtual time nobody waits: what is due is there.
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t) override {
        return poll(done);
    }

    // --- what drives it ---

    /// Time goes on: what is due now ends.
    void advance(Step now) {
        PROMTACT_ASSERT(now >= now_);
        now_ = now;
        carry_out();
    }
    /// A fault of the plan begins or ends here. id: by which its choices are drawn and counted
    void begin(std::uint32_t id, const DiskParams& params) {
        faults_.push_back({.id = id, .params = params});
        if (params.fault == DiskFault::bitrot) rot(faults_.back());
        renew_capacity();
    }
    void end(std::uint32_t id) {
        for (const Active& fault : faults_)
            if (fault.id == id) counts_.push_back({id, fault.fired});
        std::erase_if(faults_, [id](const Active& fault) { return fault.id == id; });
        renew_capacity();
    }
    /// Power is lost: what is in flight is gone, what was not synced is there or not as the seed
    /// says, by whole requests, or by atoms while a torn fault lasts.
    void crash() {
        const disk::DiskModel& model = inner_->model();
        Active* torn = active(DiskFault::torn);
        const ChoiceStream choose(seed_, Purpose::disk_tear, ++crashes_);
        disk::Image image;
        std::uint64_t kept = 0;
        const auto pending = model.pending();
        model.crash(image, [&](std::size_t i) {
            const std::uint64_t which = torn != nullptr ? i : pending[i].ticket << 20;
            const bool keeps = (choose.bits({which}) & 1U) != 0;
            kept += keeps ? 1 : 0;
            return keeps;
        });
        if (torn != nullptr && kept > 0 && kept < pending.size()) ++torn->fired;
        inner_ = make(image);
        waiting_.clear();
        ready_.clear();
        renew_capacity();
    }

    // --- what is known ---

    /// The three images: issued, completed, durable.
    [[nodiscard]] const disk::DiskModel& model() const noexcept { return inner_->model(); }
    [[nodiscard]] std::size_t in_flight() const noexcept { return waiting_.size(); }
    /// How often a fault struck here so far.
    [[nodiscard]] std::uint64_t fired(std::uint32_t id) const noexcept {
        std::uint64_t sum = 0;
        for (const Active& fault : faults_)
            if (fault.id == id) sum += fault.fired;
        for (const auto& [known, count] : counts_)
            if (known == id) sum += count;
        return sum;
    }

  private:
    struct Active {
        std::uint32_t id = 0;
        DiskParams params{};
        std::uint64_t fired = 0;
    };
    struct Waiting {
        std::uint64_t number = 0; // of the request, from 1
        Step due{};
        IoKind kind = IoKind::read;
        std::int64_t answer = 0; // when it ends badly or lies: instead of its own
        bool replaced = false;
        bool happens = true; // false: nothing of it is carried out

        bool end_as(std::int64_t result) noexcept {
            answer = result;
            replaced = true;
            happens = false;
            return true;
        }
    };

    std::unique_ptr<disk::ModelStorage> make(const disk::Image& image) {
        return std::make_unique<disk::ModelStorage>(
            pool_, image,
            disk::ModelStorageOptions{
                .limits = options_.limits, .order = disk::ModelStorageOptions::Order::scripted});
    }
    [[nodiscard]] bool
    strikes(const Active& fault, Purpose purpose, std::uint64_t number) const noexcept {
        const ChoiceStream stream(seed_, purpose, fault.id);
        return promtact_chance(stream.bits({number}), fault.params.probability.value) != 0;
    }
    Active* active(DiskFault kind) noexcept {
        for (Active& fault : faults_)
            if (fault.params.fault == kind) return &fault;
        return nullptr;
    }
    std::uint64_t delay_of(std::uint64_t number) {
        std::uint64_t steps = 0;
        if (options_.max_delay > 0)
            steps = ChoiceStream(seed_, Purpose::delay, 0).between({number}, 0, options_.max_delay);
        for (Active& fault : faults_) {
            if (fault.params.fault != DiskFault::slow) continue;
            if (!strikes(fault, Purpose::disk_fault, number)) continue;
            steps += in_steps(fault.params.delay, options_.tick_ns);
            ++fault.fired;
        }
        return steps;
    }

    /// What becomes of a request, decided when it is submitted.
    void decide(IoOp& op, Waiting& waiting) {
        for (Active& fault : faults_)
            fault.fired += decide(fault, op, waiting) ? 1 : 0;
        // Writing a block gives it a good place.
        if (op.kind == IoKind::write && active(DiskFault::latent) != nullptr)
            each_block(op, [this](std::uint64_t block) { rewritten_.insert(block); });
    }
    /// True when the fault strikes this request.
    bool decide(const Active& fault, IoOp& op, Waiting& waiting) const {
        const auto by_chance = [&] { return strikes(fault, Purpose::disk_fault, waiting.number); };
        switch (fault.params.fault) {
        case DiskFault::eio:
            return by_chance() && waiting.end_as(-EIO);
        case DiskFault::lost:
            return changes(op.kind) && by_chance() && waiting.end_as(good_answer(op));
        case DiskFault::latent:
            return op.kind == IoKind::read && meets_bad_block(fault, op) && waiting.end_as(-EIO);
        case DiskFault::misdirected:
            if (op.kind != IoKind::write || !by_chance()) return false;
            op.offset = op.offset >= elsewhere ? op.offset - elsewhere : op.offset + elsewhere;
            return true;
        default:
            return false; // of other moments
        }
    }
    static constexpr std::uint64_t elsewhere = 4096; // how far a misdirected write lands away
    static constexpr std::uint64_t block_bytes = 4096;

    static bool changes(IoKind kind) noexcept {
        switch (kind) {
        case IoKind::write:
        case IoKind::sync_data:
        case IoKind::sync_all:
        case IoKind::sync_dir:
            return true;
        default:
            return false;
        }
    }
    static std::int64_t good_answer(const IoOp& op) noexcept {
        return op.kind == IoKind::write ? static_cast<std::int64_t>(op.data.size()) : 0;
    }
    /// fn(name of the block among all of the disk)
    template <class Fn>
    static void each_block(const IoOp& op, Fn fn) {
        const std::uint64_t end = op.offset + op.data.size();
        for (std::uint64_t at = op.offset / block_bytes; at * block_bytes < end; ++at)
            fn(std::uint64_t{op.file} << 40 | at);
    }
    /// Whether a block of the read is bad: decided once for each, until it is written again.
    [[nodiscard]] bool meets_bad_block(const Active& fault, const IoOp& op) const {
        bool met = false;
        each_block(op, [&](std::uint64_t block) {
            met =
                met || (strikes(fault, Purpose::disk_fault, block) && rewritten_.count(block) == 0);
        });
        return met;
    }
    /// Bits of stored blocks change, all at once.
    void rot(Active& fault) {
        const disk::Image durable = inner_->model().durable();
        const std::uint32_t atom = pool_.atom_bytes();
        const ChoiceStream which(seed_, Purpose::corrupt_bit, fault.id);
        for (const disk::Image::Link& link : durable.links) {
            const std::uint64_t atoms = (durable.files[link.inode].size + atom - 1) / atom;
            for (std::uint64_t at = 0; at < atoms; ++at) {
                const std::uint64_t name = std::uint64_t{link.inode} << 40 | at;
                if (!strikes(fault, Purpose::disk_fault, name)) continue;
                const std::uint64_t bit = which.between({name}, 0, 8 * std::uint64_t{atom} - 1);
                inner_->decay(link.inode, at, static_cast<std::uint32_t>(bit));
                ++fault.fired;
            }
        }
    }

    void renew_capacity() {
        std::uint64_t capacity = ~std::uint64_t{0};
        for (Active& fault : faults_) {
            if (fault.params.fault != DiskFault::full) continue;
            capacity = std::min(capacity, used() + fault.params.capacity.value);
        }
        inner_->set_capacity(capacity);
    }
    [[nodiscard]] std::uint64_t used() const {
        std::uint64_t sum = 0;
        const disk::Image& issued = inner_->model().issued();
        for (const disk::Image::Link& link : issued.links)
            sum += issued.files[link.inode].size;
        return sum;
    }

    /// Ends everything that is due, in the order of (due, number).
    void carry_out() {
        while (true) {
            std::size_t first = waiting_.size();
            for (std::size_t i = 0; i < waiting_.size(); ++i) {
                if (waiting_[i].due > now_) continue;
                const bool earlier = first == waiting_.size() ||
                                     std::pair(waiting_[i].due, waiting_[i].number) <
                                         std::pair(waiting_[first].due, waiting_[first].number);
                if (earlier) first = i;
            }
            if (first == waiting_.size()) return;
            finish(first);
        }
    }
    void finish(std::size_t index) {
        const Waiting waiting = waiting_[index];
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
        if (waiting.happens) {
            inner_->complete(index);
        } else if (waiting.answer < 0) {
            inner_->complete_badly(index, waiting.answer, 0);
        } else {
            inner_->complete_without_effect(index, waiting.answer);
        }
        std::array<IoDone, 1> done{};
        const std::size_t count = inner_->poll(done);
        PROMTACT_ASSERT(count == 1);
        if (done[0].result == -ENOSPC)
            if (Active* full = active(DiskFault::full)) ++full->fired;
        if (waiting.replaced) done[0].result = waiting.answer;
        ready_.push_back(done[0]);
    }

    disk::Pool& pool_;
    SimDiskOptions options_;
    std::uint64_t seed_;
    std::unique_ptr<disk::ModelStorage> inner_;
    Step now_{};
    std::uint64_t requests_ = 0;
    std::uint64_t crashes_ = 0;
    std::vector<Waiting> waiting_{}; // in the order of submission, as in inner_
    std::vector<IoDone> ready_{};
    std::vector<Active> faults_{};
    std::vector<std::pair<std::uint32_t, std::uint64_t>> counts_{}; // of faults that ended
    std::set<std::uint64_t> rewritten_{}; // blocks, while sectors are latently bad
};

} // namespace promtact::engine
