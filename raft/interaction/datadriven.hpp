// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Data-driven test files: stanzas of a command, its input and the output it must have.
//
//   command arg key=value key=(a,b)     a backslash at the end continues on the next line
//   input, any number of lines
//   ----
//   output, up to a blank line or the end of the file
//
// Output that has blank lines stands between two pairs of "----" lines. Lines that begin with #
// between stanzas are comments; a line "subtest NAME" is read and does nothing.
// Source: the file format of cockroachdb/datadriven.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::raft::interaction {

/// One word behind the command: a flag, or a key with its values.
struct Argument {
    std::string key{};
    std::vector<std::string> values{}; // none for a word without =
    friend bool operator==(const Argument&, const Argument&) = default;
};

struct Stanza {
    std::size_t line = 0; // of the command, counted from 1
    std::string command{};
    std::vector<Argument> arguments{};
    std::string input{};    // without blank space around it
    std::string expected{}; // every line with its end; empty when no output is expected

    /// The argument of that name, nullptr without one.
    [[nodiscard]] const Argument* find(std::string_view key) const noexcept;
};

/// Splits a command line. Errors: invalid_argument naming the word that is not of the form
Result<Stanza> parse_command(std::string_view line);

/// All stanzas of a file.
/// Errors: invalid_argument with "line N: " and what is wrong: a command line, no "----" behind a
/// command, no end of output between double "----", text right behind that end
Result<std::vector<Stanza>> parse_stanzas(std::string_view text);

} // namespace promtact::raft::interaction
