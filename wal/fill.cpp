// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cerrno>

#include <promtact/base/assert.hpp>
#include <promtact/wal/fill.hpp>

namespace promtact::wal {
namespace {

/// LSNs in one gap. Each becomes a record: a number that is damaged must not fill the disk.
constexpr std::uint64_t gap_max = std::uint64_t{1} << 24;

} // namespace

LogFiller::LogFiller(Storage& storage, const LogOptions& options)
    : arena_(
          LogCore::arena_bytes(options),
          std::max<std::size_t>(storage.limits().align_memory, block_bytes)),
      log_(std::make_unique<LogCore>(storage, options, arena_.span())) {}

Result<std::unique_ptr<LogFiller>> LogFiller::create(Storage& storage, const LogOptions& options) {
    LogOptions wanted = options;
    wanted.open = LogOptions::Open::create;
    return start(storage, wanted);
}

Result<std::unique_ptr<LogFiller>> LogFiller::open(Storage& storage, const LogOptions& options) {
    LogOptions wanted = options;
    wanted.open = LogOptions::Open::existing;
    return start(storage, wanted);
}

/// Any record that the segments can hold is taken.
Result<std::unique_ptr<LogFiller>> LogFiller::start(Storage& storage, LogOptions options) {
    options.frame_bytes_max = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(frame_blocks_max * block_bytes, options.segment_bytes));
    options.zero_chunk_bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(options.zero_chunk_bytes, options.segment_bytes));
    auto filler = std::make_unique<LogFiller>(storage, options);
    while (filler->log_->state() == LogCore::State::opening)
        filler->pump();
    if (filler->log_->state() == LogCore::State::refused) return filler->log_->open_error();
    return filler;
}

/// Time stands still but for the steps, so that no watermark is written in between.
void LogFiller::pump() {
    log_->pump(++now_ns_);
    std::array<AppendDone, 16> done{};
    while (log_->take_done(done) == done.size()) {
    }
}

template <class Attempt>
Result<Lsn> LogFiller::until_taken(Attempt&& attempt) {
    for (;;) {
        Result<Lsn> lsn = attempt();
        if (lsn || lsn.error().code != Errc::busy) return lsn;
        pump();
    }
}

Result<Lsn> LogFiller::append(std::span<const std::byte> payload, RecordTag tag) {
    return until_taken([&] { return log_->append(payload, tag); });
}

Result<Lsn> LogFiller::truncate_suffix(Lsn keep) {
    return until_taken([&] { return log_->truncate_suffix(keep); });
}

Result<void> LogFiller::skip(std::uint64_t count) {
    if (count == 0) return {};
    const Lsn keep = log_->last();
    if (count > lsn_last - keep) // before the first of them is made
        return Error{Errc::out_of_range, EOVERFLOW, "the gap ends too far: " + lsn_last_words()};
    const std::array<std::byte, record_bytes> nothing{};
    const auto payload =
        std::span(nothing).first(log_->layout() == Layout::fixed ? record_bytes : 0);
    for (std::uint64_t i = 1; i < count; ++i)
        PROMTACT_TRY(append(payload, {}));
    PROMTACT_TRY_ASSIGN(const Lsn own, truncate_suffix(keep));
    PROMTACT_ASSERT(own == keep + count);
    return {};
}

Result<void> LogFiller::flush() {
    while (log_->durable() < log_->last()) {
        if (log_->poisoned()) return log_->poison();
        pump();
    }
    return {};
}

Result<void> LogFiller::close() {
    log_->close();
    while (log_->state() == LogCore::State::closing)
        pump();
    if (log_->state() == LogCore::State::closed) return {};
    return log_->poison();
}

Result<void> LogImport::begin(const ExportHeader& header) {
    LogOptions log;
    log.uuid = header.uuid;
    log.entropy = options_.entropy;
    log.segment_bytes = options_.segment_bytes != 0 ? options_.segment_bytes : header.segment_bytes;
    log.layout = header.layout;
    log.first_lsn = header.first_lsn;
    PROMTACT_TRY_ASSIGN(filler_, LogFiller::create(*storage_, log));
    return {};
}

Result<void> LogImport::take(const ExportItem& item) {
    switch (item.kind) {
    case ExportItem::Kind::header:
        return begin(item.header);
    case ExportItem::Kind::record: {
        PROMTACT_TRY_ASSIGN(const Lsn lsn, filler_->append(item.payload, item.tag));
        PROMTACT_ASSERT(lsn == item.lsn);
        ++records_;
        return {};
    }
    case ExportItem::Kind::truncation: {
        PROMTACT_TRY_ASSIGN(const Lsn lsn, filler_->truncate_suffix(item.keep));
        PROMTACT_ASSERT(lsn == item.lsn);
        return {};
    }
    case ExportItem::Kind::gap:
        if (!options_.accept_gaps) {
            return Error{
                Errc::refused, 0,
                "records " + std::to_string(item.lsn) + " to " + std::to_string(item.last) +
                    " are missing; -accept-gaps makes a log in which they are void"};
        }
        if (item.last - item.lsn >= gap_max) {
            return Error{
                Errc::refused, 0,
                "the gap from record " + std::to_string(item.lsn) + " to " +
                    std::to_string(item.last) + " is longer than the " + std::to_string(gap_max) +
                    " LSNs that an import makes void: most likely a number in the exported log " +
                    "was damaged; leave out what follows the gap, or begin a new log at LSN " +
                    std::to_string(item.last + 1)};
        }
        lost_ += item.last - item.lsn + 1;
        return filler_->skip(item.last - item.lsn + 1);
    case ExportItem::Kind::end:
        return {};
    }
    PROMTACT_UNREACHABLE();
}

Result<void> LogImport::line(std::string_view text) {
    PROMTACT_TRY_ASSIGN(const ExportItem item, reader_.read(text));
    Result<void> taken = take(item);
    if (taken) return {};
    Error error = std::move(taken).error();
    error.context = "line " + std::to_string(reader_.lines()) + ": " + error.context;
    return error;
}

Result<void> LogImport::finish() {
    PROMTACT_TRY(reader_.finish());
    return filler_->close();
}

} // namespace promtact::wal
