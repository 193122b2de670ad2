// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "datadriven.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/numbers.hpp>

namespace promtact::raft::interaction {
namespace {

using promtact::detail::quoted;
using promtact::detail::trimmed;

constexpr std::string_view separator = "----";
constexpr std::string_view name_extra = "-/_,.";
constexpr std::string_view value_extra = "-_@=+/,.";

bool is_word_character(char c, std::string_view extra) noexcept {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || extra.find(c) != std::string_view::npos;
}

std::string_view take_while(std::string_view& text, std::string_view extra) noexcept {
    const auto end = std::find_if_not(
        text.begin(), text.end(), [extra](char c) { return is_word_character(c, extra); });
    const auto size = static_cast<std::size_t>(end - text.begin());
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(size);
    return taken;
}

/// "a, b" without the parentheses.
std::vector<std::string> split_list(std::string_view list) {
    std::vector<std::string> values;
    if (trimmed(list).empty()) return values;
    while (true) {
        const std::size_t comma = list.find(',');
        values.emplace_back(trimmed(list.substr(0, comma)));
        if (comma == std::string_view::npos) return values;
        list.remove_prefix(comma + 1);
    }
}

/// Takes one word and the spaces before it.
Result<Argument> take_argument(std::string_view& rest) {
    PROMTACT_ASSERT(!rest.empty());
    const std::string_view all = rest;
    const auto bad = [all](const char* why) {
        return Error{Errc::invalid_argument, 0, quoted(all) + " " + why};
    };
    Argument argument;
    argument.key = take_while(rest, name_extra);
    if (argument.key.empty()) return bad("does not begin with a word");
    if (rest.starts_with("=(")) {
        const std::size_t close = rest.find(')');
        if (close == std::string_view::npos) return bad("has no closing parenthesis");
        argument.values = split_list(rest.substr(2, close - 2));
        rest.remove_prefix(close + 1);
    } else if (rest.starts_with('=')) {
        rest.remove_prefix(1);
        argument.values.emplace_back(take_while(rest, value_extra));
    }
    if (!rest.empty() && rest.front() != ' ') return bad("is not a word, key=value or key=(a,b)");
    return argument;
}

/// The lines of a text, one after the other.
class Lines {
  public:
    explicit Lines(std::string_view text) : rest_(text) {}

    /// The next line without its end; nothing behind the last.
    std::optional<std::string_view> next() {
        if (rest_.empty()) return std::nullopt;
        ++number_;
        const std::size_t end = rest_.find('\n');
        std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        return line;
    }
    /// Of the line that was returned last, counted from 1.
    [[nodiscard]] std::size_t number() const noexcept { return number_; }

    [[nodiscard]] Error error(const std::string& what) const { return error_at(number_, what); }
    [[nodiscard]] static Error error_at(std::size_t line, const std::string& what) {
        return {Errc::invalid_argument, 0, "line " + std::to_string(line) + ": " + what};
    }

  private:
    std::string_view rest_{};
    std::size_t number_ = 0;
};

void append_line(std::string& text, std::string_view line) {
    text += line;
    text += '\n';
}

/// Output between two pairs of separators; the first pair is read.
Result<std::string> read_long_output(Lines& lines) {
    const std::size_t begin = lines.number();
    PROMTACT_ASSERT(begin > 0);
    std::string output;
    while (const auto line = lines.next()) {
        if (*line == separator) {
            const auto second = lines.next();
            if (second == separator) {
                const auto blank = lines.next();
                if (blank.has_value() && !blank->empty())
                    return lines.error("a blank line must follow the end of the output");
                return output;
            }
            append_line(output, *line);
            if (second.has_value()) append_line(output, *second);
            continue;
        }
        append_line(output, *line);
    }
    return Lines::error_at(begin, "the output that begins here does not end");
}

Result<std::string> read_output(Lines& lines) {
    auto line = lines.next();
    if (line == separator) return read_long_output(lines);
    std::string output;
    while (line.has_value() && !trimmed(*line).empty()) {
        append_line(output, *line);
        line = lines.next();
    }
    return output;
}

/// The command line that begins with `first`, continued while a backslash ends it.
std::string read_command_line(Lines& lines, std::string_view first) {
    std::string line(trimmed(first));
    while (line.ends_with('\\')) {
        line.pop_back();
        const auto next = lines.next();
        if (!next.has_value()) break;
        line = std::string(trimmed(line)) + " " + std::string(trimmed(*next));
    }
    return line;
}

Result<void> read_rest(Lines& lines, Stanza& stanza) {
    std::string input;
    while (const auto line = lines.next()) {
        if (*line == separator) {
            stanza.input = trimmed(input);
            PROMTACT_TRY_ASSIGN(stanza.expected, read_output(lines));
            return {};
        }
        append_line(input, *line);
    }
    return Lines::error_at(stanza.line, "no ---- follows the command " + quoted(stanza.command));
}

} // namespace

const Argument* Stanza::find(std::string_view key) const noexcept {
    for (const Argument& argument : arguments)
        if (argument.key == key) return &argument;
    return nullptr;
}

Result<Stanza> parse_command(std::string_view line) {
    Stanza stanza;
    std::string_view rest = trimmed(line);
    bool first = true;
    while (!rest.empty()) {
        PROMTACT_TRY_ASSIGN(Argument argument, take_argument(rest));
        rest = trimmed(rest);
        if (!first) {
            stanza.arguments.push_back(std::move(argument));
            continue;
        }
        if (!argument.values.empty())
            return Error{Errc::invalid_argument, 0, quoted(line) + " has a value for its command"};
        stanza.command = std::move(argument.key);
        first = false;
    }
    return stanza;
}

Result<std::vector<Stanza>> parse_stanzas(std::string_view text) {
    std::vector<Stanza> stanzas;
    Lines lines(text);
    while (const auto line = lines.next()) {
        if (trimmed(*line).empty() || trimmed(*line).starts_with('#')) continue;
        const std::size_t number = lines.number();
        auto stanza = parse_command(read_command_line(lines, *line));
        if (!stanza) return Lines::error_at(number, stanza.error().context);
        if (stanza->command.empty() || stanza->command == "subtest") continue;
        stanza->line = number;
        PROMTACT_TRY(read_rest(lines, *stanza));
        PROMTACT_ASSERT(stanzas.empty() || stanzas.back().line < number);
        stanzas.push_back(std::move(*stanza));
    }
    return stanzas;
}

} // namespace promtact::raft::interaction
