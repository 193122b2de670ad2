// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <string>

#include <promtact/base/assert.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/uring/completion.hpp>

namespace promtact::uring {
namespace {

// IORING_CQE_F_BUFFER and IORING_CQE_F_MORE: nothing we submit selects buffers or is multishot.
constexpr std::uint32_t never_ours = 0x1 | 0x2;
constexpr std::int32_t errno_max = 4095; // MAX_ERRNO of linux/err.h

std::string name(const Expectation& expected) {
    std::string text{to_string(expected.kind)};
    if (is_transfer(expected.kind)) text += " of " + std::to_string(expected.length) + " bytes";
    return text;
}

std::string numbers(const Completion& completion) {
    return "user_data " + std::to_string(completion.user_data) + ", result " +
           std::to_string(completion.result) + ", flags " + std::to_string(completion.flags);
}

} // namespace

Outcome judge(const Expectation& expected, const Completion& completion) noexcept {
    if (completion.user_data != expected.user_data) return Outcome::foreign;
    if ((completion.flags & never_ours) != 0) return Outcome::impossible;
    if (completion.result < -errno_max) return Outcome::impossible;
    if (completion.result == -EAGAIN || completion.result == -EINTR) return Outcome::again;
    if (completion.result == -ECANCELED) return Outcome::cancelled;
    if (completion.result < 0) return Outcome::failed;
    const auto moved = static_cast<std::uint32_t>(completion.result);
    if (moved > expected.length) return Outcome::impossible;
    if (moved < expected.length) return Outcome::short_done;
    return Outcome::complete;
}

Result<std::uint32_t> check(const Expectation& expected, const Completion& completion) {
    switch (judge(expected, completion)) {
    case Outcome::complete:
        PROMTACT_ASSERT(completion.result >= 0);
        return static_cast<std::uint32_t>(completion.result);
    case Outcome::short_done:
        return Error{
            Errc::short_write, 0,
            name(expected) + " moved only " + std::to_string(completion.result)};
    case Outcome::again:
    case Outcome::cancelled:
    case Outcome::failed:
        return Error::from_errno(-completion.result, name(expected));
    case Outcome::foreign:
        return Error{
            Errc::corrupt, 0,
            name(expected) +
                " answered by a completion of another operation: " + numbers(completion)};
    case Outcome::impossible:
        return Error{
            Errc::corrupt, 0,
            name(expected) + " answered by an impossible completion: " + numbers(completion)};
    }
    PROMTACT_UNREACHABLE();
}

InFlight::InFlight(std::uint32_t capacity) : slots_(capacity) {
    PROMTACT_ASSERT(capacity > 0);
    PROMTACT_ASSERT(capacity <= 1U << slot_bits);
    free_.reserve(capacity);
    for (std::uint32_t i = capacity; i > 0; --i)
        free_.push_back(i - 1);
}

std::uint64_t InFlight::claim(OpKind kind, std::uint32_t length, std::uint64_t tag) {
    PROMTACT_ASSERT(size_ < capacity());
    PROMTACT_ASSERT(!free_.empty());
    PROMTACT_ASSERT(is_transfer(kind) || length == 0);
    const std::uint32_t index = free_.back();
    free_.pop_back();
    Slot& slot = slots_[index];
    PROMTACT_ASSERT(!slot.busy);
    // The sequence makes a late answer to an earlier owner of the slot recognisable.
    slot.expected = {
        .user_data = (++sequence_ << slot_bits) | index,
        .kind = kind,
        .length = length,
        .tag = tag};
    slot.busy = true;
    ++size_;
    return slot.expected.user_data;
}

InFlight::Slot* InFlight::find(std::uint64_t user_data) noexcept {
    const std::uint64_t index = user_data & ((1U << slot_bits) - 1);
    if (index >= slots_.size()) return nullptr;
    Slot& slot = slots_[index];
    if (!slot.busy || slot.expected.user_data != user_data) return nullptr;
    return &slot;
}

void InFlight::release(Slot& slot) {
    PROMTACT_ASSERT(slot.busy);
    PROMTACT_ASSERT(size_ > 0);
    slot.busy = false;
    --size_;
    free_.push_back(static_cast<std::uint32_t>(&slot - slots_.data()));
    PROMTACT_DEBUG_ASSERT(free_.size() + size_ == slots_.size());
}

Result<Expectation> InFlight::settle(const Completion& completion) {
    Slot* slot = find(completion.user_data);
    if (slot == nullptr) {
        return Error{
            Errc::corrupt, 0,
            "completion answers no operation in flight (" + numbers(completion) +
                "): it was never submitted or was answered before"};
    }
    if (judge(slot->expected, completion) == Outcome::impossible)
        return check(slot->expected, completion).error();
    const Expectation expected = slot->expected;
    release(*slot);
    return expected;
}

void InFlight::withdraw(std::uint64_t user_data) {
    Slot* slot = find(user_data);
    PROMTACT_ASSERT(slot != nullptr);
    release(*slot);
}

} // namespace promtact::uring
