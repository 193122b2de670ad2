// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact evidence: documents from accepted results, and the check that they agree.
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <promtact/base/error_text.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/gates/evidence.hpp>
#include <promtact/harness/command.hpp>
#include <promtact/harness/flags.hpp>

#include "commands/evidence_run.hpp"
#include "git_history.hpp"
#include "word.hpp"

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;

constexpr Bytes readme_bytes_max{std::uint64_t{4} << 20};

constexpr std::string_view usage =
    R"(Turns accepted results into documents, and checks that documents and results agree.

usage:
  promtact evidence render [--root DIR]   write EVIDENCE.md, STATUS.md, host pages, README's block
  promtact evidence check [--root DIR]    fail when anything disagrees; write nothing
  promtact evidence run [flags] -- WORDS  run a command and record its outcome as a result

results/accepted.json names the campaigns that stand as evidence; it is changed by hand, in review.

examples:
  promtact evidence render
  promtact evidence check -root /src/promtact

exit codes:
  0   written, or all agrees (run: the command's own exit)
  1   something disagrees, or cannot be written
  2   bad flag, or no results/ below -root
)";

struct Options {
    std::string root = ".";
};

// Parses and checks; the exit code when there is nothing to do.
std::optional<int> parse(
    std::string_view verb, std::string_view summary, std::span<const std::string> arguments,
    Options& options) {
    FlagSet flags("promtact evidence " + std::string(verb), summary);
    flags.text("root", options.root, "the tree that holds results/");
    flags.footer(
        "examples:\n  promtact evidence " + std::string(verb) + "\n  promtact evidence " +
        std::string(verb) + R"( --root ../tree

exit codes:
  0   done; of a check: documents and results agree
  1   a problem, named on stderr
  2   bad flag, or no tree with results
)");
    if (const std::optional<int> code = flags.parse(arguments); code.has_value()) return code;
    // What is there but cannot be read is said by who reads it.
    if (file_kind(fs::path(options.root) / "results/accepted.json") != FileKind::absent)
        return std::nullopt;
    std::fprintf(
        stderr,
        "promtact evidence %.*s: %s/results/accepted.json is not there: name the tree with "
        "-root\n",
        static_cast<int>(verb.size()), verb.data(), options.root.c_str());
    return 2;
}

void print_findings(const gates::Findings& findings) {
    for (const std::string& note : findings.notes)
        std::fprintf(stderr, "note: %s\n", note.c_str());
    for (const std::string& problem : findings.problems)
        std::fprintf(stderr, "%s\n", problem.c_str());
}

int fail(std::string_view message) {
    std::fprintf(
        stderr, "promtact evidence: %.*s\n", static_cast<int>(message.size()), message.data());
    return 1;
}

int render_command(std::span<const std::string> arguments) {
    Options options;
    const auto code = parse("render", "Writes the generated documents.", arguments, options);
    if (code.has_value()) return *code;
    GitHistory history{fs::path(options.root)};
    gates::Findings findings;
    const gates::Evidence evidence =
        gates::load_evidence(options.root, gates::catalog(), history, findings);
    print_findings(findings);
    if (!findings.problems.empty()) return fail("nothing was written");
    std::vector<gates::Document> documents = gates::render_evidence(evidence, gates::catalog());
    const auto readme = read_text_file(fs::path(options.root) / "README.md", readme_bytes_max);
    if (readme) {
        auto text = gates::render_readme(evidence, *readme);
        if (!text) return fail(text.error().context + "; nothing was written");
        documents.push_back({"README.md", std::move(*text)});
    }
    const auto changed = gates::write_documents(options.root, documents);
    if (!changed) return fail(describe(changed.error()));
    for (const fs::path& path : *changed)
        std::printf("%s\n", path.c_str());
    std::printf("%zu documents, %zu changed\n", documents.size(), changed->size());
    return 0;
}

int check_command(std::span<const std::string> arguments) {
    Options options;
    const auto code = parse("check", "Checks documents against results.", arguments, options);
    if (code.has_value()) return *code;
    GitHistory history{fs::path(options.root)};
    const gates::Findings findings = gates::check_evidence(options.root, gates::catalog(), history);
    print_findings(findings);
    if (!findings.problems.empty())
        return fail(
            std::to_string(findings.problems.size()) +
            (findings.problems.size() == 1 ? " problem" : " problems"));
    std::printf("evidence agrees with the results\n");
    return 0;
}

} // namespace

int run_evidence(std::span<const std::string> arguments) {
    const std::string first = arguments.empty() ? "" : arguments.front();
    if (first == "render") return render_command(arguments.subspan(1));
    if (first == "run") return evidence_run_command(arguments);
    if (first == "check") return check_command(arguments.subspan(1));
    const bool help = first == "help" || first == "-h" || first == "-help" || first == "--help";
    if (!help && !first.empty())
        std::fprintf(stderr, "promtact evidence: unknown verb %s\n\n", shown(first).c_str());
    std::fputs(std::string(usage).c_str(), help ? stdout : stderr);
    return help ? 0 : 2;
}

} // namespace promtact::harness
