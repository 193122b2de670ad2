// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/wal_recovery.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include <promtact/base/clock.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/uring_storage.hpp>
#include <promtact/wal/log.hpp>
#include <promtact/wal/scan.hpp>

#include "bench/statistics.hpp"

namespace promtact::harness::bench {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
constexpr std::uint32_t read_bytes = 1U << 20;
constexpr std::uint32_t reads_in_flight = 16;

Result<std::uint64_t> fill(const std::filesystem::path& directory, std::uint64_t bytes) {
    wal::LogConfig config;
    config.log.open = wal::LogOptions::Open::create;
    PROMTACT_TRY_ASSIGN(const auto log, wal::Log::open(directory, config));
    const std::vector<std::byte> payload(4000, std::byte{0x5a});
    while (log->stats().bytes_written < bytes)
        PROMTACT_TRY(log->append_for(payload, {}, {}, std::chrono::seconds{30}));
    PROMTACT_TRY(log->append_durable(payload));
    const std::uint64_t written = log->stats().bytes_written;
    PROMTACT_TRY(log->close());
    return written;
}

Result<std::unique_ptr<uring::UringStorage>>
open_files(const std::filesystem::path& directory, std::span<std::byte> arena = {}) {
    return uring::UringStorage::open(directory, {.arena = arena, .read_only = true});
}

/// Nanoseconds of one judgement. Errors: corrupt, when the log does not stand
Result<std::uint64_t> scan_once(const std::filesystem::path& directory, std::uint64_t& segments) {
    PROMTACT_TRY_ASSIGN(const auto storage, open_files(directory));
    const MonotonicClock clock;
    const std::uint64_t begin = clock.now_ns();
    wal::LogScan scan(*storage, {});
    scan.run();
    const std::uint64_t elapsed = clock.now_ns() - begin;
    if (scan.report().verdict != wal::Verdict::ok)
        return Error{Errc::corrupt, 0, scan.report().text};
    segments = scan.report().segments.size();
    return elapsed;
}

/// One file from front to back, several reads in flight.
Result<void> read_file(
    uring::UringStorage& storage, std::uint64_t file_bytes, const uring::AlignedBuffer& into) {
    std::uint64_t asked = 0;
    std::uint32_t in_flight = 0;
    while (asked < file_bytes || in_flight > 0) {
        while (asked < file_bytes && in_flight < reads_in_flight) {
            const std::uint64_t slot = asked / read_bytes % reads_in_flight;
            const bool taken = storage.submit(
                {.id = asked + 1,
                 .kind = IoKind::read,
                 .file = 1,
                 .offset = asked,
                 .data = into.all().subspan(slot * read_bytes, read_bytes)});
            if (!taken) break;
            asked += read_bytes;
            ++in_flight;
        }
        // One at a time: an answer frees the place of the read that follows it.
        std::array<IoDone, 1> done{};
        if (storage.wait(done, 1'000'000'000) == 0) continue;
        if (done[0].result < 0)
            return Error::from_errno(static_cast<int>(-done[0].result), "read a segment");
        --in_flight;
    }
    return {};
}

Result<std::uint64_t> read_once(const std::filesystem::path& directory, std::uint64_t segments) {
    PROMTACT_TRY_ASSIGN(
        const auto buffer, uring::AlignedBuffer::allocate(reads_in_flight, read_bytes));
    PROMTACT_TRY_ASSIGN(const auto storage, open_files(directory, buffer.all()));
    const MonotonicClock clock;
    const std::uint64_t begin = clock.now_ns();
    for (std::uint64_t segment = 1; segment <= segments; ++segment) {
        const std::string name = wal::segment_name(segment);
        static_cast<void>(storage->submit(
            {.id = ~std::uint64_t{0}, .kind = IoKind::open, .file = 1, .name = name}));
        std::array<IoDone, 1> opened{};
        while (storage->wait(opened, 1'000'000'000) == 0) {
        }
        if (opened[0].result < 0)
            return Error::from_errno(static_cast<int>(-opened[0].result), "open " + name);
        PROMTACT_TRY(read_file(*storage, static_cast<std::uint64_t>(opened[0].result), buffer));
    }
    return clock.now_ns() - begin;
}

} // namespace

bool recovers_fast(const RecoveryFigures& figures) {
    const std::uint64_t scan = median(figures.scan);
    return scan >= gibibyte || scan >= median(figures.read) / 10 * 9;
}

Result<RecoveryFigures> measure_recovery(
    const std::filesystem::path& directory, std::uint64_t bytes, std::uint64_t rounds) {
    RecoveryFigures figures;
    PROMTACT_TRY_ASSIGN(figures.log_bytes, fill(directory, bytes));
    for (std::uint64_t round = 0; round < rounds; ++round) {
        std::uint64_t segments = 0;
        PROMTACT_TRY_ASSIGN(const std::uint64_t scan_ns, scan_once(directory, segments));
        PROMTACT_TRY_ASSIGN(const std::uint64_t read_ns, read_once(directory, segments));
        const std::uint64_t covered = segments * wal::LogOptions{}.segment_bytes;
        figures.scan.push_back(covered * 1'000'000'000 / std::max<std::uint64_t>(1, scan_ns));
        figures.read.push_back(covered * 1'000'000'000 / std::max<std::uint64_t>(1, read_ns));
    }
    return figures;
}

} // namespace promtact::harness::bench
