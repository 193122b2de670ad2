// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <optional>

#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/env.hpp>
#include <promtact/base/terminal.hpp>

namespace promtact {
namespace {

std::string_view code_of(Colour colour) noexcept {
    switch (colour) {
    case Colour::green:
        return "32";
    case Colour::red:
        return "31";
    case Colour::yellow:
        return "33";
    case Colour::grey:
        return "90";
    case Colour::bold:
        return "1";
    }
    return "0";
}

} // namespace

bool is_terminal(std::FILE* stream) noexcept {
    PROMTACT_ASSERT(stream != nullptr);
    const int fd = ::fileno(stream);
    return fd >= 0 && ::isatty(fd) == 1 && environment_value("TERM").value_or("dumb") != "dumb";
}

bool wants_colour(std::FILE* stream) noexcept {
    return is_terminal(stream) && environment_value("NO_COLOR").value_or("").empty();
}

std::string paint(Colour colour, std::string_view text, bool coloured) {
    if (!coloured) return std::string(text);
    return "\x1b[" + std::string(code_of(colour)) + "m" + std::string(text) + "\x1b[0m";
}

} // namespace promtact
