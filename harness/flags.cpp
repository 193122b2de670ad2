// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Values, ranges and help of flags. argv.cpp has already split the words, because CLI11 refuses
// single-dash long flags and reads `-config=x` as `-c onfig=x`; CLI11 sees `--name=value` only.
#include <algorithm>
#include <cstdio>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/harness/flags.hpp>

#include "argv.hpp"
#include "word.hpp"

namespace promtact::harness {

namespace {

constexpr std::size_t help_width = 96;
constexpr std::size_t help_indent = 6;

struct Flag {
    std::vector<std::string> names{}; // without dashes; the last one is the canonical name
    std::string shows{};              // "<number>", "" for a boolean
    std::string about{};              // sentence, range and default
    bool boolean = false;
    bool given = false;

    const std::string& name() const { return names.back(); }
};

struct Positionals {
    std::string name{};
    std::string about{};
    std::vector<std::string>* target = nullptr;
    std::size_t min = 0;
    std::size_t max = 0;
};

std::vector<std::string> split_names(std::string_view names) {
    std::vector<std::string> out;
    while (true) {
        const std::size_t comma = names.find(',');
        out.emplace_back(names.substr(0, comma));
        PROMTACT_ASSERT(!out.back().empty());
        PROMTACT_ASSERT(out.back().front() != '-');
        if (comma == std::string_view::npos) return out;
        names.remove_prefix(comma + 1);
    }
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

/// Breaks a sentence at blanks so that no line passes help_width; later lines are indented.
std::string wrapped(std::string_view text, std::size_t indent) {
    std::string out(indent, ' ');
    std::size_t column = indent;
    while (!text.empty()) {
        const std::size_t blank = text.find(' ');
        const std::string_view word = text.substr(0, blank);
        if (column > indent && column + 1 + word.size() > help_width) {
            out += '\n';
            out.append(indent, ' ');
            column = indent;
        }
        if (column > indent) out += ' ', ++column;
        out += word;
        column += word.size();
        text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    }
    return out;
}

/// The reason without the word itself, which the message already shows.
std::string_view why_no_number(std::string_view value, const Error& error) {
    if (error.code == Errc::out_of_range) return "which does not fit 64 bits";
    if (value.starts_with('-')) return "which is negative";
    if (error.context.find("leading zero") != std::string::npos)
        return "which has a leading zero: write 0o for octal, or drop the zero";
    return "which is not a whole number (decimal, or 0x, 0o, 0b)";
}

/// Go's spellings of a boolean value.
std::optional<bool> parse_boolean(std::string_view text) {
    for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"})
        if (text == yes) return true;
    for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"})
        if (text == no) return false;
    return std::nullopt;
}

} // namespace

struct FlagSet::State {
    CLI::App app{};
    std::string command{};
    std::string summary{};
    std::string footer{};
    std::vector<Flag> flags{};
    std::optional<Positionals> positionals{};
    std::string spelled{}; // the flag CLI11 is validating, as typed
    std::string problem{}; // what a validator of ours refused
    std::vector<Assignment> assignments{};

    /// What a validator or a conversion returns to CLI11 when it refuses; the sentence is kept,
    /// since CLI11 would prefix it with a spelling nobody typed.
    std::string refuse(std::size_t flag, std::string_view value, std::string_view rule) {
        const auto at = std::ranges::find(assignments, flag, &Assignment::flag);
        PROMTACT_ASSERT(at != assignments.end());
        problem = fmt::format("flag {} is {}, {}", shown(at->spelled), shown(value), rule);
        return problem;
    }

    std::size_t add(std::string_view names, Flag flag) {
        flag.names = split_names(names);
        for (const std::string& name : flag.names) {
            for (const Flag& other : flags)
                PROMTACT_ASSERT(std::ranges::find(other.names, name) == other.names.end());
        }
        flags.push_back(std::move(flag));
        return flags.size() - 1;
    }

    /// Registers with CLI11. check: returns the refusal, or "" to accept; accept: stores.
    void connect(
        std::size_t flag, std::function<std::string(std::string&)> check,
        const std::function<void(const std::string&)>& accept) {
        app.add_option_function<std::string>("--" + flags[flag].name(), accept)
            ->check(CLI::Validator(std::move(check), "", flags[flag].name()));
    }

