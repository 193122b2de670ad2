// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The check renders everything anew and compares. Freshness is judged apart: it changes whenever
// code changes, so a page may be behind, but it may never call current what is stale.
#include <sstream>
#include <system_error>

#include <promtact/base/error_text.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/gates/figure_lint.hpp>

#include "evidence_files_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view repair = "run `promtact evidence render` (make evidence)";

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

// Where the freshness of a result begins in a generated line, or npos.
std::size_t freshness_at(std::string_view line) {
    constexpr std::string_view item = "- Freshness: ";
    if (line.starts_with(item)) return item.size();
    if (!line.starts_with("| ") || !line.ends_with(" |")) return std::string_view::npos;
    const auto cell = line.rfind("| ", line.size() - 3);
    const std::string_view rest = line.substr(cell + 2);
    for (const std::string_view word : {"current ", "stale: ", "unknown: "})
        if (rest.starts_with(word)) return cell + 2;
    return std::string_view::npos;
}

enum class LineDifference { none, freshness_behind, overclaim, other };

LineDifference compare_line(const std::string& on_disk, const std::string& rendered) {
    if (on_disk == rendered) return LineDifference::none;
    const std::size_t at = freshness_at(on_disk);
    if (at == std::string::npos || at != freshness_at(rendered)) return LineDifference::other;
    if (on_disk.compare(0, at, rendered, 0, at) != 0) return LineDifference::other;
    const bool claims = on_disk.compare(at, 7, "current") == 0;
    const bool stale = rendered.compare(at, 5, "stale") == 0;
    return claims && stale ? LineDifference::overclaim : LineDifference::freshness_behind;
}

void compare_document(
    const fs::path& path, const std::string& on_disk, const std::string& rendered,
    Findings& findings) {
    if (on_disk == rendered) return;
    const std::vector<std::string> have = lines_of(on_disk);
    const std::vector<std::string> want = lines_of(rendered);
    bool behind = false;
    for (std::size_t i = 0; i < std::max(have.size(), want.size()); ++i) {
        const std::string place = path.string() + ":" + std::to_string(i + 1) + ": ";
        const std::string* left = i < have.size() ? &have[i] : nullptr;
        const std::string* right = i < want.size() ? &want[i] : nullptr;
        const LineDifference difference = left == nullptr || right == nullptr
                                              ? LineDifference::other
                                              : compare_line(*left, *right);
        if (difference == LineDifference::freshness_behind) behind = true;
        if (difference == LineDifference::overclaim) {
            findings.problems.push_back(
                place + "calls current what is stale (" + *right + "): " + std::string(repair));
        }
        if (difference == LineDifference::overclaim) return;
        if (difference != LineDifference::other) continue;
        findings.problems.push_back(
            place + "differs from the results: " + std::string(repair) +
            "\n  document: " + (left == nullptr ? "(ends)" : *left) +
            "\n  results:  " + (right == nullptr ? "(ends)" : *right));
        return;
    }
    if (behind) {
        findings.notes.push_back(path.string() + ": freshness has changed: " + std::string(repair));
    } else {
        findings.problems.push_back(
            path.string() + ": differs from the results in line endings: " + std::string(repair));
    }
}

void check_readme(const fs::path& root, const Evidence& evidence, Findings& findings) {
    const Result<std::string> readme = read_text_file(root / "README.md", document_bytes_max);
    if (!readme) {
        if (readme.error().code != Errc::not_found)
            findings.problems.push_back(describe(readme.error()));
        return;
    }
    const Result<std::string> rendered = render_readme(evidence, *readme);
    if (!rendered) {
        findings.problems.push_back(rendered.error().context);
    } else {
        compare_document("README.md", *readme, *rendered, findings);
    }
}

// Also campaigns that nobody accepted must be what they say.
void check_all_campaigns(const fs::path& root, const Evidence& evidence, Findings& findings) {
    const fs::path hosts = root / "results/hosts";
    for (const CampaignName& name : list_campaigns(hosts)) {
        bool accepted = false;
        for (const AcceptedCampaign& one : evidence.campaigns) {
            accepted =
                accepted || (one.campaign.host == name.host && one.campaign.name == name.campaign);
        }
        if (accepted) continue;
        const Result<Campaign> campaign = load_campaign(hosts / name.host / name.campaign);
        if (!campaign) findings.problems.push_back(campaign.error().context);
    }
}

} // namespace

Findings
check_evidence(const fs::path& root, std::span<const GateEntry> catalog, History& history) {
    Findings findings;
    const Evidence evidence = load_evidence(root, catalog, history, findings);
    // Comparing pages with half of the results would only bury the cause.
    if (!findings.problems.empty()) return findings;
    const std::vector<Document> documents = render_evidence(evidence, catalog);
    for (const Document& document : documents) {
        const Result<std::string> on_disk =
            read_text_file(root / document.path, document_bytes_max);
        if (!on_disk) {
            findings.problems.push_back(
                document.path.string() + ": is missing: " + std::string(repair));
        } else {
            compare_document(document.path, *on_disk, document.text, findings);
        }
    }
    for (const fs::path& stray : stray_documents(root, documents)) {
        findings.problems.push_back(
            stray.string() + ": nothing renders it: " + std::string(repair));
    }
    check_readme(root, evidence, findings);
    check_all_campaigns(root, evidence, findings);
    FigureRules rules;
    for (const Document& document : documents)
        rules.generated.insert(document.path);
    for (FoundFigure& figure : find_typed_figures(root, std::move(rules), findings.problems)) {
        findings.problems.push_back(
            figure.path.string() + ":" + std::to_string(figure.line) + ":" +
            std::to_string(figure.column) + ": figure \"" + figure.text +
            "\" is typed by hand: generate it, put it in code, or add its phrase to "
            "verification/figures_allow.txt");
    }
    return findings;
}

} // namespace promtact::gates
