// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What benchmarks leave: a table for people, and a record of the one result schema.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/gates/record.hpp>

#include "bench/fio.hpp"
#include "bench/ladder.hpp"
#include "bench/peer.hpp"

namespace promtact::harness::bench {

/// One table per section, with what each rung costs relative to the first of its section.
std::string ladder_text(const std::vector<SectionResult>& results);

/// Circumstances of a run that every record of it carries.
struct Circumstances {
    std::filesystem::path directory{};
    gates::RunRecord run{}; // started_at and duration_ns included
    std::vector<gates::Parameter> parameters{};
};

gates::GateRecord
ladder_record(const std::vector<SectionResult>& results, const Circumstances& circumstances);

/// sync: which of the two forms was compared.
gates::GateRecord peer_record(
    const PeerComparison& comparison, const PeerLimits& limits, SyncKind sync,
    const std::string& fio_version, const Circumstances& circumstances);

/// One round of a comparison on two lines.
std::string round_text(const PeerComparison& comparison);

/// Writes the records as a campaign below `hosts` and returns its directory; with `hosts` empty
/// only sets the host reference of the records. host: empty for the derived name.
/// Errors: those of CampaignWriter.
Result<std::filesystem::path> publish(
    std::vector<gates::GateRecord>& records, const std::filesystem::path& hosts,
    const std::string& host, const std::filesystem::path& directory, std::int64_t started);

} // namespace promtact::harness::bench
