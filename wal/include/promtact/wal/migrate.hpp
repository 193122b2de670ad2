// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// From a log file of an older format to a log of this one: layout fixed, record by record the same
// bytes, sequence = LSN. Target promtact::wal_tools.
#pragma once

#include <memory>
#include <span>

#include <promtact/wal/fill.hpp>
#include <promtact/wal/import_log.hpp>

namespace promtact::wal {

struct MigrateOptions {
    ImportLayout layout = ImportLayout::blocks; // also that of logs of format 3
    DecodeMode decode = DecodeMode::strict;
    std::uint32_t window = 1; // blocks: the batch its writer was opened with
    std::uint64_t segment_bytes = std::uint64_t{64} << 20;
    LogUuid uuid{};            // of the new log
    std::uint64_t entropy = 0; // fresh random bits
};

/// Takes the old file in pieces of any size. Nothing of the new log counts before finish().
class LogMigration {
  public:
    /// Errors: as LogFiller::create
    static Result<std::unique_ptr<LogMigration>>
    create(Storage& storage, const MigrateOptions& options);
    /// Only create() can make one that is open.
    LogMigration(std::unique_ptr<LogFiller> filler, const MigrateOptions& options);

    /// Errors: as LogImporter::feed (damage names the record), LogFiller::append. Final.
    Result<void> feed(std::span<const std::byte> bytes) { return importer_.feed(bytes); }
    /// What was found in the old file. Durable: everything
    Result<Recovery> finish();

  private:
    Result<void> take(const Record& record);

    std::unique_ptr<LogFiller> filler_;
    LogImporter importer_;
};

} // namespace promtact::wal
