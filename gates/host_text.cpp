// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <charconv>

#include <promtact/base/read_file.hpp>

#include "host_text_internal.hpp"

namespace promtact::gates {
namespace {

constexpr Bytes fact_bytes_max{std::uint64_t{4} << 20};

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r\n\0";
    const auto first = text.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

} // namespace

std::optional<std::string> read_fact(const std::filesystem::path& path) {
    const Result<std::string> text = read_text_file(path, fact_bytes_max);
    if (!text) return std::nullopt;
    return std::string(trimmed(*text));
}

std::string fact_or_unknown(const std::filesystem::path& path) {
    std::optional<std::string> text = read_fact(path);
    return text.has_value() && !text->empty() ? std::move(*text) : "unknown";
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return number;
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
    const std::optional<std::string> text = read_fact(path);
    return text.has_value() ? parse_number(*text) : std::nullopt;
}

std::string chosen_word(std::string_view text) {
    const auto open = text.find('[');
    const auto close = text.find(']', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos)
        return std::string(trimmed(text));
    return std::string(text.substr(open + 1, close - open - 1));
}

std::optional<std::string> line_value(std::string_view text, std::string_view key, char separator) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!line.starts_with(key)) continue;
        const auto mark = line.find(separator);
        if (mark == std::string_view::npos) continue;
        if (trimmed(line.substr(0, mark)) != key) continue;
        std::string_view value = trimmed(line.substr(mark + 1));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
            value = value.substr(1, value.size() - 2);
        return std::string(value);
    }
    return std::nullopt;
}

} // namespace promtact::gates
