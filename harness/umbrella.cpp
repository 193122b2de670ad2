// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/env.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/harness/umbrella.hpp>

#include "word.hpp"

namespace promtact::harness {

namespace {

constexpr int exit_usage = 2;
constexpr int exit_output = 1;

/// With a standard descriptor closed, the next file opened would take its number and results would
/// be printed into it. A closed one is held by a descriptor on which writing (reading) fails.
void hold_standard_descriptors() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        const int held = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        PROMTACT_ASSERT(held == fd || held < 0);
    }
}

/// A result that did not reach its reader is not a success.
int flushed(int exit_code) {
    errno = 0;
    const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
    if (!lost) return exit_code;
    // A command that flushed before has already taken the errno away.
    const Error error = errno == 0 ? Error{Errc::io, 0, "write to standard output"}
                                   : Error::from_errno(errno, "write to standard output");
    std::fputs(fmt::format("promtact: {}\n", describe(error)).c_str(), stderr);
    return exit_code == 0 ? exit_output : exit_code;
}

std::string base_name(std::string_view path) {
    return std::string(path.substr(path.find_last_of('/') + 1));
}

const Command* find(std::span<const Command> commands, std::string_view name) {
    const auto at = std::ranges::find(commands, name, &Command::name);
    return at == commands.end() ? nullptr : &*at;
}

bool asks_help(std::string_view word) {
    return word == "help" || word == "-h" || word == "-help" || word == "--help";
}

int refuse_unknown(std::string_view what, std::string_view word, const Program& program) {
    std::vector<std::string_view> candidates{"help"};
    for (const Command& command : program.commands)
        candidates.push_back(command.name);
    std::string message = fmt::format("{}: unknown {} {}", program.name, what, shown(word));
    if (const auto meant = nearest(word, candidates))
        message += fmt::format("; did you mean {}?", *meant);
    std::fputs((message + "\n\n" + usage(program)).c_str(), stderr);
    return exit_usage;
}

/// `promtact help`, `promtact help gates run`, `promtact -h`.
int run_help(std::span<const std::string> words, const Program& program) {
    if (words.empty() || asks_help(words.front())) {
        std::fputs(usage(program).c_str(), stdout);
        return 0;
    }
    const Command* command = find(program.commands, words.front());
    if (command == nullptr) return refuse_unknown("help topic", words.front(), program);
    std::vector<std::string> asked(words.begin() + 1, words.end());
    asked.emplace_back("-h");
    const int code = command->run(asked);
    // The exit code of a command's own -h is part of its contract; asking for a topic succeeds.
    return words.size() == 1 ? 0 : code;
}

int dispatch(std::span<const std::string> argv, const Program& program) {
    if (!argv.empty()) {
        const std::string called = base_name(argv.front());
        const auto link = std::ranges::find(program.commands, called, &Command::link);
        if (!called.empty() && link != program.commands.end()) return link->run(argv.subspan(1));
        argv = argv.subspan(1);
    }
    if (argv.empty()) {
        std::fputs(usage(program).c_str(), stderr);
        return exit_usage;
    }
    if (asks_help(argv.front())) return run_help(argv.subspan(1), program);
    const Command* command = find(program.commands, argv.front());
    if (command == nullptr) return refuse_unknown("command", argv.front(), program);
    return command->run(argv.subspan(1));
}

} // namespace

std::string usage(const Program& program) {
    std::string out = fmt::format("usage: {} <command> [flags]\n\ncommands:\n", program.name);
    std::size_t width = 12;
    for (const Command& command : program.commands)
        width = std::max(width, command.name.size());
    for (const Command& command : program.commands)
        out += fmt::format("  {:<{}}  {}\n", command.name, width, command.summary);
    return out +
           fmt::format(
               "\nRun `{0} <command> -h` or `{0} help <command>` for its flags.\n", program.name);
}

int run_umbrella(std::span<const std::string> argv, const Program& program) {
    PROMTACT_ASSERT(std::ranges::is_sorted(program.commands, {}, &Command::name));
    hold_standard_descriptors();
    const std::vector<std::string> problems = check_environment();
    for (const std::string& problem : problems)
        std::fputs(fmt::format("{}: environment: {}\n", program.name, problem).c_str(), stderr);
    if (!problems.empty()) return exit_usage;
    return flushed(dispatch(argv, program));
}

} // namespace promtact::harness
