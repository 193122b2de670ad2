// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/commit_path.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/ring.hpp>

namespace promtact::harness::bench {
namespace {

using uring::AlignedBuffer;
using uring::BlockWriter;
using uring::Finished;
using uring::Ring;

constexpr std::byte fill{0x5a};

std::uint32_t operation_bytes(const Job& job) {
    return job.blocks_per_flush * block_bytes;
}

// Plain system calls.
class SyscallPath final : public CommitPath {
  public:
    SyscallPath(Method method, UniqueFd file, AlignedBuffer buffer)
        : method_(method), file_(std::move(file)), buffer_(std::move(buffer)) {}

    Result<void> commit(std::uint64_t offset) override {
        iovec part{.iov_base = buffer_.all().data(), .iov_len = buffer_.all().size()};
        const int flags = method_ == Method::pwrite_dsync ? RWF_DSYNC : 0;
        ++system_calls_;
        const ssize_t put = ::pwritev2(file_.get(), &part, 1, static_cast<off_t>(offset), flags);
        if (put < 0) return Error::from_errno(errno, "pwritev2");
        if (static_cast<std::size_t>(put) != part.iov_len)
            return Error{Errc::short_write, 0, "pwritev2"};
        if (method_ == Method::pwrite_dsync) return {};
        ++system_calls_;
        const bool all = method_ == Method::pwrite_fsync;
        if ((all ? ::fsync(file_.get()) : ::fdatasync(file_.get())) != 0)
            return Error::from_errno(errno, all ? "fsync" : "fdatasync");
        return {};
    }
    Result<void> close() override { return file_.close(); }
    [[nodiscard]] std::uint64_t system_calls() const noexcept override { return system_calls_; }

  private:
    Method method_;
    UniqueFd file_;
    AlignedBuffer buffer_;
    std::uint64_t system_calls_ = 0;
};

// The commit path of the WAL.
class WriterPath final : public CommitPath {
  public:
    WriterPath(const Job& job, BlockWriter writer)
        : data_(operation_bytes(job), fill), writer_(std::move(writer)) {
        if (job.one_write) return;
        for (std::uint32_t i = 0; i < job.blocks_per_flush; ++i) {
            group_.push_back(
                {.offset = 0,
                 .data = std::span<const std::byte>(data_).subspan(
                     std::size_t{i} * block_bytes, block_bytes)});
        }
    }
    Result<void> commit(std::uint64_t offset) override {
        if (group_.empty()) return writer_.durable_write(offset, data_);
        for (std::size_t i = 0; i < group_.size(); ++i)
            group_[i].offset = offset + i * block_bytes;
        return writer_.durable_write_group(group_);
    }
    Result<void> close() override { return writer_.close(); }
    [[nodiscard]] std::uint64_t system_calls() const noexcept override {
        return writer_.stats().system_calls;
    }

  private:
    std::vector<std::byte> data_;
    std::vector<uring::BlockWrite> group_{};
    BlockWriter writer_;
};

// The block writer, asked to flush in a step of its own.
class WriterSteps final : public TwoStepPath {
  public:
    WriterSteps(std::uint32_t bytes, BlockWriter writer)
        : data_(bytes, fill), writer_(std::move(writer)) {}

    Result<void> write(std::uint64_t offset) override {
        return writer_.durable_write(offset, data_);
    }
    Result<void> sync() override { return writer_.flush(); }
    Result<void> close() override { return writer_.close(); }
    [[nodiscard]] std::uint64_t system_calls() const noexcept override {
        return writer_.stats().system_calls;
    }

  private:
    std::vector<std::byte> data_;
    BlockWriter writer_;
};

// WRITE_FIXED, then FSYNC of everything.
class FsyncSteps final : public TwoStepPath {
  public:
    FsyncSteps(UniqueFd file, AlignedBuffer buffer, Ring ring)
        : file_(std::move(file)), buffer_(std::move(buffer)), ring_(std::move(ring)) {}

    Result<void> write(std::uint64_t offset) override {
        return one(
            {.kind = uring::OpKind::write_fixed,
             .registered_file = true,
             .file = 0,
             .offset = offset,
             .data = buffer_.all()});
    }
    Result<void> sync() override {
        return one({.kind = uring::OpKind::sync_all, .registered_file = true, .file = 0});
    }
    Result<void> close() override {
        PROMTACT_TRY(ring_.drain(std::chrono::seconds(10)));
        return file_.close();
    }
    [[nodiscard]] std::uint64_t system_calls() const noexcept override {
        return ring_.system_calls();
    }

