// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The storage a log core sees when another thread does the work: requests are put into one box,
// completions taken from another. Whoever holds the log's lock uses it.
#pragma once

#include <algorithm>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/storage.hpp>

namespace promtact::wal {

class Mailbox final : public Storage {
  public:
    explicit Mailbox(const StorageLimits& limits) : limits_(limits) {}

    [[nodiscard]] StorageLimits limits() const override { return limits_; }
    [[nodiscard]] bool submit(const IoOp& op) override {
        if (in_flight_ == limits_.depth) return false;
        outbox_.push_back(op);
        ++in_flight_;
        return true;
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        const std::size_t count = std::min(done.size(), inbox_.size());
        std::copy_n(inbox_.begin(), count, done.begin());
        inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(count));
        return count;
    }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t /*timeout_ns*/) override {
        return poll(done);
    }

    /// Requests not yet answered.
    [[nodiscard]] std::uint32_t in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] bool has_mail() const noexcept { return !inbox_.empty(); }
    /// Moves all new requests behind those in `into`; returns how many.
    std::size_t take_requests(std::vector<IoOp>& into) {
        into.insert(into.end(), outbox_.begin(), outbox_.end());
        const std::size_t count = outbox_.size();
        outbox_.clear();
        return count;
    }
    /// More answers than requests are passed on, too: the core stops at the first it did not ask
    /// for.
    void put_answers(std::span<const IoDone> done) {
        in_flight_ -= std::min(in_flight_, static_cast<std::uint32_t>(done.size()));
        inbox_.insert(inbox_.end(), done.begin(), done.end());
    }

  private:
    StorageLimits limits_;
    std::vector<IoOp> outbox_{};
    std::vector<IoDone> inbox_{};
    std::uint32_t in_flight_ = 0;
};

} // namespace promtact::wal
