// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "word.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace promtact::harness {

namespace {

constexpr std::size_t shown_bytes_max = 120;
constexpr std::size_t compared_bytes_max = 64;

/// Bytes of the UTF-8 sequence at the start of text; 0 when it is not one.
std::size_t sequence_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const auto follows = [&](std::size_t i, unsigned low, unsigned high) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    if (text.empty()) return 0;
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1, 0x80, 0xBF) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const unsigned low = first == 0xE0 ? 0xA0 : 0x80;  // overlong below
        const unsigned high = first == 0xED ? 0x9F : 0xBF; // surrogates above
        return follows(1, low, high) && follows(2, 0x80, 0xBF) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const unsigned low = first == 0xF0 ? 0x90 : 0x80;
        const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
        return follows(1, low, high) && follows(2, 0x80, 0xBF) && follows(3, 0x80, 0xBF) ? 4 : 0;
    }
    return 0;
}

/// C1 controls (U+0080..U+009F) drive some terminals just like the ASCII ones.
bool is_control(std::string_view sequence) noexcept {
    const auto first = static_cast<std::uint8_t>(sequence[0]);
    if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
    return first == 0xC2 && static_cast<std::uint8_t>(sequence[1]) < 0xA0;
}

/// Removes one UTF-8 sequence, or one byte that begins none, from the front.
std::string_view take_sequence(std::string_view& text) noexcept {
    const std::string_view sequence =
        text.substr(0, std::max<std::size_t>(sequence_length(text), 1));
    text.remove_prefix(sequence.size());
    return sequence;
}

std::string printable_sequence(std::string_view sequence) {
    if (sequence_length(sequence) != 0 && !is_control(sequence)) return std::string(sequence);
    std::string out;
    for (const char c : sequence)
        out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(c));
    return out;
}

std::string_view without_dashes(std::string_view word) noexcept {
    while (!word.empty() && word.front() == '-')
        word.remove_prefix(1);
    return word;
}

/// Optimal string alignment distance. Requires: both at most compared_bytes_max long.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    using Row = std::array<std::size_t, compared_bytes_max + 1>;
    Row before{};
    Row above{};
    Row row{};
    for (std::size_t j = 0; j <= b.size(); ++j)
        above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitution = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitution});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
    }
    return above[b.size()];
}

std::optional<std::string_view>
only_completion(std::string_view word, std::span<const std::string_view> candidates) {
    std::optional<std::string_view> found;
    for (const std::string_view candidate : candidates) {
        if (!candidate.starts_with(word)) continue;
        if (found) return std::nullopt;
        found = candidate;
    }
    return found;
}

} // namespace

bool valid_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string_view unfit(std::string_view word) noexcept {
    if (word.find('\0') != std::string_view::npos) return "contains a NUL byte";
    if (!valid_utf8(word)) return "is not valid UTF-8";
    while (!word.empty())
        if (is_control(take_sequence(word))) return "contains a control character";
    return "";
}

std::string printable(std::string_view text) {
    std::string out;
    while (!text.empty())
        out += printable_sequence(take_sequence(text));
    return out;
}

std::string shown(std::string_view word) {
    std::string out = "\"";
    while (!word.empty() && out.size() < shown_bytes_max) {
        const std::string_view sequence = take_sequence(word);
        if (sequence == "\"" || sequence == "\\") out += '\\';
        out += printable_sequence(sequence);
    }
    if (!word.empty()) out += fmt::format("… ({} more bytes)", word.size());
    return out + '"';
}

std::optional<std::string_view>
nearest(std::string_view word, std::span<const std::string_view> candidates) {
    word = without_dashes(word);
    if (word.empty() || word.size() > compared_bytes_max) return std::nullopt;
    std::optional<std::string_view> best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > compared_bytes_max) continue;
        // A one-letter candidate is one edit away from every one-letter word: no information.
        if (candidate.size() < 2) continue;
        const std::size_t distance = edit_distance(word, candidate);
        if (distance >= best_distance) continue;
        best_distance = distance;
        best = candidate;
    }
    return best ? best : only_completion(word, candidates);
}

} // namespace promtact::harness
