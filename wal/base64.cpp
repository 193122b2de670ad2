// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// RFC 4648, with padding. Exactly one text for every content.
#include <array>

#include <promtact/wal/export.hpp>

namespace promtact::wal {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr auto values = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(no_digit);
    for (std::size_t i = 0; i < digits.size(); ++i)
        table[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
    return table;
}();

} // namespace

std::string base64(std::span<const std::byte> bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = group << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= count ? digits[group >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

bool parse_base64(std::string_view text, std::vector<std::byte>& out) {
    out.clear();
    if (text.size() % 4 != 0) return false;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t at = 0; at < text.size(); at += 4) {
        std::size_t count = 4;
        if (at + 4 == text.size() && text[at + 3] == '=') count = text[at + 2] == '=' ? 2 : 3;
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const std::uint8_t value =
                i < count ? values[static_cast<unsigned char>(text[at + i])] : std::uint8_t{0};
            if (value == no_digit) return false;
            group = group << 6 | value;
        }
        for (std::size_t i = 0; i + 1 < count; ++i)
            out.push_back(static_cast<std::byte>(group >> (16 - 8 * i) & 0xffU));
        const std::uint32_t unused = count == 2 ? 0xffffU : count == 3 ? 0xffU : 0U;
        if ((group & unused) != 0) return false; // another text for the same bytes
    }
    return true;
}

} // namespace promtact::wal
