// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A Storage that misbehaves: by script (the n-th write of this file is torn) or by seed (so many
// per million). It changes requests and answers on their way to and from another Storage.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <promtact/base/storage.hpp>
#include <promtact/base/units.hpp>
#include <promtact/wal/scan.hpp>

namespace promtact::wal {

enum class StorageFault : std::uint8_t {
    fail,        // answer -errno; nothing happens
    fail_done,   // answer -errno although it happened
    short_count, // a write or read of the first `amount` bytes only, and says so
    torn,        // of a write only the first `amount` bytes happen, answered as whole
    lost,        // answered as done, does not happen (writes, syncs, names)
    bit_rot,     // bit `amount` of the data is flipped on its way
    misdirected, // a write goes `amount` bytes further on
    phantom,     // a read shows zeros: what was there before the data
    slow,        // the answer comes `amount` polls later
    reordered,   // the answer comes after the next one
    duplicated,  // the answer comes twice
    stranger,    // an answer to a request that was never made comes first
    swallowed,   // no answer ever comes
};

/// Which request is struck, and how.
struct FaultRule {
    std::optional<IoKind> kind{};
    std::optional<std::uint32_t> file{};
    std::uint64_t after = 0; // matching requests that pass before
    std::uint64_t count = 1; // matching requests that are struck
    Ppm probability{Ppm::one};
    StorageFault fault = StorageFault::fail;
    int sys_errno = 5;        // EIO
    std::uint64_t amount = 0; // of bytes: a multiple of the storage's alignment
};

/// Passes requests on to another storage, except where a fault is due. Lifetime: inside outlives
/// it.
class FaultStorage final : public Storage {
  public:
    /// Lifetime: inner outlives it.
    FaultStorage(Storage& inner, std::uint64_t seed) : inner_(&inner), seed_(seed) {}

    void add(const FaultRule& rule) { rules_.push_back({.rule = rule}); }
    void clear() { rules_.clear(); }
    /// How often rule `index`, in order of add(), struck.
    [[nodiscard]] std::uint64_t struck(std::size_t index) const { return rules_[index].struck; }

    [[nodiscard]] StorageLimits limits() const override { return inner_->limits(); }
    [[nodiscard]] bool submit(const IoOp& op) override;
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override;
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) override;
    [[nodiscard]] int event_fd() const override { return inner_->event_fd(); }

  private:
    struct Armed {
        FaultRule rule{};
        std::uint64_t seen = 0;
        std::uint64_t struck = 0;
    };
    /// A request whose answer will be changed, and the data it was really given.
    struct Changed {
        std::uint64_t id = 0;
        std::optional<std::int64_t> result{};
        FaultRule rule{};
        std::span<std::byte> data{}; // the caller's, for reads
        std::optional<AlignedBytes> copy{};
    };
    struct Held {
        IoDone done{};
        std::uint64_t polls = 0;  // still to wait
        bool behind_next = false; // waits for another answer instead
    };

    [[nodiscard]] const FaultRule* strike(const IoOp& op);
    bool submit_struck(const IoOp& op, const FaultRule& rule);
    void answer(IoDone done);
    void change(const Changed& changed, IoDone done);
    [[nodiscard]] std::size_t hand_out(std::span<IoDone> done);

    Storage* inner_;
    std::uint64_t seed_;
    std::vector<Armed> rules_{};
    std::vector<std::unique_ptr<Changed>> changed_{};
    std::vector<Held> held_{};
    std::deque<IoDone> ready_{};
    std::uint64_t choices_ = 0;
};

} // namespace promtact::wal
