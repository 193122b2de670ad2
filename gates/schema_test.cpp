// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// results/schema/ is for readers elsewhere; it must name what our own strict reader accepts.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/gates/host_facts.hpp>
#include <promtact/gates/record.hpp>

#include "test_paths.hpp"
#include "testing/fake_gates_internal.hpp"

namespace promtact::gates {
namespace {

JsonValue schema(const std::string& name) {
    const auto text = read_text_file(test_source_path("results/schema/" + name), Bytes{1U << 20});
    EXPECT_TRUE(text) << name;
    const auto value = read_json(*text, name);
    EXPECT_TRUE(value) << name;
    return *value;
}

std::set<std::string> names_of(const JsonValue* object) {
    std::set<std::string> names;
    if (object != nullptr) {
        for (const JsonValue& child : object->children)
            names.insert(child.name);
    }
    return names;
}

// An object's schema: all its properties are required and nothing else is allowed.
void expect_same_fields(
    const JsonValue& rules, const JsonValue& written, const std::string& where) {
    const JsonValue* properties = rules.find("properties");
    ASSERT_NE(properties, nullptr) << where;
    EXPECT_EQ(names_of(properties), names_of(&written)) << where;
    std::set<std::string> required;
    for (const JsonValue& name : rules.find("required")->children)
        required.insert(name.text);
    EXPECT_EQ(required, names_of(properties)) << where;
    EXPECT_FALSE(rules.find("additionalProperties")->truth) << where;
    for (const JsonValue& child : written.children) {
        const JsonValue* inner = properties->find(child.name);
        if (child.kind == JsonKind::object && inner != nullptr &&
            inner->find("properties") != nullptr)
            expect_same_fields(*inner, child, where + "." + child.name);
    }
}

TEST(Schema, OfAResultNamesExactlyTheFieldsOfTheWriter) {
    static const GateInfo info = fakes::fake_info("good");
    GateRecord record = record_of(info, GateClass::quick);
    record.verdict = Verdict::pass;
    record.control = ControlRecord{"turn_it_off", "fail", "fail", ""};
    record.run.started_at = "2026-11-29T20:48:20Z";
    record.run.commit = "unknown";
    record.host = "host.json#sha256:" + std::string(64, '0');
    const auto text = to_json(record);
    ASSERT_TRUE(text) << text.error().context;

    expect_same_fields(schema("gate-result.v1.json"), *read_json(*text, "result"), "result");
}

TEST(Schema, OfAHostNamesExactlyTheFieldsOfTheWriter) {
    const std::string text = to_json(collect_host_facts("test-host", "/tmp"));
    expect_same_fields(schema("host.v1.json"), *read_json(text, "host"), "host");
}

TEST(Schema, NamesTheVersionsThatAreWritten) {
    const JsonValue result = schema("gate-result.v1.json");
    const JsonValue host = schema("host.v1.json");
    EXPECT_EQ(result.find("properties")->find("schema")->find("const")->text, gate_result_schema);
    EXPECT_EQ(host.find("properties")->find("schema")->find("const")->text, host_schema);
}

} // namespace
} // namespace promtact::gates
