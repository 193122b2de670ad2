// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/record.hpp>

namespace promtact::wal {
namespace {

constexpr std::string_view magic = "HYPWAL03";
using L = RecordLayout;

static_assert(magic.size() == 8);
static_assert(L::version == L::magic + 8);
static_assert(L::flags == L::version + 2);
static_assert(L::sequence == L::flags + 2);
static_assert(L::index == L::sequence + 8);
static_assert(L::term == L::index + 8);
static_assert(L::command == L::term + 8);
static_assert(L::kind == L::command + 8);
static_assert(L::old_voters == L::kind + 2 + 6);
static_assert(L::new_voters == L::old_voters + 8);
static_assert(L::operation == L::new_voters + 8);
static_assert(L::client_id == L::operation + 2 + 2);
static_assert(L::request_id == L::client_id + 8);
static_assert(L::key == L::request_id + 8);
static_assert(L::value == L::key + 8);
static_assert(L::checksum == L::value + 8 + 4);
static_assert(record_bytes == L::checksum + 4);

struct Extent {
    std::size_t from;
    std::size_t to;
};
constexpr std::array reserved{
    Extent{L::kind + 2, L::old_voters}, Extent{L::operation + 2, L::client_id},
    Extent{L::value + 8, L::checksum}};

Error format_error(std::string what) {
    return {Errc::format, 0, "log record: " + std::move(what)};
}

Result<void> check_strict(std::span<const std::byte> bytes) {
    if (const auto flags = load_le<std::uint16_t>(bytes, L::flags); flags != 0)
        return format_error("flags " + std::to_string(flags) + " are not known to version 3");
    for (const Extent extent : reserved) {
        for (std::size_t at = extent.from; at < extent.to; ++at) {
            if (bytes[at] != std::byte{0})
                return format_error("reserved byte " + std::to_string(at) + " is not zero");
        }
    }
    for (const std::size_t at : {L::kind, L::operation}) {
        if (const auto wide = load_le<std::uint16_t>(bytes, at); wide > 0xff) {
            return format_error(
                "field at byte " + std::to_string(at) + " holds " + std::to_string(wide) +
                ", more than 8 bits");
        }
    }
    return {};
}

} // namespace

void encode(const Record& record, std::span<std::byte, record_bytes> out) noexcept {
    std::memset(out.data(), 0, out.size());
    std::memcpy(out.data(), magic.data(), magic.size());
    store_le<std::uint16_t>(out, L::version, record_version);
    store_le<std::uint64_t>(out, L::sequence, record.sequence);
    store_le<std::uint64_t>(out, L::index, record.index);
    store_le<std::uint64_t>(out, L::term, record.term);
    store_le<std::uint64_t>(out, L::command, record.command);
    store_le<std::uint16_t>(out, L::kind, record.kind);
    store_le<std::uint64_t>(out, L::old_voters, record.old_voters);
    store_le<std::uint64_t>(out, L::new_voters, record.new_voters);
    store_le<std::uint16_t>(out, L::operation, record.operation);
    store_le<std::uint64_t>(out, L::client_id, record.client_id);
    store_le<std::uint64_t>(out, L::request_id, record.request_id);
    store_le<std::uint64_t>(out, L::key, record.key);
    store_le<std::uint64_t>(out, L::value, record.value);
    store_le<std::uint32_t>(out, L::checksum, crc32c(out.first<L::checksum>()));
    PROMTACT_DEBUG_ASSERT(checksum_matches(out));
}

bool may_begin_record(std::span<const std::byte> bytes) noexcept {
    const auto head = bytes.first(std::min(bytes.size(), magic.size()));
    const bool zero =
        std::all_of(head.begin(), head.end(), [](std::byte b) { return b == std::byte{0}; });
    return zero || magic.starts_with(text_of(head));
}

bool checksum_matches(std::span<const std::byte> bytes) noexcept {
    PROMTACT_ASSERT(bytes.size() == record_bytes);
    return load_le<std::uint32_t>(bytes, L::checksum) == crc32c(bytes.first(L::checksum));
}

Result<Record> decode(std::span<const std::byte> bytes, DecodeMode mode) {
    if (bytes.size() != record_bytes)
        return format_error("length is " + std::to_string(bytes.size()) + ", not 112");
    if (text_of(bytes.first(magic.size())) != magic)
        return format_error("does not start with HYPWAL03");
    if (const auto version = load_le<std::uint16_t>(bytes, L::version); version != record_version)
        return format_error("version " + std::to_string(version) + " is not 3");
    if (!checksum_matches(bytes))
        return Error{Errc::corrupt, 0, "log record: checksum does not match"};
    if (mode == DecodeMode::strict) {
        auto strict = check_strict(bytes);
        if (!strict) return std::move(strict).error();
    }
    // Narrowing is what the Go reference does; strict mode has refused wider values above.
    return Record{
        .sequence = load_le<std::uint64_t>(bytes, L::sequence),
        .index = load_le<std::uint64_t>(bytes, L::index),
        .term = load_le<std::uint64_t>(bytes, L::term),
        .command = load_le<std::uint64_t>(bytes, L::command),
        .kind = load_le<std::uint8_t>(bytes, L::kind),
        .old_voters = load_le<std::uint64_t>(bytes, L::old_voters),
        .new_voters = load_le<std::uint64_t>(bytes, L::new_voters),
        .operation = load_le<std::uint8_t>(bytes, L::operation),
        .client_id = load_le<std::uint64_t>(bytes, L::client_id),
        .request_id = load_le<std::uint64_t>(bytes, L::request_id),
        .key = load_le<std::uint64_t>(bytes, L::key),
        .value = load_le<std::uint64_t>(bytes, L::value)};
}

} // namespace promtact::wal
