// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/direct_file.hpp>
#include <promtact/wal/direct_log.hpp>

#include "direct_reader_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint32_t batch_max = 1024;
constexpr std::uint32_t depth_max = 32; // of the writes of one batch
constexpr std::uint32_t zero_bytes = 1U << 20;

Result<void> check_options(const DirectLogOptions& options) {
    if (options.batch == 0 || options.batch > batch_max) {
        return Error{
            Errc::invalid_argument, 0,
            "batch must be 1.." + std::to_string(batch_max) + ", not " +
                std::to_string(options.batch)};
    }
    if (options.preallocate_blocks > static_cast<std::uint64_t>(INT64_MAX) / block_bytes) {
        return Error{
            Errc::invalid_argument, 0,
            "cannot preallocate " + std::to_string(options.preallocate_blocks) + " blocks"};
    }
    return {};
}

Result<void> sync_directory_of(const std::filesystem::path& path) {
    const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
    const UniqueFd directory(sys().open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (!directory) return Error::from_errno(errno, "open directory " + parent.string());
    if (sys().fsync(directory.get()) != 0)
        return Error::from_errno(errno, "fsync directory " + parent.string());
    return {};
}

// One writer per file. The requests of a process that was just killed keep its lock for a moment,
// hence the bounded patience.
Result<void>
take_lock(int fd, const std::filesystem::path& path, std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (sys().flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return Error::from_errno(errno, "lock " + path.string());
        if (std::chrono::steady_clock::now() >= end) {
            return Error{
                Errc::busy, EWOULDBLOCK,
                "log " + path.string() + " is open in another process or another DirectLog"};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return {};
}

Result<void> write_zeros(int fd, const std::filesystem::path& path, std::uint64_t blocks) {
    PROMTACT_TRY_ASSIGN(
        const uring::AlignedBuffer zeros, uring::AlignedBuffer::allocate(1, zero_bytes));
    const std::uint64_t bytes = blocks * block_bytes;
    for (std::uint64_t at = 0; at < bytes;) {
        const std::size_t want = std::min<std::uint64_t>(zero_bytes, bytes - at);
        const ssize_t put = sys().pwrite(fd, zeros.all().data(), want, static_cast<off_t>(at));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return Error::from_errno(errno, "write zeros to " + path.string());
        if (put == 0 || put % static_cast<ssize_t>(block_bytes) != 0) {
            return Error{
                Errc::short_write, 0,
                "write zeros to " + path.string() + ": only " + std::to_string(put) + " bytes"};
        }
        at += static_cast<std::uint64_t>(put);
    }
    return {};
}

Result<void> make_durable(int fd, const std::filesystem::path& path) {
    if (sys().fsync(fd) != 0) return Error::from_errno(errno, "fsync " + path.string());
    return {};
}

// Everything of create() after the file exists.
Result<void>
prepare_new(int fd, const std::filesystem::path& path, const DirectLogOptions& options) {
    PROMTACT_TRY(take_lock(fd, path, options.lock_wait));
    kill_point();
    if (options.preallocate_blocks > 0)
        PROMTACT_TRY(write_zeros(fd, path, options.preallocate_blocks));
    kill_point();
    PROMTACT_TRY(make_durable(fd, path));
    // Until the directory is synced a crash may take the name away, and acknowledged records with
    // it.
    PROMTACT_TRY(sync_directory_of(path));
    kill_point();
    return {};
}

} // namespace

DirectLog::DirectLog(uring::BlockWriter writer, const DirectLogOptions& options, Recovery recovery)
    : writer_(std::move(writer)), options_(options), recovery_(recovery),
      blocks_(std::size_t{options.batch} * block_bytes), last_sequence_(recovery.records),
      durable_sequence_(recovery.records) {
    pending_.reserve(options.batch);
}

Result<DirectLog>
DirectLog::start(UniqueFd file, const DirectLogOptions& options, const Recovery& recovery) {
    uring::BlockWriterOptions writer_options;
    writer_options.mode = options.mode;
    writer_options.depth = std::min(options.batch, depth_max);
    writer_options.write_bytes_max = block_bytes;
    writer_options.timeout = options.timeout;
    auto writer = options.make_writer ? options.make_writer(std::move(file), writer_options)
                                      : uring::BlockWriter::open(std::move(file), writer_options);
    if (!writer) return std::move(writer).error();
    return DirectLog{std::move(*writer), options, recovery};
}

Result<DirectLog>
DirectLog::create(const std::filesystem::path& path, const DirectLogOptions& options) {
    PROMTACT_TRY(check_options(options));
    PROMTACT_TRY_ASSIGN(UniqueFd file, uring::open_direct(path, O_RDWR | O_CREAT | O_EXCL, 0640));
    kill_point();
    Result<void> prepared = prepare_new(file.get(), path, options);
    if (prepared) {
        auto log = start(std::move(file), options, Recovery{});
        if (log) return log;
        prepared = std::move(log).error();
    }
    static_cast<void>(sys().unlink(path.c_str())); // ours: O_EXCL made it
    return std::move(prepared).error();
}

Result<DirectLog>
DirectLog::open(const std::filesystem::path& path, const DirectLogOptions& options) {
    PROMTACT_TRY(check_options(options));
    PROMTACT_TRY_ASSIGN(UniqueFd file, uring::open_direct(path, O_RDWR));
    PROMTACT_TRY(take_lock(file.get(), path, options.lock_wait));
    RecoveryScan scan(options.decode, options.batch);
    PROMTACT_TRY_ASSIGN(
        const Recovery recovery, scan_file(file.get(), path, scan, [](const Record&) {}));
    // Never append behind bytes that did not verify.
    if (recovery.tail == Tail::torn &&
        sys().ftruncate(file.get(), static_cast<off_t>(recovery.valid_bytes)) != 0)
        return Error::from_errno(errno, "cut the torn tail of " + path.string());
    kill_point();
    // What was read may exist only in the device's cache if the last writer was killed: it must be
    // durable before anybody builds on it, and so must the cut and the name.
    PROMTACT_TRY(make_durable(file.get(), path));
    PROMTACT_TRY(sync_directory_of(path));
    kill_point();
    return start(std::move(file), options, recovery);
}

Result<std::uint64_t> DirectLog::append(Record record) {
    PROMTACT_TRY(writer_.check_usable());
    if (pending_.size() == options_.batch) PROMTACT_TRY(sync());
    PROMTACT_ASSERT(pending_.size() < options_.batch);
    PROMTACT_ASSERT(last_sequence_ == durable_sequence_ + pending_.size());
    record.sequence = ++last_sequence_;
    pending_.push_back(record);
    return record.sequence;
}

std::span<const std::byte> DirectLog::block(std::size_t index) const {
    PROMTACT_ASSERT(index < options_.batch);
    return std::span(blocks_).subspan(index * block_bytes, block_bytes);
}

Result<void> DirectLog::write_as_group() {
    std::vector<uring::BlockWrite> writes;
    writes.reserve(pending_.size());
    for (std::size_t i = 0; i < pending_.size(); ++i)
        writes.push_back({.offset = (pending_[i].sequence - 1) * block_bytes, .data = block(i)});
    return writer_.durable_write_group(writes);
}

Result<void> DirectLog::write_one_by_one() {
    std::array<uring::WriteDone, 64> done;
    for (std::size_t i = 0; i < pending_.size() || writer_.queued() > 0;) {
        while (i < pending_.size()) {
            auto queued = writer_.queue(i, (pending_[i].sequence - 1) * block_bytes, block(i));
            if (!queued && queued.error().code == Errc::busy) break;
            if (!queued) return std::move(queued).error();
            ++i;
        }
        PROMTACT_TRY(writer_.wait(done));
    }
    return {};
}

Result<void> DirectLog::sync() {
    PROMTACT_TRY(writer_.check_usable());
    if (pending_.empty()) return {};
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        const auto out = std::span(blocks_).subspan(i * block_bytes).first<block_bytes>();
        encode_block(pending_[i], out);
        PROMTACT_ASSERT(decode_block(out).state == BlockState::intact);
    }
    const bool one_flush_each = options_.mode == uring::WriteMode::linked;
    PROMTACT_TRY(one_flush_each ? write_one_by_one() : write_as_group());
    PROMTACT_ASSERT(durable_sequence_ < last_sequence_);
    kill_point(); // durable, not yet acknowledged
    durable_sequence_ = last_sequence_;
    pending_.clear();
    return {};
}

Result<void> DirectLog::close() {
    Result<void> synced = sync();
    // The ring keeps a reference to the file that ends a little later than close(2): give the lock
    // back explicitly.
    static_cast<void>(sys().flock(writer_.fd(), LOCK_UN));
    Result<void> closed = writer_.close();
    return synced ? closed : synced;
}

Result<Recovery> read_direct_log(
    const std::filesystem::path& path, const DirectLogOptions& options,
    const std::function<void(const Record&)>& sink) {
    PROMTACT_TRY(check_options(options));
    PROMTACT_TRY_ASSIGN(const UniqueFd file, uring::open_direct(path, O_RDONLY));
    RecoveryScan scan(options.decode, options.batch);
    return scan_file(file.get(), path, scan, sink);
}

} // namespace promtact::wal
