// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// What the writer does with each answer: the states a write passes between submission and durable.
#include <promtact/base/assert.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/uring/block_writer.hpp>

namespace promtact::uring {
namespace {

constexpr std::uint32_t retries_max = 8;

// A slot has at most a write and one sync in the ring, told apart by the lowest bit of the tag.
constexpr std::uint64_t write_tag(std::uint32_t index) {
    return std::uint64_t{index} << 1;
}
constexpr std::uint64_t sync_tag(std::uint32_t index) {
    return std::uint64_t{index} << 1 | 1;
}

} // namespace

Result<void> BlockWriter::submit_write(std::uint32_t index) {
    Slot& slot = slots_[index];
    PROMTACT_ASSERT(!slot.writing);
    PROMTACT_ASSERT(slot.done < slot.length);
    // The chain is only for the first attempt: what follows a short or repeated write must see its
    // outcome before it flushes.
    const bool chained = options_.mode == WriteMode::linked && slot.flush && !slot.attempted;
    slot.attempted = true;
    slot.writing = true;
    const Operation write{
        .kind = registered_ ? OpKind::write_fixed : OpKind::write,
        .registered_file = true,
        .linked = chained,
        .file = 0,
        .offset = slot.offset + slot.done,
        .data = buffer_.slot(index).subspan(slot.done, slot.length - slot.done),
        .buffer = 0,
        .rw_flags = options_.mode == WriteMode::dsync && slot.flush ? rwf_dsync : 0,
        .tag = write_tag(index)};
    PROMTACT_TRY(ring_.prepare(write));
    if (chained) return submit_sync(index);
    return {};
}

Result<void> BlockWriter::submit_sync(std::uint32_t index) {
    Slot& slot = slots_[index];
    PROMTACT_ASSERT(slot.flush);
    PROMTACT_ASSERT(slot.sync == Sync::none);
    slot.sync = Sync::running;
    return ring_.prepare(
        {.kind = OpKind::sync_data, .registered_file = true, .file = 0, .tag = sync_tag(index)});
}

bool BlockWriter::finish(std::uint32_t index) {
    Slot& slot = slots_[index];
    PROMTACT_ASSERT(!slot.writing);
    PROMTACT_ASSERT(slot.done == slot.length);
    PROMTACT_ASSERT(slot.sync == Sync::none);
    PROMTACT_ASSERT(queued_ > 0);
    buffer_.give(index);
    --queued_;
    ++stats_.writes;
    return true;
}

Result<void> BlockWriter::data_sync() {
    ++stats_.system_calls;
    PROMTACT_TRY(ring_.data_sync(file_.get()));
    ++stats_.flushes;
    return {};
}

// True when the write is finished, false when it still waits for something.
Result<bool> BlockWriter::on_all_written(std::uint32_t index) {
    Slot& slot = slots_[index];
    PROMTACT_ASSERT(slot.done == slot.length);
    if (!slot.flush) return finish(index);
    kill_point(); // written, not durable
    switch (options_.mode) {
    case WriteMode::write_only:
        return finish(index);
    case WriteMode::dsync:
        ++stats_.flushes;
        return finish(index);
    case WriteMode::inline_fdatasync:
        PROMTACT_TRY(data_sync());
        return finish(index);
    case WriteMode::separate:
    case WriteMode::linked:
        break;
    }
    if (slot.sync == Sync::running || slot.sync == Sync::stale) return false;
    if (slot.sync == Sync::passed) {
        slot.sync = Sync::none;
        return finish(index);
    }
    PROMTACT_TRY(submit_sync(index));
    return false;
}

Result<bool> BlockWriter::on_short_write(std::uint32_t index, const Finished& finished) {
    Slot& slot = slots_[index];
    if (slot.resumed) return finished.check().error();
    slot.resumed = true;
    ++stats_.short_writes;
    // Resume at a boundary the device accepts, repeating at most part of one block.
    slot.done += static_cast<std::uint32_t>(finished.result) / alignment_ * alignment_;
    PROMTACT_ASSERT(slot.done < slot.length);
    PROMTACT_TRY(submit_write(index));
    return false;
}

Result<bool> BlockWriter::on_write(std::uint32_t index, const Finished& finished) {
    Slot& slot = slots_[index];
    PROMTACT_ASSERT(slot.writing);
    slot.writing = false;
    const Outcome outcome = finished.outcome();
    if (outcome == Outcome::complete) {
        slot.done = slot.length;
        return on_all_written(index);
    }
    // A sync chained to this attempt does not cover what is still to be written, whatever it says.
    if (slot.sync == Sync::running) slot.sync = Sync::stale;
    if (slot.sync == Sync::passed) slot.sync = Sync::none;
    if (outcome == Outcome::short_done) return on_short_write(index, finished);
    if (outcome == Outcome::again && slot.retries < retries_max) {
        ++slot.retries;
        ++stats_.retries;
        slot.done = 0; // some part may be written, nobody knows which
        PROMTACT_TRY(submit_write(index));
        return false;
    }
    return finished.check().error();
}

Result<bool> BlockWriter::on_sync(std::uint32_t index, const Finished& finished) {
    Slot& slot = slots_[index];
    PROMTACT_ASSERT(slot.sync == Sync::running || slot.sync == Sync::stale);
    const bool covers = slot.sync == Sync::running;
    slot.sync = Sync::none;
    const Outcome outcome = finished.outcome();
    const bool passed = outcome == Outcome::complete;
    // Cancelled means that its chained write did not complete in full; that answer may still come.
    const bool cancelled_by_chain = outcome == Outcome::cancelled && (!covers || slot.writing);
    if (!passed && !cancelled_by_chain) return finished.check().error();
    if (passed) ++stats_.flushes;
    if (slot.writing) {
        if (passed && covers) slot.sync = Sync::passed;
        return false;
    }
    if (passed && covers) return finish(index);
    return on_all_written(index);
}

} // namespace promtact::uring
