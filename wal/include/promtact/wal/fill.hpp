// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Makes a new log, or opens one, and fills it, one call after the other, for tools without a thread
// to spare: an export read back, a log of an older format, lines of text. Target
// promtact::wal_tools.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/wal/export.hpp>
#include <promtact/wal/log_core.hpp>

namespace promtact::wal {

/// A log being filled. Nothing of it counts before flush() or close().
class LogFiller {
  public:
    /// options.open is create; the salts come from options.entropy.
    /// Errors: exists (there is a log here); those of LogCore.
    static Result<std::unique_ptr<LogFiller>> create(Storage& storage, const LogOptions& options);

    /// The same of the log that is there; its layout and sizes are its own.
    /// Errors: not_found; those of LogCore.
    static Result<std::unique_ptr<LogFiller>> open(Storage& storage, const LogOptions& options);

    /// Only create() and open() can make one that is open.
    LogFiller(Storage& storage, const LogOptions& options);
    LogFiller(const LogFiller&) = delete;
    LogFiller& operator=(const LogFiller&) = delete;

    /// Errors: as LogCore::append, except busy
    Result<Lsn> append(std::span<const std::byte> payload, RecordTag tag);
    Result<Lsn> truncate_suffix(Lsn keep);
    /// Makes `count` LSNs that hold nothing: they are void as after a truncation.
    Result<void> skip(std::uint64_t count);
    /// Durable: everything appended so far. Errors: the one that stopped the log
    Result<void> flush();
    /// Durable: everything. Errors: poisoned
    Result<void> close();

    [[nodiscard]] Lsn next_lsn() const noexcept { return log_->last() + 1; }
    [[nodiscard]] std::uint64_t record_bytes_max() const noexcept {
        return log_->record_bytes_max();
    }

  private:
    static Result<std::unique_ptr<LogFiller>> start(Storage& storage, LogOptions options);
    template <class Attempt>
    Result<Lsn> until_taken(Attempt&& attempt);
    void pump();

    AlignedBytes arena_;
    std::unique_ptr<LogCore> log_{};
    std::uint64_t now_ns_ = 0;
};

struct ImportOptions {
    std::uint64_t entropy = 0;       // fresh random bits
    std::uint64_t segment_bytes = 0; // 0: that of the log which was exported
    bool accept_gaps = false;        // an export with gaps is read, its gaps are void records
};

/// Takes an export line by line into a log it makes: same identity, layout, LSNs, tags, payloads.
class LogImport {
  public:
    LogImport(Storage& storage, const ImportOptions& options)
        : storage_(&storage), options_(options) {}

    /// Errors: as ExportReader::read, LogFiller::append; refused (a gap). Names the line. Final.
    Result<void> line(std::string_view text);
    /// Errors: as ExportReader::finish, LogFiller::close. Durable: everything
    Result<void> finish();

    [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    [[nodiscard]] Lsn next_lsn() const noexcept { return filler_ ? filler_->next_lsn() : 1; }

  private:
    Result<void> begin(const ExportHeader& header);
    Result<void> take(const ExportItem& item);

    Storage* storage_;
    ImportOptions options_;
    ExportReader reader_{};
    std::unique_ptr<LogFiller> filler_{};
    std::uint64_t records_ = 0;
    std::uint64_t lost_ = 0;
};

} // namespace promtact::wal
