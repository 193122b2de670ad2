// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Drives the log core over whatever storage the suite is given: real or in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/wal/log_core.hpp>

#include "suite_internal.hpp"

namespace promtact::wal_testing {

/// Small segments of a fresh log, so that a property sees rotations.
wal::LogOptions suite_log_options(std::uint64_t entropy);

class LogHand {
  public:
    /// A log on the session's storage, or on one over it.
    /// Lifetime: session and storage outlive the hand, which ends the session: requests in flight
    /// use the log's memory.
    LogHand(StorageSession& session, Storage& storage, const wal::LogOptions& options);
    LogHand(StorageSession& session, const wal::LogOptions& options)
        : LogHand(session, session.device(), options) {}
    LogHand(const LogHand&) = delete;
    LogHand& operator=(const LogHand&) = delete;
    ~LogHand() { session_->end(End::closed); }

    /// Errors: why the log refused or stopped while it was opened.
    Result<void> open();
    /// Errors: those of LogCore::append but busy; timeout.
    Result<wal::Lsn> append(std::span<const std::byte> payload);
    /// Pumps until everything appended is durable. Errors: poisoned, timeout.
    Result<void> settle();
    Result<void> close();
    /// Payloads of records `from` to `through`.
    Result<std::vector<std::vector<std::byte>>> read(wal::Lsn from, wal::Lsn through);

    [[nodiscard]] wal::LogCore& core() noexcept { return *core_; }

  private:
    template <class Condition>
    Result<void> pump_until(Condition&& condition);

    StorageSession* session_;
    wal::LogOptions options_;
    wal::AlignedBytes arena_;
    std::uint64_t now_ns_ = 0;
    std::unique_ptr<wal::LogCore> core_;
};

} // namespace promtact::wal_testing
