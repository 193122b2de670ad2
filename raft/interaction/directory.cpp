// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "directory.hpp"

#include <algorithm>
#include <utility>

#include <promtact/base/list_directory.hpp>
#include <promtact/base/read_file.hpp>

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
    if (report.subject != Subject::interaction)
        report.comparison = compare(*stanzas, make_runner(report.subject));
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

std::string describe(const FileReport& file) {
    if (!file.error.empty()) return file.name + ": unreadable: " + file.error + "\n";
    if (file.subject == Subject::interaction) return file.name + ": not compared: needs nodes\n";
    const Comparison& c = file.comparison;
    std::string text = file.name + ": " + std::to_string(c.stanzas) + " stanzas, " +
                       std::to_string(c.equal) + " equal, " + std::to_string(c.different()) +
                       " different\n";
    if (!c.first.has_value()) return text;
    text += "  first at line " + std::to_string(c.first->line) + ", " + c.first->command;
    text += "\n  expected\n" + indented(c.first->expected);
    text += "  got\n" + indented(c.first->actual);
    return text;
}

} // namespace

bool DirectoryReport::passed() const noexcept {
    return compared() > 0 && std::all_of(files.begin(), files.end(), [](const FileReport& file) {
               return file.error.empty() && file.comparison.different() == 0;
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

std::string to_string(const DirectoryReport& report) {
    std::string text;
    std::size_t stanzas = 0;
    std::size_t equal = 0;
    for (const FileReport& file : report.files) {
        text += describe(file);
        stanzas += file.comparison.stanzas;
        equal += file.comparison.equal;
    }
    return text + std::to_string(report.files.size()) + " files, " +
           std::to_string(report.compared()) + " compared: " + std::to_string(stanzas) +
           " stanzas, " + std::to_string(equal) + " equal\n";
}

} // namespace promtact::raft::interaction
