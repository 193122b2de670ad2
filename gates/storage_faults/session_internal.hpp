// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The log core on io_uring with a storage between them that misbehaves when told to.
#pragma once

#include <filesystem>
#include <memory>

#include <promtact/base/result.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/uring_storage.hpp>
#include <promtact/wal/fault_storage.hpp>
#include <promtact/wal/log_core.hpp>

namespace promtact::gates::storage_faults {

/// One opening of the log, from the first read to the last completion.
class Session {
  public:
    /// Errors: of the ring and the directory. What the log itself says is in log().
    static Result<std::unique_ptr<Session>> open(const std::filesystem::path& directory);
    /// The same with a fault that is there from the first request on.
    static Result<std::unique_ptr<Session>>
    open(const std::filesystem::path& directory, const wal::FaultRule& rule);

    Session(uring::AlignedBuffer arena, std::unique_ptr<uring::UringStorage> storage);

    void add(const wal::FaultRule& rule) { faults_.add(rule); }
    [[nodiscard]] std::uint64_t struck() const { return faults_.struck(0); }
    [[nodiscard]] wal::LogCore& log() noexcept { return log_; }

    /// Drives the log until it is ready, refused or poisoned. False: not within five seconds
    [[nodiscard]] bool settle();
    /// Adds a record whose content follows from its LSN. Errors: those of LogCore::append()
    Result<wal::Lsn> append();
    /// Drives the log until everything appended has an outcome. False: not within five seconds
    [[nodiscard]] bool drain();
    /// Drives the log until it has nothing to do. False: not within five seconds
    [[nodiscard]] bool rest();
    /// Highest LSN reported durable.
    [[nodiscard]] wal::Lsn acknowledged() const noexcept { return acknowledged_; }
    /// Records the opening read whose content does not follow from their LSN.
    [[nodiscard]] std::uint64_t wrong() const noexcept { return wrong_; }

  private:
    [[nodiscard]] wal::LogOptions options();
    template <class Done>
    bool drive(Done done);

    std::uint64_t wrong_ = 0;
    uring::AlignedBuffer arena_;
    std::unique_ptr<uring::UringStorage> storage_;
    wal::FaultStorage faults_;
    wal::LogCore log_;
    wal::Lsn acknowledged_ = 0;
    wal::Lsn reported_ = 0;
};

} // namespace promtact::gates::storage_faults
