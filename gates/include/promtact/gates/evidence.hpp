// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Accepted results as documents. A claim with no result behind it cannot be rendered; that is the
// point.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/gates/accepted.hpp>
#include <promtact/gates/campaign.hpp>
#include <promtact/gates/freshness.hpp>
#include <promtact/gates/gate.hpp>

namespace promtact::gates {

inline constexpr std::string_view figures_begin = "<!-- promtact:figures:begin -->";
inline constexpr std::string_view figures_end = "<!-- promtact:figures:end -->";

/// One accepted campaign with what the history says of its results.
struct AcceptedCampaign {
    Campaign campaign{};
    std::vector<Freshness> freshness{}; // one per record, same order
};

struct Evidence {
    std::vector<AcceptedCampaign> campaigns{}; // sorted by host and time
};

/// A generated file. Paths are relative to the root of the tree.
struct Document {
    std::filesystem::path path{};
    std::string text{};
};

/// What evidence_check and the renderer found; one sentence each, with the file it is about.
struct Findings {
    std::vector<std::string> problems{}; // the check fails
    std::vector<std::string> notes{};    // worth knowing
};

/// Reads accepted.json and its campaigns; adds a problem for whatever may not stand as evidence:
/// unknown campaign, broken checksum or schema, dirty or unknown commit, a commit that is no
/// ancestor.
Evidence load_evidence(
    const std::filesystem::path& root, std::span<const GateEntry> catalog, History& history,
    Findings& findings);

/// All documents but the README: EVIDENCE.md, STATUS.md, a page and pictures per host. Pure.
std::vector<Document> render_evidence(const Evidence& evidence, std::span<const GateEntry> catalog);
/// The README with its figures block filled in. Errors: format when the markers are not there once
/// each, in order.
Result<std::string> render_readme(const Evidence& evidence, std::string_view readme);

/// Writes the documents atomically and removes generated files that are no longer rendered.
/// Returns the paths that changed.
Result<std::vector<std::filesystem::path>>
write_documents(const std::filesystem::path& root, const std::vector<Document>& documents);

/// Everything `promtact evidence check` holds against the tree: load_evidence's findings, documents
/// that differ from their JSON (first differing line), stray generated files, broken campaigns
/// anywhere under results/hosts, figures outside generated blocks.
Findings check_evidence(
    const std::filesystem::path& root, std::span<const GateEntry> catalog, History& history);

/// The newest accepted result of one gate or benchmark on a host.
struct StandingResult {
    const AcceptedCampaign* accepted = nullptr;
    std::size_t index = 0; // into its records

    [[nodiscard]] const GateRecord& record() const { return accepted->campaign.records[index]; }
    [[nodiscard]] const Freshness& freshness() const { return accepted->freshness[index]; }
};

struct HostEvidence {
    std::vector<const AcceptedCampaign*> campaigns{}; // oldest first, never empty
    std::vector<StandingResult> results{};            // one per id, in the order they first came

    [[nodiscard]] const Campaign& newest() const { return campaigns.back()->campaign; }
};

/// What stands on each host, sorted by its name. A campaign replaces only what it answered anew.
/// Lifetime: points into `evidence`
std::vector<HostEvidence> hosts_of(const Evidence& evidence);

} // namespace promtact::gates