  private:
    Result<void> one(const uring::Operation& operation) {
        PROMTACT_TRY(ring_.prepare(operation));
        std::array<Finished, 1> answer{};
        PROMTACT_TRY_ASSIGN(const std::size_t got, ring_.wait(answer, 1, std::chrono::seconds(30)));
        PROMTACT_ASSERT(got == 1);
        PROMTACT_TRY(answer[0].check());
        return {};
    }

    UniqueFd file_;
    AlignedBuffer buffer_;
    Ring ring_;
};

// Both steps as one operation.
class StepsPath final : public CommitPath {
  public:
    explicit StepsPath(std::unique_ptr<TwoStepPath> steps) : steps_(std::move(steps)) {}
    Result<void> commit(std::uint64_t offset) override {
        PROMTACT_TRY(steps_->write(offset));
        return steps_->sync();
    }
    Result<void> close() override { return steps_->close(); }
    [[nodiscard]] std::uint64_t system_calls() const noexcept override {
        return steps_->system_calls();
    }

  private:
    std::unique_ptr<TwoStepPath> steps_;
};

Result<std::unique_ptr<TwoStepPath>>
open_fsync_steps(const TwoStepPath::Options& options, UniqueFd file) {
    PROMTACT_TRY_ASSIGN(AlignedBuffer buffer, AlignedBuffer::allocate(1, options.bytes));
    PROMTACT_TRY_ASSIGN(Ring ring, Ring::open({.entries = 8, .only = options.ring}));
    const std::array buffers{buffer.all()};
    PROMTACT_TRY(ring.register_buffers(buffers));
    const std::array files{file.get()};
    PROMTACT_TRY(ring.register_files(files));
    return std::unique_ptr<TwoStepPath>(
        std::make_unique<FsyncSteps>(std::move(file), std::move(buffer), std::move(ring)));
}

Result<std::unique_ptr<CommitPath>> open_writer(const Job& job, UniqueFd file) {
    PROMTACT_TRY_ASSIGN(
        BlockWriter writer,
        BlockWriter::open(
            std::move(file), {.mode = *write_mode(job.method),
                              .depth = job.one_write ? 1 : job.blocks_per_flush,
                              .write_bytes_max = job.one_write ? operation_bytes(job) : block_bytes,
                              .ring = {.only = job.ring}}));
    return std::unique_ptr<CommitPath>(std::make_unique<WriterPath>(job, std::move(writer)));
}

} // namespace

std::optional<uring::WriteMode> write_mode(Method method) noexcept {
    switch (method) {
    case Method::separate:
        return uring::WriteMode::separate;
    case Method::linked:
        return uring::WriteMode::linked;
    case Method::dsync:
        return uring::WriteMode::dsync;
    case Method::inline_fdatasync:
        return uring::WriteMode::inline_fdatasync;
    case Method::write_only:
        return uring::WriteMode::write_only;
    case Method::pwrite_fdatasync:
    case Method::pwrite_fsync:
    case Method::pwrite_dsync:
    case Method::separate_fsync:
        return std::nullopt;
    }
    PROMTACT_UNREACHABLE();
}

Result<std::unique_ptr<CommitPath>> CommitPath::open(const Job& job, UniqueFd file) {
    if (job.method == Method::separate_fsync) {
        PROMTACT_TRY_ASSIGN(
            std::unique_ptr<TwoStepPath> steps,
            TwoStepPath::open(
                {.sync = SyncKind::fsync, .bytes = operation_bytes(job), .ring = job.ring},
                std::move(file)));
        return std::unique_ptr<CommitPath>(std::make_unique<StepsPath>(std::move(steps)));
    }
    if (write_mode(job.method)) return open_writer(job, std::move(file));
    PROMTACT_TRY_ASSIGN(AlignedBuffer buffer, AlignedBuffer::allocate(1, operation_bytes(job)));
    std::fill(buffer.all().begin(), buffer.all().end(), fill);
    return std::unique_ptr<CommitPath>(
        std::make_unique<SyscallPath>(job.method, std::move(file), std::move(buffer)));
}

Result<std::unique_ptr<TwoStepPath>> TwoStepPath::open(const Options& options, UniqueFd file) {
    if (options.sync == SyncKind::fsync) return open_fsync_steps(options, std::move(file));
    PROMTACT_TRY_ASSIGN(
        BlockWriter writer, BlockWriter::open(
                                std::move(file), {.mode = uring::WriteMode::write_only,
                                                  .depth = 1,
                                                  .write_bytes_max = options.bytes,
                                                  .ring = {.only = options.ring}}));
    return std::unique_ptr<TwoStepPath>(
        std::make_unique<WriterSteps>(options.bytes, std::move(writer)));
}

} // namespace promtact::harness::bench
