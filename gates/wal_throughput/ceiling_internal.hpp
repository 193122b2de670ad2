// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What this host's storage can do at most: bare writes through io_uring, each flushed.
#pragma once

#include <cstdint>
#include <memory>

#include <promtact/base/result.hpp>
#include <promtact/base/scratch_file.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/ring.hpp>

namespace promtact::gates::wal_throughput {

/// One write with registered buffer and file, then fdatasync(2) by the same thread, over a region
/// that was written before. Owned and driven by one thread.
class Ceiling {
  public:
    static constexpr std::uint64_t region_bytes = std::uint64_t{64} << 20;
    static constexpr std::uint32_t write_bytes_max = 1U << 20;

    /// Fills the region. Errors: of the ring, and of writing.
    static Result<std::unique_ptr<Ceiling>> open(const ScratchFile& file);

    Ceiling(UniqueFd file, uring::AlignedBuffer buffer, uring::Ring ring);

    /// Nanoseconds for `count` writes of `bytes` each. Errors: io, short_write
    Result<std::uint64_t> run(std::uint64_t bytes, std::uint64_t count);

  private:
    Result<void> commit(std::uint64_t bytes, std::uint64_t offset);

    UniqueFd file_;
    uring::AlignedBuffer buffer_;
    uring::Ring ring_;
};

} // namespace promtact::gates::wal_throughput
