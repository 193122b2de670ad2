// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "probe/roots.hpp"

#include <promtact/base/read_file.hpp>

namespace promtact::harness::probe {

namespace {

constexpr Bytes small_file_max{64U * 1024U};

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\n";
    while (!text.empty() && blanks.find(text.front()) != std::string_view::npos)
        text.remove_prefix(1);
    while (!text.empty() && blanks.find(text.back()) != std::string_view::npos)
        text.remove_suffix(1);
    return text;
}

} // namespace

Result<std::string> read_line(const std::string& path) {
    PROMTACT_TRY_ASSIGN(const std::string text, read_text_file(path, small_file_max));
    return std::string(trimmed(text));
}

std::optional<std::string> status_field(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        if (line.starts_with(name) && line.substr(name.size()).starts_with(':'))
            return std::string(trimmed(line.substr(name.size() + 1)));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return std::nullopt;
}

} // namespace promtact::harness::probe
