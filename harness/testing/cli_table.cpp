// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "testing/cli_table.hpp"

#include <charconv>
#include <ostream>

#include <fmt/format.h>

namespace promtact::harness::testing {

namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> out;
    while (true) {
        const std::size_t at = text.find(separator);
        out.push_back(trimmed(text.substr(0, at)));
        if (at == std::string_view::npos) return out;
        text.remove_prefix(at + separator.size());
    }
}

/// The value of \xNN at the front of text, which is removed.
std::optional<char> take_escape(std::string_view& text) {
    if (!text.starts_with("\\x") || text.size() < 4) return std::nullopt;
    unsigned value = 0;
    const auto [at, error] = std::from_chars(text.data() + 2, text.data() + 4, value, 16);
    if (error != std::errc() || at != text.data() + 4) return std::nullopt;
    text.remove_prefix(4);
    return static_cast<char>(value);
}

/// Words at blanks; 'single quotes' group, \xNN is a byte.
std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    bool in_word = false;
    bool in_quotes = false;
    while (!text.empty()) {
        const char c = text.front();
        if (!in_word && c != ' ') words.emplace_back();
        in_word = in_quotes || c != ' ';
        if (c == '\'') {
            in_quotes = !in_quotes;
        } else if (const auto byte = in_word ? take_escape(text) : std::nullopt) {
            words.back() += *byte;
            continue;
        } else if (in_word) {
            words.back() += c;
        }
        text.remove_prefix(1);
    }
    return words;
}

std::vector<std::string> parts(std::string_view cell) {
    std::vector<std::string> out;
    if (cell == "*") return out;
    for (const std::string_view part : split(cell, " & "))
        out.emplace_back(part);
    return out;
}

Result<CliRow> parse_row(std::string_view line, std::uint32_t number) {
    const auto bad = [number](std::string_view why) {
        return Error{Errc::format, 0, fmt::format("cli_table.txt:{}: {}", number, why)};
    };
    const std::vector<std::string_view> cells = split(line, " | ");
    if (cells.size() != 4) return bad("needs: command | exit | stdout | stderr");
    CliRow row{.line = number, .text = std::string(cells[0])};
    std::string_view command = cells[0];
    while (command.starts_with('[')) {
        const std::size_t end = command.find(']');
        if (end == std::string_view::npos) return bad("a modifier is not closed by ]");
        row.modifiers.emplace_back(command.substr(1, end - 1));
        command = trimmed(command.substr(end + 1));
    }
    row.words = split_words(command);
    if (row.words.empty()) return bad("names no program");
    const char* end = cells[1].data() + cells[1].size();
    const auto [at, error] = std::from_chars(cells[1].data(), end, row.exit);
    if (error != std::errc() || at != end) return bad("the exit code is no number");
    row.out = parts(cells[2]);
    row.err = parts(cells[3]);
    return row;
}

} // namespace

void PrintTo(const CliRow& row, std::ostream* out) {
    *out << "cli_table.txt:" << row.line << ": " << row.text;
}

Result<std::vector<CliRow>> parse_cli_table(std::string_view text) {
    std::vector<CliRow> rows;
    std::uint32_t number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        if (line.empty() || line.starts_with('#')) continue;
        PROMTACT_TRY_ASSIGN(CliRow row, parse_row(line, number));
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace promtact::harness::testing
