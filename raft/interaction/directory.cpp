// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "directory.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <promtact/base/list_directory.hpp>
#include <promtact/base/read_file.hpp>

#include "interaction_runner.hpp"

namespace promtact::raft::interaction {
namespace {

constexpr Bytes file_bytes_max{16 << 20};
constexpr int depth_max = 8; // of directories, against links that lead back

FileReport compare_file(const std::filesystem::path& path, std::string name) {
    FileReport report;
    report.name = std::move(name);
    auto text = read_text_file(path, file_bytes_max);
    if (!text) {
        report.error = text.error().context;
        return report;
    }
    auto stanzas = parse_stanzas(*text);
    if (!stanzas) {
        report.error = stanzas.error().context;
        return report;
    }
    report.subject = subject_of(*stanzas);
    if (stanzas->empty()) report.error = "no stanza in it";
    report.comparison = report.subject == Subject::interaction
                            ? compare_states(*stanzas)
                            : compare(*stanzas, make_runner(report.subject));
    return report;
}

Result<void> compare_below(
    const std::filesystem::path& directory, const std::string& prefix, int depth,
    DirectoryReport& report) {
    PROMTACT_TRY_ASSIGN(const auto names, list_directory(directory));
    for (const std::string& name : names) {
        const std::filesystem::path path = directory / name;
        const FileKind kind = file_kind(path);
        if (kind == FileKind::directory && depth < depth_max) {
            PROMTACT_TRY(compare_below(path, prefix + name + "/", depth + 1, report));
        } else if (kind == FileKind::regular && path.extension() == ".txt") {
            report.files.push_back(compare_file(path, prefix + name));
        }
    }
    return {};
}

/// The text, each line behind four spaces.
std::string indented(const std::string& text) {
    std::string out;
    bool begins = true;
    for (const char c : text) {
        if (begins) out += "    ";
        out += c;
        begins = c == '\n';
    }
    return out;
}

std::string describe(const FileReport& file, std::size_t differences_max) {
    if (!file.error.empty()) return file.name + ": unreadable: " + file.error + "\n";
    const Comparison& c = file.comparison;
    std::string text = file.name + ": " + std::to_string(c.stanzas) + " stanzas, ";
    if (c.compared < c.stanzas) text += std::to_string(c.compared) + " with states, ";
    text += std::to_string(c.equal) + " equal, " + std::to_string(c.different()) + " different";
    if (!c.intended.empty())
        text += ", " + std::to_string(c.different() - c.unexplained()) + " of them intended";
    text += "\n";
    std::size_t told = 0;
    for (const Difference& difference : c.differences) {
        if (told++ == differences_max) break;
        text += "  at line " + std::to_string(difference.line) + ", " + difference.command +
                (difference.reason.empty() ? "" : ", intended: " + difference.reason) + "\n";
        if (!difference.expected.empty()) text += "  expected\n" + indented(difference.expected);
        text += "  got\n" + indented(difference.actual);
    }
    return text;
}

} // namespace

bool DirectoryReport::passed() const noexcept {
    return compared() > 0 && std::all_of(files.begin(), files.end(), [](const FileReport& file) {
               return file.error.empty() && file.comparison.unexplained() == 0;
           });
}

std::size_t DirectoryReport::compared() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(files.begin(), files.end(), [](const FileReport& file) {
            return file.comparison.stanzas > 0;
        }));
}

Result<DirectoryReport> compare_directory(const std::filesystem::path& path) {
    DirectoryReport report;
    if (file_kind(path) == FileKind::regular) {
        report.files.push_back(compare_file(path, path.filename().string()));
        return report;
    }
    PROMTACT_TRY(compare_below(path, "", 0, report));
    return report;
}

std::string to_string(const DirectoryReport& report, std::size_t differences_max) {
    std::string text;
    std::size_t stanzas = 0;
    std::size_t equal = 0;
    std::map<std::string, std::size_t> intended;
    for (const FileReport& file : report.files) {
        for (const auto& [reason, count] : file.comparison.intended)
            intended[reason] += count;
        text += describe(file, differences_max);
        stanzas += file.comparison.stanzas;
        equal += file.comparison.equal;
    }
    std::string intended_text;
    for (const auto& [reason, count] : intended)
        intended_text += "  " + reason + ": " + std::to_string(count) + "\n";
    return text + std::to_string(report.files.size()) + " files, " +
           std::to_string(report.compared()) + " compared: " + std::to_string(stanzas) +
           " stanzas, " + std::to_string(equal) + " equal\n" + intended_text;
}

} // namespace promtact::raft::interaction
