// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <chrono>
#include <thread>

#include <promtact/base/assert.hpp>
#include <promtact/base/clock.hpp>

#include "log_hand_internal.hpp"

namespace promtact::wal_testing {
namespace {

constexpr std::uint64_t patience_ns = 20'000'000'000;
constexpr std::uint64_t step_ns = 1'000'000; // the log's clock goes on by this with each pump
constexpr int eager_pumps = 64;              // before the processor is left to others

} // namespace

wal::LogOptions suite_log_options(std::uint64_t entropy) {
    wal::LogOptions options{.open = wal::LogOptions::Open::either, .entropy = entropy};
    options.uuid[0] = std::byte{1};
    options.segment_bytes = 16 * suite_block;
    options.frame_bytes_max = 4 * suite_block;
    options.zero_chunk_bytes = 16 * suite_block;
    options.watermark_delay_ns = 1000 * step_ns;
    options.scan.chunk_bytes = 64 * suite_block;
    return options;
}

LogHand::LogHand(StorageSession& session, Storage& storage, const wal::LogOptions& options)
    : session_(&session), options_(options),
      arena_(wal::LogCore::arena_bytes(options), suite_block),
      core_(std::make_unique<wal::LogCore>(storage, options_, arena_.span())) {}

template <class Condition>
Result<void> LogHand::pump_until(Condition&& condition) {
    const MonotonicClock clock;
    const std::uint64_t end = clock.now_ns() + patience_ns;
    for (int pumps = 0; !condition(); ++pumps) {
        if (core_->poisoned()) return core_->poison();
        if (pumps > eager_pumps) {
            if (clock.now_ns() > end)
                return Error{Errc::timeout, 0, "the log on it made no progress"};
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        now_ns_ += step_ns;
        core_->pump(now_ns_);
    }
    return {};
}

Result<void> LogHand::open() {
    using State = wal::LogCore::State;
    PROMTACT_TRY(pump_until([this] { return core_->state() != State::opening; }));
    if (core_->state() == State::refused) return core_->open_error();
    PROMTACT_ASSERT(core_->state() == State::ready);
    return {};
}

Result<wal::Lsn> LogHand::append(std::span<const std::byte> payload) {
    Result<wal::Lsn> lsn = Error{Errc::busy, 0, {}};
    PROMTACT_TRY(pump_until([&] {
        lsn = core_->append(payload);
        return lsn || lsn.error().code != Errc::busy;
    }));
    return lsn;
}

Result<void> LogHand::settle() {
    return pump_until([this] { return core_->durable() == core_->last(); });
}

Result<void> LogHand::close() {
    core_->close();
    return pump_until([this] { return core_->state() == wal::LogCore::State::closed; });
}

Result<std::vector<std::vector<std::byte>>> LogHand::read(wal::Lsn from, wal::Lsn through) {
    std::vector<std::vector<std::byte>> records;
    wal::AlignedBytes buffer(std::size_t{wal::frame_blocks_max} * suite_block, suite_block);
    while (from <= through) {
        PROMTACT_TRY(core_->start_read(from, buffer.span()));
        std::optional<Result<wal::LogCore::FrameRead>> result;
        PROMTACT_TRY(pump_until([&] {
            result = core_->take_read();
            return result.has_value();
        }));
        if (!*result) return result->error();
        const wal::LogCore::FrameRead& frame = **result;
        wal::RecordCursor cursor(frame.frame, frame.header, core_->layout());
        wal::RecordView record;
        while (cursor.next(record)) {
            if (record.lsn >= from && record.lsn <= through)
                records.emplace_back(record.payload.begin(), record.payload.end());
        }
        from = frame.header.first_lsn + frame.header.records;
    }
    return records;
}

} // namespace promtact::wal_testing
