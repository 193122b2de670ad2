// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include <promtact/base/clock.hpp>

#include "storage_faults/session_internal.hpp"

namespace promtact::gates::storage_faults {
namespace {

constexpr std::uint64_t patience_ns = 5'000'000'000;
constexpr std::chrono::microseconds pause{20};

/// Segments that a few hundred records fill.
wal::LogOptions session_options() {
    wal::LogOptions options{.open = wal::LogOptions::Open::either, .entropy = 1};
    options.uuid[0] = std::byte{1};
    options.segment_bytes = 256 * wal::block_bytes;
    options.frame_bytes_max = static_cast<std::uint32_t>(8 * wal::block_bytes);
    options.space_retry_ns = 1'000'000;
    return options;
}

/// Longer than a block, so that a write of it can be short or torn.
std::vector<std::byte> payload_of(wal::Lsn lsn) {
    std::vector<std::byte> payload(wal::block_bytes + lsn % 50 * 100);
    for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<std::byte>(lsn * 131 + i * 7);
    return payload;
}

} // namespace

wal::LogOptions Session::options() {
    wal::LogOptions options = session_options();
    options.scan.on_frame =
        [this](const wal::FrameHeader& header, std::span<const std::byte> frame) {
            wal::RecordCursor cursor(frame, header, wal::Layout::variable);
            wal::RecordView record;
            while (cursor.next(record))
                wrong_ += std::ranges::equal(record.payload, payload_of(record.lsn)) ? 0 : 1;
        };
    return options;
}

Session::Session(uring::AlignedBuffer arena, std::unique_ptr<uring::UringStorage> storage)
    : arena_(std::move(arena)), storage_(std::move(storage)), faults_(*storage_, 1),
      log_(faults_, options(), arena_.all()) {}

Result<std::unique_ptr<Session>> Session::open(const std::filesystem::path& directory) {
    const std::size_t bytes = wal::LogCore::arena_bytes(session_options());
    const std::size_t blocks = (bytes + wal::block_bytes - 1) / wal::block_bytes;
    PROMTACT_TRY_ASSIGN(
        auto arena,
        uring::AlignedBuffer::allocate(1, static_cast<std::uint32_t>(blocks * wal::block_bytes)));
    PROMTACT_TRY_ASSIGN(
        auto storage,
        uring::UringStorage::open(directory, {.arena = arena.all(), .inline_sync = true}));
    return std::make_unique<Session>(std::move(arena), std::move(storage));
}

Result<std::unique_ptr<Session>>
Session::open(const std::filesystem::path& directory, const wal::FaultRule& rule) {
    PROMTACT_TRY_ASSIGN(auto session, open(directory));
    session->add(rule);
    return session;
}

template <class Done>
bool Session::drive(Done done) {
    const MonotonicClock clock;
    const std::uint64_t end = clock.now_ns() + patience_ns;
    while (clock.now_ns() < end) {
        log_.pump(clock.now_ns());
        std::array<wal::AppendDone, 16> outcomes{};
        const std::size_t count = log_.take_done(outcomes);
        for (std::size_t i = 0; i < count; ++i) {
            reported_ = std::max(reported_, outcomes[i].last);
            if (outcomes[i].outcome == wal::AppendDone::Outcome::durable)
                acknowledged_ = std::max(acknowledged_, outcomes[i].last);
        }
        if (count == 0 && done()) return true;
        std::this_thread::sleep_for(pause);
    }
    return false;
}

Result<wal::Lsn> Session::append() {
    return log_.append(payload_of(log_.last() + 1));
}

bool Session::rest() {
    return drive([this] { return log_.idle() || log_.poisoned(); });
}

bool Session::drain() {
    return drive([this] { return reported_ >= log_.last() || log_.durable() >= log_.last(); });
}

bool Session::settle() {
    const bool settled = drive([this] { return log_.state() != wal::LogCore::State::opening; });
    reported_ = std::max(reported_, log_.state() == wal::LogCore::State::ready ? log_.last() : 0);
    return settled;
}

} // namespace promtact::gates::storage_faults
