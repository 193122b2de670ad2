// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One durable operation at a time, by each of the methods: the inner loop of a job at depth 1.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/block_writer.hpp>

#include "bench/job.hpp"

namespace promtact::harness::bench {

/// The block writer's mode of that name, if it has one.
std::optional<uring::WriteMode> write_mode(Method method) noexcept;

/// One durable operation by one method.
class CommitPath {
  public:
    /// file: opened O_RDWR | O_DIRECT. Errors: of the ring.
    static Result<std::unique_ptr<CommitPath>> open(const Job& job, UniqueFd file);

    CommitPath() = default;
    CommitPath(const CommitPath&) = delete;
    CommitPath& operator=(const CommitPath&) = delete;
    virtual ~CommitPath() = default;

    /// Writes the job's blocks at offset and makes them durable as its method says.
    virtual Result<void> commit(std::uint64_t offset) = 0;
    virtual Result<void> close() = 0;
    [[nodiscard]] virtual std::uint64_t system_calls() const noexcept = 0;
};

/// One operation in two steps that can be timed apart: the write, and the sync after it. fdatasync
/// is the block writer's `separate` protocol; fsync is the reference's, which the block writer does
/// not offer, since syncing the metadata too buys nothing on blocks that exist.
class TwoStepPath {
  public:
    struct Options {
        SyncKind sync = SyncKind::fdatasync;
        std::uint32_t bytes = block_bytes; // of one write
        std::optional<uring::RingMode> ring{};
    };
    /// file: opened O_RDWR | O_DIRECT. Errors: of the ring.
    static Result<std::unique_ptr<TwoStepPath>> open(const Options& options, UniqueFd file);

    TwoStepPath() = default;
    TwoStepPath(const TwoStepPath&) = delete;
    TwoStepPath& operator=(const TwoStepPath&) = delete;
    virtual ~TwoStepPath() = default;

    virtual Result<void> write(std::uint64_t offset) = 0;
    virtual Result<void> sync() = 0;
    virtual Result<void> close() = 0;
    [[nodiscard]] virtual std::uint64_t system_calls() const noexcept = 0;
};

} // namespace promtact::harness::bench
