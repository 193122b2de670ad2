// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A word somebody typed, as it may be shown back to them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace promtact::harness {

/// Shape: RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF.
bool valid_utf8(std::string_view text) noexcept;

/// Why a word of the command line is refused whatever it stands for: it would garble a terminal, a
/// log or a result that repeats it. Empty when there is nothing wrong with it.
std::string_view unfit(std::string_view word) noexcept;

/// The text, safe for a terminal: control bytes and bytes that are not UTF-8 appear as \xNN.
std::string printable(std::string_view text);

/// The word in double quotes, printable; a quote or backslash inside is escaped, a very
/// long word is cut.
std::string shown(std::string_view word);

/// The candidate the writer most likely meant: the closest by edit distance (a swap of neighbours
/// counts as one edit), or the only one that begins with the word. Leading dashes do not count.
std::optional<std::string_view>
nearest(std::string_view word, std::span<const std::string_view> candidates);

} // namespace promtact::harness
