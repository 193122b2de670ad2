// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Whether a stream is a terminal that wants colour, and the few colours we use.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace promtact {

/// True when the stream can redraw a line: a terminal, and TERM is not "dumb".
bool is_terminal(std::FILE* stream) noexcept;

/// True when is_terminal() and NO_COLOR is unset or empty. Source: no-color.org.
bool wants_colour(std::FILE* stream) noexcept;

enum class Colour : std::uint8_t { green, red, yellow, grey, bold };

/// The text in that colour when `coloured`, otherwise the text alone.
std::string paint(Colour colour, std::string_view text, bool coloured);

} // namespace promtact
