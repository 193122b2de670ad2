// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/assert.hpp>
#include <promtact/wal/migrate.hpp>

namespace promtact::wal {

LogMigration::LogMigration(std::unique_ptr<LogFiller> filler, const MigrateOptions& options)
    : filler_(std::move(filler)),
      importer_(
          options.layout, options.decode, [this](const Record& record) { return take(record); },
          options.window) {
    PROMTACT_ASSERT(filler_ != nullptr);
}

Result<std::unique_ptr<LogMigration>>
LogMigration::create(Storage& storage, const MigrateOptions& options) {
    LogOptions log;
    log.uuid = options.uuid;
    log.entropy = options.entropy;
    log.segment_bytes = options.segment_bytes;
    log.layout = Layout::fixed;
    PROMTACT_TRY_ASSIGN(auto filler, LogFiller::create(storage, log));
    return std::make_unique<LogMigration>(std::move(filler), options);
}

Result<void> LogMigration::take(const Record& record) {
    RecordBytes bytes{};
    encode(record, bytes);
    PROMTACT_TRY_ASSIGN(const Lsn lsn, filler_->append(bytes, {}));
    PROMTACT_ASSERT(lsn == record.sequence);
    return {};
}

Result<Recovery> LogMigration::finish() {
    PROMTACT_TRY_ASSIGN(const Recovery recovery, importer_.finish());
    PROMTACT_TRY(filler_->close());
    return recovery;
}

} // namespace promtact::wal
