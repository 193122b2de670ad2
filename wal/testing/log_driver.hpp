// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Drives a LogCore over a storage in memory, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <promtact/wal/fault_storage.hpp>
#include <promtact/wal/log_core.hpp>
#include <promtact/wal/memory_storage.hpp>

namespace promtact::wal::testing {

/// Small segments, so that a test sees rotations.
inline LogOptions small_options() {
    LogOptions options{.open = LogOptions::Open::either, .entropy = 1};
    options.uuid[3] = std::byte{9};
    options.segment_bytes = 16 * block_bytes;
    options.frame_bytes_max = 4 * block_bytes;
    options.zero_chunk_bytes = 8 * block_bytes;
    options.scan.index_stride_blocks = 2;
    return options;
}

inline std::vector<std::byte> payload_of(Lsn lsn, std::size_t bytes = 100) {
    std::vector<std::byte> payload(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        payload[i] = static_cast<std::byte>((lsn * 37 + i) & 0xffU);
    return payload;
}

/// One disk and one log on it.
class LogDriver {
  public:
    explicit LogDriver(
        disk::Pool& disk_pool, const disk::Image& start = {},
        const LogOptions& log_options = small_options(), MemoryStorageOptions storage_options = {})
        : memory(disk_pool, start, with_atoms(disk_pool, storage_options)), faults(memory, 7),
          options(log_options), arena(LogCore::arena_bytes(log_options)) {}

    /// Opens; true when ready.
    bool open() {
        log = std::make_unique<LogCore>(faults, options, arena);
        for (int i = 0; i < 1000 && log->state() == LogCore::State::opening; ++i)
            pump();
        return log->state() == LogCore::State::ready;
    }
    void pump() {
        now_ns += 1000;
        log->pump(now_ns);
    }
    void pump(int times) {
        for (int i = 0; i < times; ++i)
            pump();
    }
    /// Appends, retrying while the log is busy; 0 on any other error.
    Lsn append(std::span<const std::byte> payload, RecordTag tag = {}) {
        for (int i = 0; i < 1000; ++i) {
            const Result<Lsn> lsn = log->append(payload, tag);
            if (lsn) return *lsn;
            if (lsn.error().code != Errc::busy) return 0;
            pump();
        }
        return 0;
    }
    bool make_durable() {
        for (int i = 0; i < 1000 && log->durable() < log->last() && !log->poisoned(); ++i)
            pump();
        return log->durable() == log->last();
    }
    /// Appends one frame and has it acknowledged.
    Lsn commit(std::size_t bytes = 100, int records = 1) {
        Lsn lsn = 0;
        for (int i = 0; i < records; ++i)
            lsn = append(payload_of(log->last() + 1, bytes));
        return make_durable() ? lsn : 0;
    }
    /// Lets the log come to rest: spares are made, the watermark is written.
    void rest() {
        pump(100);
        now_ns += options.watermark_delay_ns;
        pump(100);
    }
    bool close() {
        log->close();
        for (int i = 0; i < 1000 && log->state() == LogCore::State::closing; ++i)
            pump();
        return log->state() == LogCore::State::closed;
    }
    /// What a power cut now leaves when nothing pending persists, or everything.
    [[nodiscard]] disk::Image crash(bool keep_all = false) const {
        disk::Image image;
        memory.model().crash(image, [keep_all](std::size_t) { return keep_all; });
        return image;
    }
    /// Reads records from .. to in order; empty spans of a truncation are left out.
    std::vector<std::vector<std::byte>> read(Lsn from, Lsn to) {
        std::vector<std::vector<std::byte>> records;
        std::vector<std::byte> buffer(frame_blocks_max * block_bytes);
        while (from <= to && log->start_read(from, buffer)) {
            std::optional<Result<LogCore::FrameRead>> result;
            for (int i = 0; i < 100 && !result; ++i) {
                pump();
                result = log->take_read();
            }
            if (!result || !*result) break;
            RecordCursor cursor((**result).frame, (**result).header, log->layout());
            RecordView record;
            while (cursor.next(record)) {
                if (record.lsn >= from && record.lsn <= to) {
                    records.push_back({record.payload.begin(), record.payload.end()});
                }
            }
            from = (**result).header.first_lsn + (**result).header.records;
        }
        return records;
    }

    MemoryStorage memory;
    FaultStorage faults;
    LogOptions options;
    std::vector<std::byte> arena;
    std::unique_ptr<LogCore> log{};
    std::uint64_t now_ns = 0;

  private:
    static MemoryStorageOptions
    with_atoms(const disk::Pool& pool, MemoryStorageOptions storage_options) {
        storage_options.limits.atomic_bytes = pool.atom_bytes();
        return storage_options;
    }
};

/// Judges an image without opening it for append.
inline ScanReport
scan_image(disk::Pool& pool, const disk::Image& image, const ScanOptions& options = {}) {
    MemoryStorageOptions storage_options;
    storage_options.limits.atomic_bytes = pool.atom_bytes();
    MemoryStorage storage(pool, image, storage_options);
    LogScan scan(storage, options);
    scan.run();
    return scan.report();
}

} // namespace promtact::wal::testing
