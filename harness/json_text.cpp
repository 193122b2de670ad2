// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "json_text.hpp"

#include <nlohmann/json.hpp>

namespace promtact::harness {

std::string json_string(std::string_view text) {
    using nlohmann::json;
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace promtact::harness
