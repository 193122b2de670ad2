// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The words after a command's name, split into assignments and positional words. Knows how flags
// are spelled, nothing about what their values mean: `-flag v`, `-flag=v`, `--flag v`, `--flag=v`,
// a boolean as `-flag` or `-flag=false`, `--` to end the flags.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace promtact::harness {

/// One accepted spelling (without dashes) of a flag.
struct FlagName {
    std::string_view name{};
    std::size_t flag = 0; // which flag this names; aliases share it
    bool boolean = false; // takes no separate value word
};

struct Assignment {
    std::size_t flag = 0;
    std::string spelled{}; // "-steps", as typed
    std::string value{};   // never empty; "true" for a bare boolean
};

struct ParsedArgv {
    bool help = false;                    // -h, -help or --help came before anything wrong
    std::optional<std::string> problem{}; // the first thing wrong, as a sentence
    std::vector<Assignment> assignments{};
    std::vector<std::string> positionals{};
};

/// Splits the words. Stops at the first problem or at a request for help.
/// Requires: names are unique and contain neither '=' nor a leading dash.
ParsedArgv parse_argv(std::span<const std::string> words, std::span<const FlagName> names);

} // namespace promtact::harness
