// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/uring/block_writer.hpp>
#include <promtact/uring/direct_file.hpp>

namespace promtact::uring {
namespace {

constexpr std::uint32_t depth_max = 4096;
constexpr std::uint32_t write_bytes_limit = 1U << 30;
constexpr std::uint64_t flush_tag = ~std::uint64_t{0};

Result<void> check_options(const BlockWriterOptions& options) {
    if (options.depth == 0 || options.depth > depth_max) {
        return Error{
            Errc::invalid_argument, 0,
            "depth must be 1.." + std::to_string(depth_max) + ", not " +
                std::to_string(options.depth)};
    }
    if (options.write_bytes_max == 0 || options.write_bytes_max % block_bytes != 0 ||
        options.write_bytes_max > write_bytes_limit) {
        return Error{
            Errc::invalid_argument, 0,
            "largest write must be a multiple of 4096 up to 1 GiB, not " +
                std::to_string(options.write_bytes_max)};
    }
    return {};
}

} // namespace

std::string_view to_string(WriteMode mode) noexcept {
    switch (mode) {
    case WriteMode::separate:
        return "separate";
    case WriteMode::linked:
        return "linked";
    case WriteMode::dsync:
        return "dsync";
    case WriteMode::inline_fdatasync:
        return "inline_fdatasync";
    case WriteMode::write_only:
        return "write_only";
    }
    PROMTACT_UNREACHABLE();
}

BlockWriter::BlockWriter(
    Ring ring, UniqueFd file, AlignedBuffer buffer, const BlockWriterOptions& options,
    std::uint32_t alignment)
    : file_(std::move(file)), buffer_(std::move(buffer)), options_(options), alignment_(alignment),
      slots_(options.depth), finished_(std::size_t{options.depth} * 2), ring_(std::move(ring)) {
    PROMTACT_ASSERT(buffer_.slots() == options_.depth);
    PROMTACT_ASSERT(alignment_ > 0);
    PROMTACT_ASSERT(block_bytes % alignment_ == 0 || alignment_ % block_bytes == 0);
}

Result<BlockWriter> BlockWriter::open(UniqueFd file, const BlockWriterOptions& options) {
    PROMTACT_TRY(check_options(options));
    const int flags = ::fcntl(file.get(), F_GETFL);
    if (flags < 0) return Error::from_errno(errno, "block writer: descriptor");
    if ((flags & O_DIRECT) == 0) {
        return Error{
            Errc::invalid_argument, 0, "block writer: the descriptor was opened without O_DIRECT"};
    }
    PROMTACT_TRY_ASSIGN(const DirectAlignment alignment, direct_io_alignment(file.get()));
    RingOptions ring_options = options.ring;
    ring_options.entries = std::max(ring_options.entries, options.depth * 2);
    PROMTACT_TRY_ASSIGN(Ring ring, Ring::open(ring_options));
    return assemble(std::move(ring), std::move(file), options, alignment.offset);
}

Result<BlockWriter> BlockWriter::over(Ring ring, UniqueFd file, const BlockWriterOptions& options) {
    PROMTACT_TRY(check_options(options));
    return assemble(std::move(ring), std::move(file), options, block_bytes);
}

Result<BlockWriter> BlockWriter::assemble(
    Ring ring, UniqueFd file, const BlockWriterOptions& options, std::uint32_t alignment) {
    PROMTACT_ASSERT(ring.room() >= options.depth * 2);
    PROMTACT_TRY_ASSIGN(
        AlignedBuffer buffer, AlignedBuffer::allocate(options.depth, options.write_bytes_max));
    const std::array buffers{buffer.all()};
    Result<void> registered = ring.register_buffers(buffers);
    const bool limited = !registered && registered.error().sys_errno == ENOMEM;
    if (!registered && !(limited && options.allow_unregistered))
        return std::move(registered).error();
    const std::array files{file.get()};
    PROMTACT_TRY(ring.register_files(files));
    BlockWriter writer{std::move(ring), std::move(file), std::move(buffer), options, alignment};
    writer.registered_ = !limited;
    return writer;
}

BlockWriter::~BlockWriter() {
    if (!ring_.drain(options_.ring.drain_limit)) buffer_.abandon();
}

BlockWriterStats BlockWriter::stats() const noexcept {
    BlockWriterStats stats = stats_;
    stats.system_calls += ring_.system_calls();
    return stats;
}

Error BlockWriter::poison(Error cause) {
    if (!first_error_) first_error_ = cause;
    return cause;
}

Result<void> BlockWriter::check_usable() const {
    if (!first_error_) return {};
    return Error{
        Errc::poisoned, first_error_->sys_errno,
        "block writer stopped by: " + describe(*first_error_)};
}

Result<void> BlockWriter::check_arguments(const BlockWrite& write) const {
    const std::string what = "write of " + std::to_string(write.data.size()) + " bytes at offset " +
                             std::to_string(write.offset);
    if (write.data.empty()) return Error{Errc::invalid_argument, 0, what + ": nothing to write"};
    if (write.data.size() > options_.write_bytes_max) {
        return Error{
            Errc::invalid_argument, 0,
            what + ": longer than the buffer of " + std::to_string(options_.write_bytes_max)};
    }
    if (!is_aligned(write.offset, write.data.size(), alignment_)) {
        return Error{
            Errc::invalid_argument, 0,
            what + ": offset and length must be multiples of " + std::to_string(alignment_)};
    }
    if (write.offset > static_cast<std::uint64_t>(INT64_MAX) - write.data.size())
        return Error{Errc::invalid_argument, 0, what + ": beyond the largest file offset"};
    return {};
}

Result<void> BlockWriter::start(std::uint64_t tag, const BlockWrite& write, bool flush) {
    PROMTACT_ASSERT(queued_ < options_.depth);
    const std::uint32_t index = buffer_.take();
    std::memcpy(buffer_.slot(index).data(), write.data.data(), write.data.size());
    slots_[index] = {
        .tag = tag,
        .offset = write.offset,
        .length = static_cast<std::uint32_t>(write.data.size()),
        .flush = flush};
    ++queued_;
    return submit_write(index);
}

Result<std::size_t> BlockWriter::collect(std::span<WriteDone> out) {
    PROMTACT_ASSERT(!out.empty());
    PROMTACT_ASSERT(queued_ > 0);
    std::size_t count = 0;
    while (count == 0) {
        const std::size_t most = std::min(finished_.size(), out.size());
        auto arrived = ring_.wait(std::span(finished_).first(most), 1, options_.timeout);
        if (!arrived) return poison(std::move(arrived).error());
        for (const Finished& finished : std::span(finished_).first(*arrived)) {
            const auto index = static_cast<std::uint32_t>(finished.tag >> 1);
            PROMTACT_ASSERT(index < slots_.size());
            const std::uint64_t tag = slots_[index].tag;
            auto done =
                (finished.tag & 1) != 0 ? on_sync(index, finished) : on_write(index, finished);
            if (!done) return poison(std::move(done).error());
            if (*done) out[count++] = {.tag = tag};
        }
    }
    return count;
}

Result<void> BlockWriter::durable_write(std::uint64_t offset, std::span<const std::byte> data) {
    PROMTACT_TRY(check_usable());
    PROMTACT_ASSERT(queued_ == 0);
    PROMTACT_TRY(queue(0, offset, data));
    std::array<WriteDone, 1> done;
    PROMTACT_TRY_ASSIGN(const std::size_t count, collect(done));
    PROMTACT_ASSERT(count == 1);
    PROMTACT_ASSERT(queued_ == 0);
    return {};
}

Result<void> BlockWriter::durable_write_group(std::span<const BlockWrite> blocks) {
    PROMTACT_TRY(check_usable());
    PROMTACT_ASSERT(queued_ == 0);
    if (options_.mode == WriteMode::linked)
        return Error{Errc::invalid_argument, 0, "mode linked flushes per write, not per group"};
    for (const BlockWrite& block : blocks)
        PROMTACT_TRY(check_arguments(block));
    const bool each = options_.mode == WriteMode::dsync;
    std::array<WriteDone, 64> done;
    for (std::size_t next = 0; next < blocks.size() || queued_ > 0;) {
        while (next < blocks.size() && queued_ < options_.depth) {
            auto started = start(next, blocks[next], each);
            if (!started) return poison(std::move(started).error());
            ++next;
        }
        PROMTACT_TRY(collect(done));
    }
    if (each || options_.mode == WriteMode::write_only) return {};
    return flush();
}

Result<void> BlockWriter::flush() {
    PROMTACT_TRY(check_usable());
    PROMTACT_ASSERT(queued_ == 0);
    if (options_.mode == WriteMode::inline_fdatasync) {
        auto synced = data_sync();
        if (!synced) return poison(std::move(synced).error());
        return {};
    }
    auto prepared = ring_.prepare(
        {.kind = OpKind::sync_data, .registered_file = true, .file = 0, .tag = flush_tag});
    if (!prepared) return poison(std::move(prepared).error());
    auto arrived = ring_.wait(std::span(finished_).first(1), 1, options_.timeout);
    if (!arrived) return poison(std::move(arrived).error());
    PROMTACT_ASSERT(finished_[0].tag == flush_tag);
    auto synced = finished_[0].check();
    if (!synced) return poison(std::move(synced).error());
    ++stats_.flushes;
    return {};
}

Result<void>
BlockWriter::queue(std::uint64_t tag, std::uint64_t offset, std::span<const std::byte> data) {
    PROMTACT_TRY(check_usable());
    const BlockWrite write{.offset = offset, .data = data};
    PROMTACT_TRY(check_arguments(write));
    if (queued_ == options_.depth) {
        return Error{
            Errc::busy, 0, "block writer: all " + std::to_string(queued_) + " writes in flight"};
    }
    auto started = start(tag, write, true);
    if (!started) return poison(std::move(started).error());
    return {};
}

Result<std::size_t> BlockWriter::wait(std::span<WriteDone> out) {
    PROMTACT_TRY(check_usable());
    return collect(out);
}

Result<void> BlockWriter::close() {
    Result<void> outcome = check_usable();
    std::array<WriteDone, 64> done;
    while (outcome && queued_ > 0) {
        auto collected = collect(done);
        if (!collected) outcome = std::move(collected).error();
    }
    Result<void> drained = ring_.drain(options_.ring.drain_limit);
    if (!drained) buffer_.abandon();
    { const Ring ended = std::move(ring_); } // lets go of the registered file
    Result<void> closed = file_.close();
    if (!first_error_) first_error_ = Error{Errc::refused, 0, "it was closed"};
    if (!outcome) return outcome;
    if (!drained) return drained;
    return closed;
}

} // namespace promtact::uring
