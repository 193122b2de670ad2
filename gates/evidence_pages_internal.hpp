// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <promtact/gates/evidence.hpp>

namespace promtact::gates {

/// First line of every generated page.
std::string generated_banner();

/// A heading with verdict, reason, control, parameters, measurements and what it does not
/// establish. level: "##" or "###"
std::string
result_section(const GateRecord& record, const Freshness& freshness, std::string_view level);

/// "20261129T204820Z-0123456789ab" as "2026-11-29 20:48:20 UTC"
std::string campaign_time(std::string_view name);

/// The word of a verdict as pages show it: "pass", "**FAIL**", "grey: unsupported".
std::string verdict_cell(Verdict verdict);

std::string evidence_page(const Evidence& evidence);
std::string status_page(const Evidence& evidence, std::span<const GateEntry> catalog);
/// The page of one host and its pictures.
std::vector<Document> host_documents(const HostEvidence& host);

} // namespace promtact::gates
