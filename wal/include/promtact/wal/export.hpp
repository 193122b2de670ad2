// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A log as a stream of text, one JSON object a line, and back. wal/EXPORT_FORMAT.md
// Target promtact::wal_tools.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/scan.hpp>

namespace promtact::wal {

/// Takes text; what it returns as an error ends whatever produces the text.
using TextSink = std::function<Result<void>(std::string_view)>;

inline constexpr std::string_view export_schema = "promtact.wal-export/1";

/// The first line.
struct ExportHeader {
    LogUuid uuid{};
    Layout layout = Layout::variable;
    std::uint64_t segment_bytes = 0;
    Lsn first_lsn = 1;
    friend bool operator==(const ExportHeader&, const ExportHeader&) = default;
};

/// One line of an export.
struct ExportItem {
    enum class Kind : std::uint8_t {
        header,
        record,
        truncation, // records above `keep` are void, and so is `lsn`, which it took
        gap,        // records lsn to last could not be read
        end,        // the stream is whole; `lsn` is the next one
    };
    Kind kind = Kind::header;
    ExportHeader header{};
    Lsn lsn = 0;
    Lsn keep = 0;
    Lsn last = 0;
    std::optional<std::uint64_t> unread{}; // end: LSNs in gaps
    RecordTag tag{};
    std::vector<std::byte> payload{};
};

struct ExportTally {
    std::uint64_t records = 0;
    std::uint64_t payload_bytes = 0;
    std::uint64_t truncations = 0;
    std::uint64_t gaps = 0;
    std::uint64_t unread = 0; // records known to exist but not read: LSNs in gaps
    Lsn first_lsn = 1;
    Lsn next_lsn = 1;
};

/// Writes the lines in order; LSNs that are skipped become gaps.
class ExportWriter {
  public:
    explicit ExportWriter(TextSink sink) : sink_(std::move(sink)) {}

    Result<void> begin(const ExportHeader& header);
    /// What lies below the first LSN or was written already is left out.
    Result<void> record(const RecordView& record);
    Result<void> truncation(Lsn lsn, Lsn keep);
    /// Records up to but without `next` are not to be had.
    Result<void> skip_to(Lsn next);
    Result<void> end();

    [[nodiscard]] const ExportTally& tally() const noexcept { return tally_; }

  private:
    Result<void> line(std::string_view text);

    TextSink sink_;
    ExportTally tally_{};
    std::string text_{};
    std::uint32_t digest_ = 0;
};

/// Reads the lines in order and holds them to the format: a missing, repeated, damaged or misplaced
/// line is an error with its number, and so is a stream without its end.
class ExportReader {
  public:
    static constexpr std::size_t line_bytes_max = std::size_t{4} << 20;

    /// Requires: one line without its newline. Errors: format, corrupt. Final.
    Result<ExportItem> read(std::string_view line);
    /// Errors: corrupt when the stream was cut short.
    Result<void> finish() const;
    [[nodiscard]] std::uint64_t lines() const noexcept { return lines_; }

  private:
    [[nodiscard]] Error bad(Errc code, const std::string& what) const;
    Result<ExportItem> accept(ExportItem item, std::uint32_t crc);

    std::uint64_t lines_ = 0;
    Lsn next_ = 1;
    Lsn first_ = 1;
    std::uint64_t records_ = 0;
    std::uint64_t unread_ = 0;
    std::uint32_t digest_ = 0;
    bool begun_ = false;
    bool ended_ = false;
};

struct ExportOptions {
    bool strict = false;
    /// Every frame that can be read, whatever the verdict; what cannot is a gap, also at the end,
    /// as far as anything of the log says that records were acknowledged. Nothing of it is vouched
    /// for but its own checksums.
    bool salvage = false;
};

/// Writes the live records of a log that stands; reads it twice, so that nothing is written of one
/// that is refused.
/// Errors: not_found (no log here); corrupt, format, refused, io with the verdict in words; those
/// of the sink.
Result<ExportTally>
export_log(Storage& storage, const ExportOptions& options, const TextSink& sink);

/// The checksum that a record's line carries: CRC32C of LSN, type, flags, schema and payload.
std::uint32_t export_checksum(Lsn lsn, RecordTag tag, std::span<const std::byte> payload) noexcept;

/// The text of bytes, padded. Source: RFC 4648 section 4
std::string base64(std::span<const std::byte> bytes);
/// False when the text is not what base64() makes.
bool parse_base64(std::string_view text, std::vector<std::byte>& out);

} // namespace promtact::wal
