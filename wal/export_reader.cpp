// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/base/json_reader.hpp>
#include <promtact/wal/export.hpp>

namespace promtact::wal {
namespace {

bool parse_uuid(std::string_view text, LogUuid& out) noexcept {
    if (text.size() != 2 * out.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool digit = c >= '0' && c <= '9';
        if (!digit && !(c >= 'a' && c <= 'f')) return false;
        const auto value = static_cast<unsigned>(digit ? c - '0' : c - 'a' + 10);
        out[i / 2] = i % 2 == 0 ? static_cast<std::byte>(value << 4U)
                                : out[i / 2] | static_cast<std::byte>(value);
    }
    return true;
}

/// One that no log reaches is refused before anybody counts with it.
Lsn require_lsn(ObjectReader& object, std::string_view name, Lsn least, Lsn most = lsn_last) {
    const Lsn lsn = object.require_u64(name);
    if (lsn > most) {
        object.complain(name, "is " + std::to_string(lsn) + ", but " + lsn_last_words());
        return 0;
    }
    if (lsn < least) object.complain(name, "must be at least " + std::to_string(least));
    return lsn;
}

void read_header(ObjectReader& object, ExportItem& item) {
    item.kind = ExportItem::Kind::header;
    if (object.require_string("schema") != export_schema)
        object.complain("schema", "must be \"" + std::string(export_schema) + "\"");
    if (!parse_uuid(object.require_string("uuid"), item.header.uuid))
        object.complain("uuid", "must be 32 hexadecimal digits in lower case");
    const std::string layout = object.require_string("layout");
    if (layout != "variable" && layout != "fixed")
        object.complain("layout", "must be \"variable\" or \"fixed\"");
    item.header.layout = layout == "fixed" ? Layout::fixed : Layout::variable;
    item.header.segment_bytes =
        object.require_u64("segment_bytes", segment_bytes_min, segment_bytes_max);
    if (item.header.segment_bytes % block_bytes != 0)
        object.complain("segment_bytes", "must be a multiple of 4096");
    item.header.first_lsn = require_lsn(object, "first_lsn", 1, lsn_last + 1);
}

void read_record(ObjectReader& object, ExportItem& item, std::uint32_t& crc) {
    item.kind = ExportItem::Kind::record;
    item.lsn = require_lsn(object, "lsn", 1);
    item.tag.type = static_cast<std::uint16_t>(object.require_u64("type", 0, UINT16_MAX));
    item.tag.flags = static_cast<std::uint16_t>(object.require_u64("flags", 0, UINT16_MAX));
    item.tag.schema = static_cast<std::uint32_t>(object.require_u64("schema", 0, UINT32_MAX));
    crc = static_cast<std::uint32_t>(object.require_u64("crc", 0, UINT32_MAX));
    if (!parse_base64(object.require_string("payload"), item.payload))
        object.complain("payload", "is not base64 with padding");
}

/// The member that only this kind of line has decides what it is.
void read_line(const JsonValue& value, ObjectReader& object, ExportItem& item, std::uint32_t& crc) {
    using Kind = ExportItem::Kind;
    if (value.find("payload") != nullptr) return read_record(object, item, crc);
    if (value.find("keep") != nullptr) {
        item.kind = Kind::truncation;
        item.lsn = require_lsn(object, "lsn", 1);
        item.keep = require_lsn(object, "keep", 0);
    } else if (value.find("gap") != nullptr) {
        item.kind = Kind::gap;
        item.lsn = require_lsn(object, "gap", 1);
        item.last = require_lsn(object, "last", item.lsn);
    } else if (value.find("digest") != nullptr) {
        item.kind = Kind::end;
        item.lsn = require_lsn(object, "next_lsn", 1, lsn_last + 1);
        item.last = object.require_u64("records");
        item.unread = object.optional_u64("unread", 1);
        crc = static_cast<std::uint32_t>(object.require_u64("digest", 0, UINT32_MAX));
    } else {
        read_header(object, item);
    }
}

} // namespace

Error ExportReader::bad(Errc code, const std::string& what) const {
    return Error{code, 0, "line " + std::to_string(lines_) + ": " + what};
}

Result<ExportItem> ExportReader::read(std::string_view line) {
    ++lines_;
    if (ended_) return bad(Errc::format, "something follows the end of the export");
    JsonProblems problems;
    const auto value = parse_json(line, problems, {.bytes_max = line_bytes_max, .depth_max = 4});
    if (value && value->kind != JsonKind::object)
        return bad(Errc::format, "is not a JSON object; an export has one on every line");
    ExportItem item;
    std::uint32_t crc = 0;
    if (value && problems.empty()) {
        ObjectReader object(*value, problems);
        read_line(*value, object, item, crc);
        object.finish();
    }
    if (!problems.empty()) {
        const JsonProblem& first = problems.list().front();
        return bad(
            Errc::format, "column " + std::to_string(first.at.column) + ": " + first.message);
    }
    return accept(std::move(item), crc);
}

Result<ExportItem> ExportReader::accept(ExportItem item, std::uint32_t crc) {
    using Kind = ExportItem::Kind;
    if (begun_ != (item.kind != Kind::header))
        return bad(Errc::format, begun_ ? "a second header" : "an export begins with its header");
    if (item.kind == Kind::header) {
        begun_ = true;
        first_ = next_ = item.header.first_lsn;
        return item;
    }
    if (item.lsn != next_) {
        return bad(
            Errc::corrupt, "LSN " + std::to_string(item.lsn) + " where " + std::to_string(next_) +
                               " must be: a line is missing or out of place");
    }
    if (item.kind == Kind::end) {
        if (item.last != records_ || crc != digest_)
            return bad(Errc::corrupt, "the records are not those the end speaks of");
        if (item.unread && *item.unread != unread_)
            return bad(Errc::corrupt, "the gaps are not those the end speaks of");
        ended_ = true;
        return item;
    }
    next_ = (item.kind == Kind::gap ? item.last : item.lsn) + 1;
    if (item.kind == Kind::gap) unread_ += item.last - item.lsn + 1;
    if (item.kind == Kind::truncation && (item.keep >= item.lsn || item.keep + 1 < first_))
        return bad(Errc::format, "a truncation keeps what is not there");
    if (item.kind != Kind::record) return item;
    if (crc != export_checksum(item.lsn, item.tag, item.payload))
        return bad(Errc::corrupt, "the record's checksum does not hold");
    std::array<std::byte, 4> bytes{};
    store_le<std::uint32_t>(bytes, 0, crc);
    digest_ = crc32c_extend(digest_, bytes);
    ++records_;
    return item;
}

Result<void> ExportReader::finish() const {
    if (ended_) return {};
    return Error{
        Errc::corrupt, 0,
        "the export was cut short after line " + std::to_string(lines_) +
            ": its last line must tell how many records there are"};
}

} // namespace promtact::wal
