// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <set>
#include <system_error>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/base/read_file.hpp>

#include "evidence_files_internal.hpp"
#include "evidence_pages_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

// What may not stand as evidence although its files are intact.
void check_origin(const Campaign& campaign, History& history, Findings& findings) {
    const std::string place = "results/hosts/" + campaign.host + "/" + campaign.name;
    std::set<std::string> seen;
    for (const GateRecord& record : campaign.records) {
        const std::string file = place + "/" + record.id + ".json";
        if (record.run.dirty || record.run.commit == "unknown") {
            findings.problems.push_back(
                file + ": comes from a tree that is no commit, so it cannot be accepted");
            continue;
        }
        if (!seen.insert(record.run.commit).second) continue;
        switch (history.ancestry(record.run.commit)) {
        case Ancestry::ancestor:
            break;
        case Ancestry::stranger:
            findings.problems.push_back(
                file + ": its commit " + record.run.commit + " is no ancestor of this tree");
            break;
        case Ancestry::unknown:
            findings.notes.push_back(
                file + ": cannot tell whether commit " + record.run.commit + " is an ancestor");
            break;
        }
    }
}

Result<std::vector<CampaignName>> read_accepted(const fs::path& root) {
    const fs::path path = root / accepted_file;
    PROMTACT_TRY_ASSIGN(const std::string text, read_text_file(path, document_bytes_max));
    return accepted_from_json(text, accepted_file);
}

} // namespace

Evidence load_evidence(
    const fs::path& root, std::span<const GateEntry> catalog, History& history,
    Findings& findings) {
    Evidence evidence;
    const Result<std::vector<CampaignName>> accepted = read_accepted(root);
    if (!accepted) {
        findings.problems.push_back(describe(accepted.error()));
        return evidence;
    }
    for (const CampaignName& name : *accepted) {
        const fs::path place = fs::path("results/hosts") / name.host / name.campaign;
        const FileKind kind = file_kind(root / place);
        if (kind != FileKind::directory) {
            findings.problems.push_back(
                std::string(accepted_file) +
                (kind == FileKind::absent ? ": there is no campaign "
                                          : ": cannot be looked at, or is no folder: ") +
                place.string());
            continue;
        }
        Result<Campaign> campaign = load_campaign(root / place);
        if (!campaign) {
            findings.problems.push_back(campaign.error().context);
            continue;
        }
        check_origin(*campaign, history, findings);
        AcceptedCampaign one;
        for (const GateRecord& record : campaign->records)
            one.freshness.push_back(freshness_of(record, catalog, history));
        one.campaign = std::move(*campaign);
        evidence.campaigns.push_back(std::move(one));
    }
    return evidence;
}

std::vector<Document>
render_evidence(const Evidence& evidence, std::span<const GateEntry> catalog) {
    std::vector<Document> documents{
        {"results/EVIDENCE.md", evidence_page(evidence)},
        {"results/STATUS.md", status_page(evidence, catalog)}};
    for (const HostEvidence& host : hosts_of(evidence)) {
        for (Document& document : host_documents(host))
            documents.push_back(std::move(document));
    }
    return documents;
}

std::vector<HostEvidence> hosts_of(const Evidence& evidence) {
    std::vector<HostEvidence> hosts;
    for (const AcceptedCampaign& accepted : evidence.campaigns) {
        if (hosts.empty() || hosts.back().newest().host != accepted.campaign.host)
            hosts.emplace_back();
        HostEvidence& host = hosts.back();
        host.campaigns.push_back(&accepted);
        for (std::size_t i = 0; i < accepted.campaign.records.size(); ++i) {
            const std::string& id = accepted.campaign.records[i].id;
            const auto earlier =
                std::find_if(host.results.begin(), host.results.end(), [&](const auto& result) {
                    return result.record().id == id;
                });
            if (earlier == host.results.end()) {
                host.results.push_back({&accepted, i});
            } else {
                *earlier = {&accepted, i};
            }
        }
    }
    return hosts;
}

std::vector<fs::path>
stray_documents(const fs::path& root, const std::vector<Document>& documents) {
    std::set<fs::path> rendered;
    for (const Document& document : documents)
        rendered.insert(document.path);
    std::vector<fs::path> strays;
    const auto consider = [&](const fs::path& path) {
        const fs::path relative = path.lexically_relative(root);
        if (!rendered.contains(relative)) strays.push_back(relative);
    };
    const fs::path hosts = root / "results/hosts";
    for (const std::string& host : list_directory(hosts).value_or({})) {
        if (file_kind(hosts / host / "README.md") != FileKind::absent)
            consider(hosts / host / "README.md");
        const auto figures = list_directory(hosts / host / "figures");
        if (!figures) continue;
        for (const std::string& figure : *figures)
            consider(hosts / host / "figures" / figure);
    }
    std::sort(strays.begin(), strays.end());
    return strays;
}

Result<std::vector<fs::path>>
write_documents(const fs::path& root, const std::vector<Document>& documents) {
    std::vector<fs::path> changed;
    for (const Document& document : documents) {
        const fs::path path = root / document.path;
        const Result<std::string> before = read_text_file(path, document_bytes_max);
        if (before && *before == document.text) continue;
        std::error_code error;
        fs::create_directories(path.parent_path(), error);
        if (error) return Error::from_errno(error.value(), "create " + path.parent_path().string());
        PROMTACT_TRY(write_file_atomic(path, std::string_view(document.text)));
        changed.push_back(document.path);
    }
    for (const fs::path& stray : stray_documents(root, documents)) {
        std::error_code error;
        fs::remove(root / stray, error);
        if (error) return Error::from_errno(error.value(), "remove " + stray.string());
        changed.push_back(stray);
    }
    return changed;
}

} // namespace promtact::gates
