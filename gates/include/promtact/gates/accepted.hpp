// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// results/accepted.json: which campaigns stand as evidence. Changed only by review.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/gates/campaign.hpp>

namespace promtact::gates {

inline constexpr std::string_view accepted_schema = "promtact.accepted/1";

/// Sorted by host and time. Errors: format, one line per problem.
Result<std::vector<CampaignName>>
accepted_from_json(std::string_view text, std::string_view source);
std::string to_json(const std::vector<CampaignName>& accepted);

} // namespace promtact::gates
