// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/gates/accepted.hpp>

namespace promtact::gates {
namespace {

CampaignName read_entry(const JsonValue& item, JsonProblems& problems) {
    ObjectReader reader(item, problems);
    CampaignName name;
    name.host = reader.require_string("host");
    name.campaign = reader.require_string("campaign");
    if (const Result<void> named = check_host_name(name.host); !named)
        reader.complain("host", named.error().context);
    if (!is_campaign_name(name.campaign))
        reader.complain("campaign", "must be named <UTC>-<12 digits of the commit>");
    reader.finish();
    return name;
}

} // namespace

Result<std::vector<CampaignName>>
accepted_from_json(std::string_view text, std::string_view source) {
    JsonProblems problems;
    const std::optional<JsonValue> root = parse_json(text, problems);
    if (!root.has_value()) return problems.to_error(source);
    require_printable(*root, problems);
    ObjectReader reader(*root, problems);
    if (reader.require_string("schema") != accepted_schema)
        reader.complain("schema", "must be \"" + std::string(accepted_schema) + "\"");
    std::vector<CampaignName> accepted;
    if (const JsonValue* list = reader.require_array("accepted"); list != nullptr) {
        for (const JsonValue& item : list->children) {
            CampaignName name = read_entry(item, problems);
            if (std::find(accepted.begin(), accepted.end(), name) != accepted.end())
                problems.add(item.at, name.host + "/" + name.campaign + " is listed twice");
            accepted.push_back(std::move(name));
        }
    }
    reader.finish();
    if (!problems.empty()) return problems.to_error(source);
    std::sort(accepted.begin(), accepted.end());
    return accepted;
}

std::string to_json(const std::vector<CampaignName>& accepted) {
    JsonWriter json;
    json.field("schema", accepted_schema);
    json.array("accepted");
    for (const CampaignName& name : accepted) {
        json.object_item();
        json.field("host", name.host);
        json.field("campaign", name.campaign);
        json.end();
    }
    json.end();
    return json.finish();
}

} // namespace promtact::gates
