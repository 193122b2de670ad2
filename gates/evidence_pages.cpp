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

std::string summary_table(const AcceptedCampaign& accepted) {
    TextTable table({"area", "gate", "verdict", "headline", "freshness"});
    const Campaign& campaign = accepted.campaign;
    for (std::size_t i = 0; i < campaign.records.size(); ++i) {
        const GateRecord& record = campaign.records[i];
        table.row(
            {record.tier, markdown_escaped(record.id), verdict_cell(record.verdict),
             markdown_escaped(headline(record)),
             markdown_escaped(to_string(accepted.freshness[i]))});
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
           ". Campaign " + campaign.name + " of " + campaign_time(campaign.name) + ".\n\n";
}

struct Newest {
    const AcceptedCampaign* campaign = nullptr;
    std::size_t index = 0;
};

// The newest accepted result of a gate on a host. campaigns are sorted by time within a host.
std::vector<Newest> newest_results(const Evidence& evidence, std::string_view gate) {
    std::vector<Newest> newest;
    for (const AcceptedCampaign& accepted : evidence.campaigns) {
        for (std::size_t i = 0; i < accepted.campaign.records.size(); ++i) {
            if (accepted.campaign.records[i].id != gate) continue;
            if (!newest.empty() && newest.back().campaign->campaign.host == accepted.campaign.host)
                newest.pop_back();
            newest.push_back({&accepted, i});
        }
    }
    return newest;
}

void status_rows(
    TextTable& table, std::string_view capability, const GateInfo& info, const Evidence& evidence) {
    const std::vector<Newest> newest = newest_results(evidence, info.id);
    if (newest.empty()) {
        table.row(
            {markdown_escaped(capability), markdown_escaped(info.id), "no accepted result", "", "",
             ""});
    }
    for (const Newest& one : newest) {
        const Campaign& campaign = one.campaign->campaign;
        const GateRecord& record = campaign.records[one.index];
        table.row(
            {markdown_escaped(capability), markdown_escaped(info.id), verdict_cell(record.verdict),
             campaign.host, campaign_time(campaign.name),
             markdown_escaped(to_string(one.campaign->freshness[one.index]))});
    }
}

std::string readme_block(const Evidence& evidence) {
    std::string text(figures_begin);
    text += "\n";
    const std::vector<const AcceptedCampaign*> hosts = newest_per_host(evidence);
    if (hosts.empty()) text += "\n" + std::string(nothing_yet);
    for (const AcceptedCampaign* accepted : hosts) {
        const Campaign& campaign = accepted->campaign;
        text += "\nHost [" + campaign.host + "](results/hosts/" + campaign.host +
                "/README.md), Linux " + markdown_escaped(campaign.facts.kernel.release) + ", " +
                campaign_time(campaign.name) + ":\n\n" + summary_table(*accepted);
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

std::vector<const AcceptedCampaign*> newest_per_host(const Evidence& evidence) {
    std::vector<const AcceptedCampaign*> newest;
    for (const AcceptedCampaign& accepted : evidence.campaigns) {
        if (!newest.empty() && newest.back()->campaign.host == accepted.campaign.host)
            newest.pop_back();
        newest.push_back(&accepted);
    }
    return newest;
}

std::string evidence_page(const Evidence& evidence) {
    std::string text = generated_banner() +
                       "# Evidence\n\nEvery figure below comes from a result file of an accepted "
                       "campaign. A grey verdict was not answered and is never a pass.\n\n";
    const std::vector<const AcceptedCampaign*> hosts = newest_per_host(evidence);
    if (hosts.empty()) return text + std::string(nothing_yet);
    for (const AcceptedCampaign* accepted : hosts) {
        text += "## " + accepted->campaign.host + "\n\n" + host_line(accepted->campaign) +
                summary_table(*accepted) + "\n";
        for (std::size_t i = 0; i < accepted->campaign.records.size(); ++i)
            text += result_section(accepted->campaign.records[i], accepted->freshness[i], "###");
    }
    text.pop_back();
    return text;
}

std::string status_page(const Evidence& evidence, std::span<const GateEntry> catalog) {
    std::string text = generated_banner() +
                       "# Status\n\nWhat each unit rests on: the newest accepted result of every "
                       "gate that qualifies it. A stale result speaks of older code.\n\n";
    std::set<std::string_view> capabilities;
    for (const GateEntry& entry : catalog)
        capabilities.insert(entry.info->qualifies.begin(), entry.info->qualifies.end());
    TextTable table({"capability", "gate", "verdict", "host", "campaign", "freshness"});
    for (const std::string_view capability : capabilities) {
        for (const GateEntry& entry : catalog) {
            const auto& units = entry.info->qualifies;
            if (std::find(units.begin(), units.end(), capability) != units.end())
                status_rows(table, capability, *entry.info, evidence);
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