    std::vector<FlagName> names() const {
        std::vector<FlagName> out;
        for (std::size_t i = 0; i < flags.size(); ++i) {
            for (const std::string& name : flags[i].names)
                out.push_back({name, i, flags[i].boolean});
        }
        return out;
    }

    std::string usage_line() const {
        std::string out = fmt::format("usage: {}", command);
        if (!flags.empty()) out += " [flags]";
        if (positionals) {
            const std::string_view dots = positionals->max > 1 ? "..." : "";
            const std::string words = fmt::format("{}{}", positionals->name, dots);
            out += positionals->min == 0 ? " [" + words + "]" : " <" + words + ">";
        }
        return out + '\n';
    }

    std::string help() const {
        std::string out = fmt::format("{}: {}\n\n{}", command, summary, usage_line());
        if (positionals) out += "\n" + wrapped(positionals->about, 2) + "\n";
        if (!flags.empty()) out += "\nflags (-name value, -name=value; one dash or two):\n";
        for (const Flag& flag : flags) {
            const std::string_view blank = flag.shows.empty() ? "" : " ";
            out += fmt::format("  -{}{}{}\n", joined(flag.names, ", -"), blank, flag.shows);
            out += wrapped(flag.about, help_indent) + "\n";
        }
        if (!footer.empty()) out += "\n" + footer;
        if (out.back() != '\n') out += '\n';
        return out;
    }

    Outcome refused(std::string_view why) const {
        return {
            2, "",
            fmt::format(
                "{}: {}\n{}run `{} -h` for its flags\n", command, why, usage_line(), command)};
    }

    std::optional<std::string> check_positionals(const std::vector<std::string>& words) const {
        if (!positionals) {
            if (words.empty()) return std::nullopt;
            return fmt::format("unexpected word {}", shown(words.front())) + boolean_hint(words);
        }
        const std::string_view plural = positionals->max > 1 ? "s" : "";
        if (words.size() < positionals->min) {
            return fmt::format(
                "needs {}{} <{}>", positionals->min < positionals->max ? "at least " : "",
                positionals->min, positionals->name);
        }
        if (words.size() > positionals->max) {
            return fmt::format(
                "unexpected word {}: takes at most {} word{}", shown(words[positionals->max]),
                positionals->max, plural);
        }
        return std::nullopt;
    }

    /// `-keep false` leaves "false" behind as a word; say how to write it.
    std::string boolean_hint(const std::vector<std::string>& words) const {
        if (!parse_boolean(words.front())) return "";
        for (const Assignment& assignment : assignments) {
            if (flags[assignment.flag].boolean)
                return fmt::format("; write {}={}", assignment.spelled, words.front());
        }
        return "";
    }

