// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One point of a storage benchmark: how the file was prepared, how a write is made durable, how
// many at once. An operation is one flush unit.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <promtact/base/disk_watch.hpp>
#include <promtact/base/histogram.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/scratch_file.hpp>
#include <promtact/uring/ring.hpp>

namespace promtact::harness::bench {

inline constexpr std::uint32_t block_bytes = 4096;

/// What a write finds at its place.
enum class Layout : std::uint8_t {
    append,      // nothing: the file grows
    unwritten,   // blocks reserved by fallocate(2), never written
    keep_size,   // the same beyond the end of the file (FALLOC_FL_KEEP_SIZE)
    overwritten, // blocks that were written and synced before
};
std::string_view to_string(Layout layout) noexcept;

/// How an operation becomes durable. All write with O_DIRECT.
enum class Method : std::uint8_t {
    pwrite_fdatasync,
    pwrite_fsync,
    pwrite_dsync,     // pwritev2 with RWF_DSYNC
    separate,         // WRITE_FIXED, then FSYNC with DATASYNC
    separate_fsync,   // WRITE_FIXED, then FSYNC: the reference's contract
    linked,           // the two of `separate`, chained
    dsync,            // WRITE_FIXED with RWF_DSYNC
    inline_fdatasync, // WRITE_FIXED, then fdatasync(2)
    write_only,       // WRITE_FIXED alone: NOT durable, the ceiling
};
std::string_view to_string(Method method) noexcept;

/// Which sync follows each write.
enum class SyncKind : std::uint8_t { fdatasync, fsync };
std::string_view to_string(SyncKind kind) noexcept;

struct Job {
    std::string name{}; // snake_case, unique in a ladder
    Layout layout = Layout::overwritten;
    Method method = Method::separate;
    std::uint32_t depth = 1;               // operations in flight
    std::uint32_t blocks_per_flush = 1;    // of one operation
    bool one_write = true;                 // the blocks as one request, or as one request each
    std::optional<uring::RingMode> ring{}; // how the ring is set up; default: the best one offered
};

struct JobLimits {
    std::uint64_t operations_max = 1'000'000;
    std::chrono::nanoseconds duration = std::chrono::milliseconds{200};
    std::uint64_t region_blocks = 8192; // the file; overwriting wraps around, the others stop
};

struct JobResult {
    Histogram latency{}; // ns per operation
    std::uint64_t operations = 0;
    std::uint64_t blocks = 0;
    std::uint64_t elapsed_ns = 0;
    std::uint64_t cpu_ns = 0;       // user and system time of this thread, without kernel workers
    std::uint64_t system_calls = 0; // 0 where not counted
    std::optional<DiskTraffic> traffic{};

    [[nodiscard]] std::uint64_t operations_per_second() const noexcept;
    void merge(const JobResult& other);
};

/// A nameless file in that layout. Errors: no_space, unsupported, by errno.
Result<ScratchFile>
prepare_file(const std::filesystem::path& directory, Layout layout, std::uint64_t region_blocks);

/// Runs one point on a prepared file until a limit is reached. watch: counts what reaches the disk;
/// may be nullptr. Requires: depth > 1 only for linked, separate, dsync, write_only with
/// blocks_per_flush 1; one_write false only for separate and inline_fdatasync.
Result<JobResult>
run_job(const Job& job, const ScratchFile& file, const JobLimits& limits, const DiskWatch* watch);

/// The two steps of an operation, timed apart, as fio reports them. Units: ns.
struct TwoStepResult {
    Histogram write{};
    Histogram sync{};
    std::uint64_t operations = 0;
    std::uint64_t elapsed_ns = 0;
    [[nodiscard]] std::uint64_t operations_per_second() const noexcept;
};

/// Overwrites the first `operations` blocks once, each followed by a sync.
Result<TwoStepResult> run_two_steps(
    const ScratchFile& file, std::uint64_t operations, SyncKind kind,
    std::optional<uring::RingMode> ring);

} // namespace promtact::harness::bench
