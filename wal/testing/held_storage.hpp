// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A storage whose answers come when a test says so, in any order.
#pragma once

#include <deque>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/storage.hpp>

namespace promtact::wal::testing {

class HeldStorage final : public Storage {
  public:
    /// Lifetime: inner outlives this; it answers every request at once.
    explicit HeldStorage(Storage& inner) : inner_(&inner) {}

    struct Held {
        IoKind kind = IoKind::read;
        std::uint32_t file = 0;
        IoDone done{};
    };
    /// Requests nobody was told the outcome of, in the order they were made.
    [[nodiscard]] const std::vector<Held>& held() const noexcept { return held_; }
    /// Requires: index < held().size()
    void answer(std::size_t index) {
        PROMTACT_ASSERT(index < held_.size());
        ready_.push_back(held_[index].done);
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
    }
    void answer_with(std::size_t index, std::int64_t result) {
        PROMTACT_ASSERT(index < held_.size());
        held_[index].done.result = result;
        answer(index);
    }

    [[nodiscard]] StorageLimits limits() const override { return inner_->limits(); }
    [[nodiscard]] bool submit(const IoOp& op) override {
        if (!inner_->submit(op)) return false;
        IoDone done{};
        while (inner_->poll({&done, 1}) == 0) {
        }
        held_.push_back({.kind = op.kind, .file = op.file, .done = done});
        return true;
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        std::size_t count = 0;
        for (; count < done.size() && !ready_.empty(); ready_.pop_front())
            done[count++] = ready_.front();
        return count;
    }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t) override {
        return poll(done);
    }

  private:
    Storage* inner_;
    std::vector<Held> held_{};
    std::deque<IoDone> ready_{};
};

} // namespace promtact::wal::testing
