// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact wal: one verb each to look at, mend, move and measure a write-ahead log.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include <promtact/harness/command.hpp>

#include "commands/wal_verbs.hpp"

namespace promtact::harness {
namespace {

constexpr std::string_view usage =
    R"(Makes, looks at, mends, moves and measures write-ahead logs.

usage:
  promtact wal create <directory>            makes an empty log
  promtact wal append <directory>            adds records, durably, and prints their LSNs
  promtact wal verify <directory>            says whether the log stands, and if not, why
  promtact wal stat <directory>              what it consists of
  promtact wal dump <directory>              its segments, frames and records
  promtact wal repair <directory>            what would mend it; mends it with the flag of the case
  promtact wal export <directory>            its records as one JSON object a line
  promtact wal import <directory>            makes a log of an export
  promtact wal migrate <file> <directory>    makes a log of a file of an older format
)";
#ifdef PROMTACT_KERNEL
constexpr std::string_view usage_bench =
    R"(  promtact wal bench [flags]                 appends beside fio, as ratios to the disk's ceiling
)";
#else
constexpr std::string_view usage_bench = "";
#endif
constexpr std::string_view usage_end =
    R"(
`promtact wal <verb> -h` lists the flags. A log that a program has open is reported busy.

examples:
  promtact wal verify /data/log
  promtact wal export /data/log > log.jsonl
)";

struct Verb {
    std::string_view name{};
    int (*run)(std::span<const std::string> words) = nullptr;
};

constexpr auto verbs = std::to_array<Verb>({
    {"create", wal_create},
    {"append", wal_append},
    {"verify", wal_verify},
    {"stat", wal_stat},
    {"dump", wal_dump},
    {"repair", wal_repair},
    {"export", wal_export},
    {"import", wal_import},
    {"migrate", wal_migrate},
#ifdef PROMTACT_KERNEL
    {"bench", wal_bench},
#endif
});

} // namespace

int wal_exit(Errc code) noexcept {
    switch (code) {
    case Errc::invalid_argument:
        return 2;
    case Errc::busy:
    case Errc::refused:
    case Errc::format:
    case Errc::exists:
    case Errc::out_of_range:
        return 3;
    case Errc::corrupt:
    case Errc::io:
    case Errc::short_write:
    case Errc::poisoned:
        return 7;
    case Errc::denied:
    case Errc::unsupported:
        return 77;
    default:
        return 1;
    }
}

int wal_fail(const char* verb, const Error& error) {
    const char* const hint = error.sys_errno == EROFS
                                 ? "; it is mounted read-only: a log there can be looked at and "
                                   "exported, not made or changed"
                                 : "";
    std::fprintf(stderr, "promtact wal %s: %s%s\n", verb, describe(error).c_str(), hint);
    return wal_exit(error.code);
}

int wal_fail(const char* verb, const Error& error, const WalAccess& access) {
    const int exit = wal_fail(verb, error);
    if (error.code == Errc::denied)
        std::fprintf(stderr, "promtact wal %s: %s\n", verb, wal_denied_words(access).c_str());
    return exit;
}

wal::TextSink wal_stdout() {
    return [](std::string_view text) -> Result<void> {
        if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
        return Error::from_errno(errno, "write to standard output");
    };
}

int run_wal(std::span<const std::string> arguments) {
    const std::string first = arguments.empty() ? "" : arguments.front();
    const auto* verb = std::find_if(
        verbs.begin(), verbs.end(), [&](const Verb& each) { return each.name == first; });
    if (verb != verbs.end()) return verb->run(arguments.subspan(1));
    const bool help = first == "-h" || first == "-help" || first == "--help" || first == "help";
    if (!help && !first.empty())
        std::fprintf(stderr, "promtact wal: unknown verb \"%s\"\n", first.c_str());
    std::string text(usage);
    text.append(usage_bench).append(usage_end).append(wal_exits);
    std::fputs(text.c_str(), help ? stdout : stderr);
    return help ? 0 : 2;
}

} // namespace promtact::harness
