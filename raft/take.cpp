// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// From what has changed to what is to be done.
#include <algorithm>
#include <utility>

#include <promtact/raft/core.hpp>

namespace promtact::raft {

bool Core::has_output() const noexcept {
    if (!failed_reads_.empty() || !failed_proposals_.empty() || transfer_end_) return true;
    if (fault_ != Fault::none) return false;
    if (!now_.empty() || due_ || round_due() || forward_due()) return true;
    if (hard_dirty_ || log_.has_unsaved() || chunk_ || installed_) return true;
    if (received_ready() || released_ != 0) return true;
    if (applied_ < std::min(commit_, log_.stable())) return true;
    return std::any_of(
        reads_confirmed_.begin(), reads_confirmed_.end(),
        [this](const ReadyRead& read) { return read.index <= applied_; });
}

void Core::take(Output& out) {
    out.clear();
    out.failed_reads.swap(failed_reads_);
    out.failed_proposals.swap(failed_proposals_);
    out.transfer = std::exchange(transfer_end_, std::nullopt);
    out.id = {options_.incarnation, next_batch_ - 1};
    if (fault_ != Fault::none) return;
    if (round_due()) start_round();
    if (forward_due()) forward_reads();
    if (role_ == Role::leader && due_) {
        due_ = false;
        for (Progress& follower : progress_)
            replicate(follower);
    }
    take_batch(out);
    take_apply(out);
    if (received_ready()) {
        incoming_->announced = true;
        out.received = incoming_->meta;
    }
    out.released = std::exchange(released_, 0);
    out.messages.swap(now_);
    PROMTACT_ASSERT(now_.empty());
}

/// Whatever changed since the last batch becomes the next one. The commit index alone is worth
/// none: it rides along. It never points behind what the batch and those before it hold.
void Core::take_batch(Output& out) {
    if (!hard_dirty_ && !log_.has_unsaved() && !chunk_ && !installed_) return;
    const std::uint64_t number = next_batch_++;
    if (durable_batch_ + 1 == number) stall_elapsed_ = 0;
    out.id.number = number;
    out.chunk = std::exchange(chunk_, std::nullopt);
    out.installed = std::exchange(installed_, std::nullopt);
    if (log_.has_unsaved() || out.installed) log_.take_unsaved(number, out.entries);
    PROMTACT_ASSERT(commit_ <= log_.last());
    out.hard_state = HardState{term_, vote_, commit_};
    hard_dirty_ = false;
    PROMTACT_ASSERT(!log_.has_unsaved());
}

/// Committed entries that are durable here, too: the state machine never gets ahead of the log it
/// would be rebuilt from.
void Core::take_apply(Output& out) {
    const Index until = std::min(commit_, log_.stable());
    if (applied_ < until) {
        constexpr std::uint32_t entries_max = 1U << 20;
        const Index last =
            std::min(until, log_.limit(applied_ + 1, entries_max, options_.apply_bytes_max));
        log_.collect(applied_ + 1, last, out.apply);
        PROMTACT_ASSERT(last > applied_);
        applied_ = last;
    }
    auto kept = reads_confirmed_.begin();
    for (const ReadyRead& read : reads_confirmed_) {
        if (read.index <= applied_) {
            out.reads.push_back(read);
        } else {
            *kept++ = read;
        }
    }
    reads_confirmed_.erase(kept, reads_confirmed_.end());
}

} // namespace promtact::raft
