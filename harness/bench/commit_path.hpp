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

} // namespace promtact::harness::bench
