// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/job.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

#include <fcntl.h>

#include <promtact/uring/block_writer.hpp>

#include "bench/commit_path.hpp"

namespace promtact::harness::bench {
namespace {

std::uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    static_cast<void>(::clock_gettime(clock, &now));
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t rate(std::uint64_t operations, std::uint64_t elapsed_ns) {
    return elapsed_ns == 0 ? 0 : operations * 1'000'000'000 / elapsed_ns;
}

// Where the next operation goes, and whether there is one.
class Cursor {
  public:
    Cursor(const Job& job, const JobLimits& limits)
        : operation_bytes_(std::uint64_t{job.blocks_per_flush} * block_bytes),
          places_(limits.region_blocks / job.blocks_per_flush),
          wraps_(job.layout == Layout::overwritten), operations_max_(limits.operations_max),
          start_ns_(clock_ns(CLOCK_MONOTONIC)),
          end_ns_(start_ns_ + static_cast<std::uint64_t>(limits.duration.count())) {
        PROMTACT_ASSERT(places_ > 0);
    }
    [[nodiscard]] bool more(std::uint64_t now_ns) const {
        if (issued_ >= operations_max_ || now_ns >= end_ns_) return false;
        return wraps_ || issued_ < places_;
    }
    std::uint64_t next() { return issued_++ % places_ * operation_bytes_; }
    [[nodiscard]] std::uint64_t issued() const { return issued_; }
    [[nodiscard]] std::uint64_t start_ns() const { return start_ns_; }

