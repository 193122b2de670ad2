// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/json_writer.hpp>

#include "platform.hpp"
#include "probe/report.hpp"

namespace promtact::harness::probe {

std::string as_json(const Report& report) {
    JsonWriter json;
    json.field("schema", "promtact.probe/1");
    json.field("platform", platform);
    json.field("toolchain", report.toolchain);
    json.field("entries", report.entries);
    json.field("verdict", report.setup_error.empty() ? "pass" : "fail");
    json.field("error", report.setup_error);
    json.field("yes", report.count(Answer::yes));
    json.field("no", report.count(Answer::no));
    json.field("unknown", report.count(Answer::unknown));
    json.array("facts");
    for (const Fact& fact : report.facts) {
        json.object_item();
        json.field("section", fact.section);
        json.field("name", fact.name);
        json.field("group", fact.group);
        json.field("answer", to_string(fact.answer));
        json.field("value", fact.value);
        json.field("reason", fact.reason);
        json.field("remedy", fact.remedy);
        json.end();
    }
    json.end();
    return json.finish();
}

} // namespace promtact::harness::probe
