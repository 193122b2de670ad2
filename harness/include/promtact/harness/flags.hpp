// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One front end for every command's flags. Accepts `--flag v`, `--flag=v` and the single-dash
// spelling of Go programs (`-flag v`, `-flag=v`), boolean flags as `-flag`, `-flag=true|false`,
// and `--` to end flags. An unknown flag, a flag given twice, an empty value, a word that is not
// UTF-8 or holds a control character, and a positional word the command does not take are errors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace promtact::harness {

/// The flags of one command. Targets keep their value unless the flag is given; the value at
/// registration is shown as the default in the help. Lifetime: targets must outlive parse().
class FlagSet {
  public:
    /// command: as typed by the user ("promtact gates run"); summary: one sentence.
    FlagSet(std::string_view command, std::string_view summary);
    ~FlagSet();
    FlagSet(const FlagSet&) = delete;
    FlagSet& operator=(const FlagSet&) = delete;

    /// `name` is given without dashes; alternatives are separated by commas ("c,config").
    void text(std::string_view name, std::string& target, std::string_view help);
    /// Decimal or 0x/0o/0b, underscores allowed; outside [min, max] is an error naming the range.
    void number(
        std::string_view name, std::uint64_t& target, std::uint64_t min, std::uint64_t max,
        std::string_view help);
    void flag(std::string_view name, bool& target, std::string_view help);
    void choice(
        std::string_view name, std::string& target, std::vector<std::string> allowed,
        std::string_view help);
    /// Between min and max positional words; without this call any positional word is an error.
    void positionals(
        std::string_view name, std::vector<std::string>& target, std::size_t min, std::size_t max,
        std::string_view help);
    /// Text printed after the flag list of the help (examples, exit codes).
    void footer(std::string_view text);

    /// Parses the words after the command's name. nullopt: go on. Otherwise the exit code to
    /// return: 0 after printing the help on stdout (-h, -help, --help), 2 after printing the error
    /// and the usage line on stderr.
    std::optional<int> parse(std::span<const std::string> arguments);

    /// What parse() would print and return, without printing.
    struct Outcome {
        std::optional<int> exit{};
        std::string out{}; // for stdout
        std::string err{}; // for stderr
    };
    Outcome evaluate(std::span<const std::string> arguments);

    /// True when the flag was given on the command line.
    [[nodiscard]] bool given(std::string_view name) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace promtact::harness
