// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <iterator>

#include <fmt/format.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/export.hpp>

namespace promtact::wal {
namespace {

std::string hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return text;
}

} // namespace

std::uint32_t export_checksum(Lsn lsn, RecordTag tag, std::span<const std::byte> payload) noexcept {
    std::array<std::byte, 16> head{};
    store_le<std::uint64_t>(head, 0, lsn);
    store_le<std::uint16_t>(head, 8, tag.type);
    store_le<std::uint16_t>(head, 10, tag.flags);
    store_le<std::uint32_t>(head, 12, tag.schema);
    return crc32c_extend(crc32c(head), payload);
}

Result<void> ExportWriter::line(std::string_view text) {
    text_.assign(text);
    text_ += '\n';
    return sink_(text_);
}

Result<void> ExportWriter::begin(const ExportHeader& header) {
    PROMTACT_ASSERT(header.first_lsn >= 1);
    tally_ = {};
    tally_.first_lsn = tally_.next_lsn = header.first_lsn;
    digest_ = 0;
    return line(fmt::format(
        R"({{"schema":"{}","uuid":"{}","layout":"{}","segment_bytes":{},"first_lsn":{}}})",
        export_schema, hex(header.uuid), header.layout == Layout::fixed ? "fixed" : "variable",
        header.segment_bytes, header.first_lsn));
}

Result<void> ExportWriter::record(const RecordView& record) {
    if (record.lsn < tally_.next_lsn) return {};
    PROMTACT_TRY(skip_to(record.lsn));
    const std::uint32_t crc = export_checksum(record.lsn, record.tag, record.payload);
    std::array<std::byte, 4> bytes{};
    store_le<std::uint32_t>(bytes, 0, crc);
    digest_ = crc32c_extend(digest_, bytes);
    ++tally_.records;
    tally_.payload_bytes += record.payload.size();
    tally_.next_lsn = record.lsn + 1;
    return line(fmt::format(
        R"({{"lsn":{},"type":{},"flags":{},"schema":{},"crc":{},"payload":"{}"}})", record.lsn,
        record.tag.type, record.tag.flags, record.tag.schema, crc, base64(record.payload)));
}

Result<void> ExportWriter::truncation(Lsn lsn, Lsn keep) {
    if (lsn < tally_.next_lsn) return {};
    PROMTACT_TRY(skip_to(lsn));
    ++tally_.truncations;
    tally_.next_lsn = lsn + 1;
    const Lsn kept = std::max(keep, tally_.first_lsn - 1);
    return line(fmt::format(R"({{"lsn":{},"keep":{}}})", lsn, kept));
}

Result<void> ExportWriter::skip_to(Lsn next) {
    if (next <= tally_.next_lsn) return {};
    const Lsn first = tally_.next_lsn;
    ++tally_.gaps;
    tally_.unread += next - first;
    tally_.next_lsn = next;
    return line(fmt::format(R"({{"gap":{},"last":{}}})", first, next - 1));
}

Result<void> ExportWriter::end() {
    const std::string unread =
        tally_.unread == 0 ? std::string() : fmt::format(R"(,"unread":{})", tally_.unread);
    return line(fmt::format(
        R"({{"next_lsn":{},"records":{},"digest":{}{}}})", tally_.next_lsn, tally_.records, digest_,
        unread));
}

} // namespace promtact::wal
