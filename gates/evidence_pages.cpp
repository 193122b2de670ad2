// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// EVIDENCE.md, STATUS.md and the figures block of the README.
#include <algorithm>
#include <set>

#include <promtact/gates/format.hpp>
#include <promtact/gates/text_table.hpp>

#include "evidence_pages_internal.hpp"

namespace promtact::gates {
namespace {

constexpr std::string_view nothing_yet = "No result has been accepted yet.\n";

std::string headline(const GateRecord& record) {
    for (const Measurement& measurement : record.measurements) {
        if (std::holds_alternative<Histogram>(measurement.value))
            return measurement.name + " " + measurement_text(measurement);
    }
    return record.summary.empty() ? record.reason : record.summary;
}

std::string summary_table(const HostEvidence& host) {
    TextTable table({"area", "result", "verdict", "headline", "freshness"});
    for (const StandingResult& result : host.results) {
        const GateRecord& record = result.record();
        table.row(
            {record.tier, markdown_escaped(record.id), verdict_cell(record.verdict),
             markdown_escaped(headline(record)), markdown_escaped(to_string(result.freshness()))});
    }
    return table.markdown();
}

std::string host_line(const Campaign& campaign) {
    const HostFacts& facts = campaign.facts;
    return "Host [" + campaign.host + "](hosts/" + campaign.host + "/README.md): " +
           markdown_escaped(
               facts.machine.cpu_model + ", " + std::to_string(facts.machine.cpus) +
               " processors, Linux " + facts.kernel.release + ", " + facts.storage.filesystem +
               " on " + facts.storage.device + " (" + facts.storage.write_cache + ")") +
           ". Newest campaign " + campaign.name + " of " + campaign_time(campaign.name) + ".\n\n";
}

void status_rows(
    TextTable& table, std::string_view capability, const GateInfo& info,
    const std::vector<HostEvidence>& hosts) {
    bool answered = false;
    for (const HostEvidence& host : hosts) {
        for (const StandingResult& result : host.results) {
            if (result.record().id != info.id) continue;
            answered = true;
            const Campaign& campaign = result.accepted->campaign;
            table.row(
                {markdown_escaped(capability), markdown_escaped(info.id),
                 verdict_cell(result.record().verdict), campaign.host, campaign_time(campaign.name),
                 markdown_escaped(to_string(result.freshness()))});
        }
    }
    if (!answered) {
        table.row(
            {markdown_escaped(capability), markdown_escaped(info.id), "no accepted result", "", "",
             ""});
    }
}

std::string readme_block(const Evidence& evidence) {
    std::string text(figures_begin);
    text += "\n";
    const std::vector<HostEvidence> hosts = hosts_of(evidence);
    if (hosts.empty()) text += "\n" + std::string(nothing_yet);
    for (const HostEvidence& host : hosts) {
        const Campaign& campaign = host.newest();
        text += "\nHost [" + campaign.host + "](results/hosts/" + campaign.host +
                "/README.md), Linux " + markdown_escaped(campaign.facts.kernel.release) + ", " +
                campaign_time(campaign.name) + ":\n\n" + summary_table(host);
    }
    return text + "\n" + std::string(figures_end);
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

} // namespace

std::string evidence_page(const Evidence& evidence) {
    std::string text = generated_banner() +
                       "# Evidence\n\nEvery figure below comes from a result file of an accepted "
                       "campaign. A grey verdict was not answered and is never a pass.\n\n";
    const std::vector<HostEvidence> hosts = hosts_of(evidence);
    if (hosts.empty()) return text + std::string(nothing_yet);
    for (const HostEvidence& host : hosts) {
        text += "## " + host.newest().host + "\n\n" + host_line(host.newest()) +
                summary_table(host) + "\n";
        for (const StandingResult& result : host.results)
            text += result_section(result.record(), result.freshness(), "###");
    }
    text.pop_back();
    return text;
}

std::string status_page(const Evidence& evidence, std::span<const GateEntry> catalog) {
    std::string text = generated_banner() +
                       "# Status\n\nWhat each unit rests on: the newest accepted result of every "
                       "gate that qualifies it. A stale result speaks of older code.\n\n";
    const std::vector<HostEvidence> hosts = hosts_of(evidence);
    std::set<std::string_view> capabilities;
    for (const GateEntry& entry : catalog)
        capabilities.insert(entry.info->qualifies.begin(), entry.info->qualifies.end());
    TextTable table({"capability", "gate", "verdict", "host", "campaign", "freshness"});
    for (const std::string_view capability : capabilities) {
        for (const GateEntry& entry : catalog) {
            const auto& units = entry.info->qualifies;
            if (std::find(units.begin(), units.end(), capability) != units.end())
                status_rows(table, capability, *entry.info, hosts);
        }
    }
    return text + table.markdown();
}

Result<std::string> render_readme(const Evidence& evidence, std::string_view readme) {
    const auto begin = readme.find(figures_begin);
    const auto end = readme.find(figures_end);
    const bool once = count_of(readme, figures_begin) == 1 && count_of(readme, figures_end) == 1;
    if (!once || end < begin) {
        return Error{
            Errc::format, 0,
            "README.md needs one line " + std::string(figures_begin) + " and after it one line " +
                std::string(figures_end)};
    }
    return std::string(readme.substr(0, begin)) + readme_block(evidence) +
           std::string(readme.substr(end + figures_end.size()));
}

} // namespace promtact::gates
