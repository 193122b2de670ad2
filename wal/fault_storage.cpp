// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cstring>

#include <promtact/base/choice.hpp>
#include <promtact/wal/fault_storage.hpp>

namespace promtact::wal {

const FaultRule* FaultStorage::strike(const IoOp& op) {
    const ChoiceStream choose(seed_, Purpose::disk_fault, 0);
    for (Armed& armed : rules_) {
        const FaultRule& rule = armed.rule;
        if (rule.kind && *rule.kind != op.kind) continue;
        if (rule.file && *rule.file != op.file) continue;
        const std::uint64_t index = armed.seen++;
        if (index < rule.after || armed.struck >= rule.count) continue;
        if (!choose.chance(ChoicePosition::index(choices_++), rule.probability)) continue;
        ++armed.struck;
        return &rule;
    }
    return nullptr;
}

bool FaultStorage::submit(const IoOp& op) {
    if (changed_.size() + held_.size() + ready_.size() >= limits().depth) return false;
    const FaultRule* rule = strike(op);
    return rule == nullptr ? inner_->submit(op) : submit_struck(op, *rule);
}

bool FaultStorage::submit_struck(const IoOp& op, const FaultRule& rule) {
    IoOp given = op;
    auto changed = std::make_unique<Changed>();
    changed->id = op.id;
    changed->rule = rule;
    changed->data = op.data;
    const std::size_t amount =
        static_cast<std::size_t>(std::min<std::uint64_t>(rule.amount, op.data.size()));
    switch (rule.fault) {
    case StorageFault::fail:
        ready_.push_back({.id = op.id, .result = -rule.sys_errno});
        return true;
    case StorageFault::lost: {
        const bool write = op.kind == IoKind::write;
        const std::size_t bytes = write ? op.data.size() : 0;
        ready_.push_back({.id = op.id, .result = static_cast<std::int64_t>(bytes)});
        return true;
    }
    case StorageFault::swallowed:
        return true;
    case StorageFault::fail_done:
        changed->result = -rule.sys_errno;
        break;
    case StorageFault::short_count:
    case StorageFault::torn:
        given.data = op.data.first(amount);
        if (rule.fault == StorageFault::torn) {
            changed->result = static_cast<std::int64_t>(op.data.size());
        }
        break;
    case StorageFault::misdirected:
        given.offset += rule.amount;
        break;
    case StorageFault::bit_rot:
        if (op.kind == IoKind::write) {
            changed->copy.emplace(op.data.size(), limits().align_memory);
            given.data = changed->copy->span();
            std::ranges::copy(op.data, given.data.begin());
            given.data[static_cast<std::size_t>(rule.amount / 8) % op.data.size()] ^=
                std::byte{1} << (rule.amount % 8);
        }
        break;
    case StorageFault::phantom:
    case StorageFault::slow:
    case StorageFault::reordered:
    case StorageFault::duplicated:
    case StorageFault::stranger:
        break;
    }
    if (!inner_->submit(given)) return false;
    changed_.push_back(std::move(changed));
    return true;
}

void FaultStorage::answer(IoDone done) {
    const auto found = std::find_if(
        changed_.begin(), changed_.end(), [&](const auto& entry) { return entry->id == done.id; });
    if (found == changed_.end()) {
        ready_.push_back(done);
    } else {
        const std::unique_ptr<Changed> changed = std::move(*found);
        changed_.erase(found);
        change(*changed, done);
        return;
    }
    for (auto held = held_.begin(); held != held_.end();) {
        if (!held->behind_next) {
            ++held;
            continue;
        }
        ready_.push_back(held->done);
        held = held_.erase(held);
    }
}

void FaultStorage::change(const Changed& changed, IoDone done) {
    if (changed.result) done.result = *changed.result;
    const bool read = done.result > 0 && !changed.copy;
    switch (changed.rule.fault) {
    case StorageFault::phantom:
        if (read) std::memset(changed.data.data(), 0, static_cast<std::size_t>(done.result));
        break;
    case StorageFault::bit_rot:
        if (read) {
            const std::size_t at = static_cast<std::size_t>(changed.rule.amount / 8) %
                                   static_cast<std::size_t>(done.result);
            changed.data[at] ^= std::byte{1} << (changed.rule.amount % 8);
        }
        break;
    case StorageFault::slow:
        held_.push_back({.done = done, .polls = changed.rule.amount});
        return;
    case StorageFault::reordered:
        held_.push_back({.done = done, .polls = 64, .behind_next = true});
        return;
    case StorageFault::duplicated:
        ready_.push_back(done);
        break;
    case StorageFault::stranger:
        ready_.push_back({.id = ~done.id, .result = 0});
        break;
    case StorageFault::fail:
    case StorageFault::fail_done:
    case StorageFault::short_count:
    case StorageFault::torn:
    case StorageFault::lost:
    case StorageFault::misdirected:
    case StorageFault::swallowed:
        break;
    }
    ready_.push_back(done);
}

std::size_t FaultStorage::hand_out(std::span<IoDone> done) {
    for (auto held = held_.begin(); held != held_.end();) {
        if (held->polls > 0) --held->polls;
        if (held->polls > 0) {
            ++held;
            continue;
        }
        ready_.push_back(held->done);
        held = held_.erase(held);
    }
    const std::size_t count = std::min(done.size(), ready_.size());
    std::copy_n(ready_.begin(), count, done.begin());
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

std::size_t FaultStorage::poll(std::span<IoDone> done) {
    std::array<IoDone, 16> inner{};
    const std::size_t count = inner_->poll(inner);
    for (std::size_t i = 0; i < count; ++i)
        answer(inner[i]);
    return hand_out(done);
}

std::size_t FaultStorage::wait(std::span<IoDone> done, std::uint64_t timeout_ns) {
    if (ready_.empty() && held_.empty()) {
        std::array<IoDone, 16> inner{};
        const std::size_t count = inner_->wait(inner, timeout_ns);
        for (std::size_t i = 0; i < count; ++i)
            answer(inner[i]);
    }
    return hand_out(done);
}

} // namespace promtact::wal