  private:
    std::uint64_t operation_bytes_;
    std::uint64_t places_;
    bool wraps_;
    std::uint64_t operations_max_;
    std::uint64_t start_ns_;
    std::uint64_t end_ns_;
    std::uint64_t issued_ = 0;
};

Result<void> run_one_by_one(CommitPath& path, Cursor& cursor, JobResult& result) {
    std::uint64_t now = cursor.start_ns();
    while (cursor.more(now)) {
        PROMTACT_TRY(path.commit(cursor.next()));
        const std::uint64_t end = clock_ns(CLOCK_MONOTONIC);
        result.latency.record(end - now);
        now = end;
    }
    result.elapsed_ns = now - cursor.start_ns();
    return {};
}

Result<void> run_queued(
    uring::BlockWriter& writer, std::uint32_t depth, std::span<const std::byte> block,
    Cursor& cursor, JobResult& result) {
    std::vector<std::uint64_t> began(depth);
    std::vector<std::uint64_t> idle(depth);
    for (std::uint32_t i = 0; i < depth; ++i)
        idle[i] = i;
    std::vector<uring::WriteDone> done(depth);
    std::uint64_t now = cursor.start_ns();
    for (;;) {
        while (!idle.empty() && cursor.more(now)) {
            const std::uint64_t tag = idle.back();
            idle.pop_back();
            began[tag] = clock_ns(CLOCK_MONOTONIC);
            PROMTACT_TRY(writer.queue(tag, cursor.next(), block));
        }
        if (writer.queued() == 0) break;
        PROMTACT_TRY_ASSIGN(const std::size_t finished, writer.wait(done));
        now = clock_ns(CLOCK_MONOTONIC);
        for (std::size_t i = 0; i < finished; ++i) {
            result.latency.record(now - began[done[i].tag]);
            idle.push_back(done[i].tag);
        }
    }
    result.elapsed_ns = now - cursor.start_ns();
    return {};
}

Result<void> run_deep(const Job& job, UniqueFd file, const JobLimits& limits, JobResult& result) {
    PROMTACT_ASSERT(job.blocks_per_flush == 1);
    const std::vector<std::byte> block(block_bytes, std::byte{0x5a});
    PROMTACT_TRY_ASSIGN(
        uring::BlockWriter writer,
        uring::BlockWriter::open(
            std::move(file),
            {.mode = *write_mode(job.method), .depth = job.depth, .ring = {.only = job.ring}}));
    Cursor cursor(job, limits);
    PROMTACT_TRY(run_queued(writer, job.depth, block, cursor, result));
    result.operations = cursor.issued();
    result.system_calls = writer.stats().system_calls;
    return writer.close();
}

Result<void>
run_shallow(const Job& job, UniqueFd file, const JobLimits& limits, JobResult& result) {
    PROMTACT_TRY_ASSIGN(
        const std::unique_ptr<CommitPath> path, CommitPath::open(job, std::move(file)));
    Cursor cursor(job, limits);
    PROMTACT_TRY(run_one_by_one(*path, cursor, result));
    result.operations = cursor.issued();
    result.system_calls = path->system_calls();
    return path->close();
}

} // namespace

std::string_view to_string(Layout layout) noexcept {
    switch (layout) {
    case Layout::append:
        return "append";
    case Layout::unwritten:
        return "unwritten";
    case Layout::keep_size:
        return "keep_size";
    case Layout::overwritten:
        return "overwritten";
    }
    PROMTACT_UNREACHABLE();
}

std::string_view to_string(Method method) noexcept {
    switch (method) {
    case Method::pwrite_fdatasync:
        return "pwrite_fdatasync";
    case Method::pwrite_fsync:
        return "pwrite_fsync";
    case Method::pwrite_dsync:
        return "pwrite_dsync";
    case Method::separate:
        return "separate";
    case Method::separate_fsync:
        return "separate_fsync";
    case Method::linked:
        return "linked";
    case Method::dsync:
        return "dsync";
    case Method::inline_fdatasync:
        return "inline_fdatasync";
    case Method::write_only:
        return "write_only";
    }
    PROMTACT_UNREACHABLE();
}

std::string_view to_string(SyncKind kind) noexcept {
    return kind == SyncKind::fdatasync ? "fdatasync" : "fsync";
}

std::uint64_t JobResult::operations_per_second() const noexcept {
    return rate(operations, elapsed_ns);
}

std::uint64_t TwoStepResult::operations_per_second() const noexcept {
    return rate(operations, elapsed_ns);
}

void JobResult::merge(const JobResult& other) {
    latency.merge(other.latency);
    operations += other.operations;
    blocks += other.blocks;
    elapsed_ns += other.elapsed_ns;
    cpu_ns += other.cpu_ns;
    system_calls += other.system_calls;
    if (!other.traffic) return;
    if (!traffic) traffic.emplace();
    *traffic += *other.traffic;
}

Result<ScratchFile>
prepare_file(const std::filesystem::path& directory, Layout layout, std::uint64_t region_blocks) {
    PROMTACT_TRY_ASSIGN(ScratchFile file, ScratchFile::create(directory, O_DIRECT));
    const auto bytes = static_cast<off_t>(region_blocks * block_bytes);
    if (layout == Layout::overwritten)
        PROMTACT_TRY(file.fill_with_zeros(region_blocks * block_bytes));
    if (layout == Layout::unwritten || layout == Layout::keep_size) {
        const int mode = layout == Layout::keep_size ? FALLOC_FL_KEEP_SIZE : 0;
        if (::fallocate(file.fd(), mode, 0, bytes) != 0) {
            return Error::from_errno(
                errno, "reserve " + std::to_string(bytes) + " bytes in " + directory.string());
        }
        if (::fsync(file.fd()) != 0)
            return Error::from_errno(errno, "sync a file in " + directory.string());
    }
    return file;
}

Result<JobResult>
run_job(const Job& job, const ScratchFile& file, const JobLimits& limits, const DiskWatch* watch) {
    PROMTACT_ASSERT(job.depth >= 1);
    PROMTACT_ASSERT(job.blocks_per_flush >= 1);
    JobResult result;
    PROMTACT_TRY_ASSIGN(UniqueFd direct, file.reopen(O_RDWR | O_DIRECT));
    PROMTACT_TRY_ASSIGN(const DiskTraffic before, watch == nullptr ? DiskTraffic{} : watch->read());
    const std::uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (job.depth > 1) {
        PROMTACT_TRY(run_deep(job, std::move(direct), limits, result));
    } else {
        PROMTACT_TRY(run_shallow(job, std::move(direct), limits, result));
    }
    result.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    result.blocks = result.operations * job.blocks_per_flush;
    if (watch == nullptr) return result;
    PROMTACT_TRY_ASSIGN(const DiskTraffic after, watch->read());
    result.traffic = after - before;
    return result;
}

Result<TwoStepResult> run_two_steps(
    const ScratchFile& file, std::uint64_t operations, SyncKind kind,
    std::optional<uring::RingMode> ring) {
    PROMTACT_TRY_ASSIGN(UniqueFd direct, file.reopen(O_RDWR | O_DIRECT));
    PROMTACT_TRY_ASSIGN(
        const std::unique_ptr<TwoStepPath> path,
        TwoStepPath::open({.sync = kind, .bytes = block_bytes, .ring = ring}, std::move(direct)));
    TwoStepResult result;
    const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
    std::uint64_t now = start;
    for (std::uint64_t i = 0; i < operations; ++i) {
        PROMTACT_TRY(path->write(i * block_bytes));
        const std::uint64_t written = clock_ns(CLOCK_MONOTONIC);
        PROMTACT_TRY(path->sync());
        const std::uint64_t synced = clock_ns(CLOCK_MONOTONIC);
        result.write.record(written - now);
        result.sync.record(synced - written);
        now = synced;
    }
    result.operations = operations;
    result.elapsed_ns = now - start;
    PROMTACT_TRY(path->close());
    return result;
}

} // namespace promtact::harness::bench