    /// Hands the split words to CLI11. Returns the refusal, if any.
    std::optional<std::string> convert() {
        std::vector<std::string> normal;
        for (const Assignment& assignment : assignments)
            normal.push_back("--" + flags[assignment.flag].name() + "=" + assignment.value);
        std::ranges::reverse(normal); // CLI11 takes words from the back
        try {
            app.parse(std::move(normal));
        } catch (const CLI::Error& error) {
            return problem.empty() ? std::string(error.what()) : problem;
        }
        for (const Assignment& assignment : assignments)
            flags[assignment.flag].given = true;
        return std::nullopt;
    }
};

FlagSet::FlagSet(std::string_view command, std::string_view summary)
    : state_(std::make_unique<State>()) {
    PROMTACT_ASSERT(!command.empty());
    state_->command = command;
    state_->summary = summary;
    state_->app.set_help_flag(); // help is ours
}

FlagSet::~FlagSet() = default;

void FlagSet::text(std::string_view name, std::string& target, std::string_view help) {
    const std::string fallback = target.empty() ? "" : fmt::format(" (default {})", target);
    const std::size_t flag =
        state_->add(name, {.shows = "<text>", .about = std::string(help) + fallback});
    state_->connect(
        flag, [](std::string&) { return std::string(); },
        [&target](const std::string& value) { target = value; });
}

void FlagSet::number(
    std::string_view name, std::uint64_t& target, std::uint64_t min, std::uint64_t max,
    std::string_view help) {
    PROMTACT_ASSERT(min <= max);
    const std::string about = fmt::format("{}, {} to {} (default {})", help, min, max, target);
    const std::size_t flag = state_->add(name, {.shows = "<number>", .about = about});
    state_->connect(
        flag,
        [state = state_.get(), flag, min, max](std::string& value) {
            const Result<std::uint64_t> number = parse_u64(value);
            if (number && *number >= min && *number <= max) return std::string();
            const std::string_view why =
                number ? "which is outside" : why_no_number(value, number.error());
            return state->refuse(flag, value, fmt::format("{}; allowed: {} to {}", why, min, max));
        },
        [&target](const std::string& value) { target = parse_u64(value).value_or(target); });
}

void FlagSet::flag(std::string_view name, bool& target, std::string_view help) {
    const std::string fallback = target ? " (default true)" : "";
    const std::size_t flag =
        state_->add(name, {.about = std::string(help) + fallback, .boolean = true});
    state_->connect(
        flag,
        [state = state_.get(), flag](std::string& value) {
            if (parse_boolean(value)) return std::string();
            return state->refuse(flag, value, "but must be true or false");
        },
        [&target](const std::string& value) { target = parse_boolean(value).value_or(target); });
}

void FlagSet::choice(
    std::string_view name, std::string& target, std::vector<std::string> allowed,
    std::string_view help) {
    PROMTACT_ASSERT(!allowed.empty());
    const std::string fallback = target.empty() ? "" : fmt::format(" (default {})", target);
    const std::size_t flag = state_->add(
        name, {.shows = fmt::format("<{}>", joined(allowed, "|")),
               .about = std::string(help) + fallback});
    state_->connect(
        flag,
        [state = state_.get(), flag, allowed = std::move(allowed)](std::string& value) {
            if (std::ranges::find(allowed, value) != allowed.end()) return std::string();
            const std::vector<std::string_view> candidates(allowed.begin(), allowed.end());
            const auto meant = nearest(value, candidates);
            std::string rule = fmt::format("but must be one of: {}", joined(allowed, ", "));
            if (meant) rule += fmt::format("; did you mean {}?", *meant);
            return state->refuse(flag, value, rule);
        },
        [&target](const std::string& value) { target = value; });
}

void FlagSet::positionals(
    std::string_view name, std::vector<std::string>& target, std::size_t min, std::size_t max,
    std::string_view help) {
    PROMTACT_ASSERT(!state_->positionals.has_value());
    PROMTACT_ASSERT(max >= 1);
    PROMTACT_ASSERT(min <= max);
    state_->positionals = Positionals{std::string(name), std::string(help), &target, min, max};
}

void FlagSet::footer(std::string_view text) {
    state_->footer = text;
}

FlagSet::Outcome FlagSet::evaluate(std::span<const std::string> arguments) {
    State& state = *state_;
    const std::vector<FlagName> names = state.names();
    ParsedArgv parsed = parse_argv(arguments, names);
    if (parsed.help) return {0, state.help(), ""};
    if (parsed.problem) return state.refused(*parsed.problem);
    state.assignments = std::move(parsed.assignments);
    if (const auto problem = state.check_positionals(parsed.positionals))
        return state.refused(*problem);
    if (const auto problem = state.convert()) return state.refused(*problem);
    if (state.positionals) *state.positionals->target = std::move(parsed.positionals);
    return {};
}

std::optional<int> FlagSet::parse(std::span<const std::string> arguments) {
    const Outcome outcome = evaluate(arguments);
    std::fputs(outcome.out.c_str(), stdout);
    std::fputs(outcome.err.c_str(), stderr);
    return outcome.exit;
}

bool FlagSet::given(std::string_view name) const {
    for (const Flag& flag : state_->flags)
        if (std::ranges::find(flag.names, name) != flag.names.end()) return flag.given;
    PROMTACT_UNREACHABLE(); // asked for a flag that was never registered
}

} // namespace promtact::harness
