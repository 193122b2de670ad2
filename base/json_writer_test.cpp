// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/json_writer.hpp>

namespace promtact {
namespace {

TEST(JsonWriter, BytesDependOnNothingButWhatWasWritten) {
    JsonWriter json;
    json.field("name", "one");
    json.field("count", std::uint64_t{3});
    json.object("inner");
    json.field_bool("yes", true);
    json.field_null("nothing");
    json.end();
    json.array("rows");
    json.numbers_item(std::array<std::uint64_t, 2>{1, 2});
    json.object_item();
    json.field_signed("below", -7);
    json.end();
    json.end();
    json.strings("words", std::vector<std::string>{"a", "b"});
    json.numbers("flat", std::array<std::uint64_t, 3>{4, 5, 6});
    EXPECT_EQ(
        json.finish(),
        "{\n  \"name\": \"one\",\n  \"count\": 3,\n  \"inner\": {\n    \"yes\": true,\n"
        "    \"nothing\": null\n  },\n  \"rows\": [\n    [1, 2],\n    {\n      \"below\": -7\n    "
        "}\n"
        "  ],\n  \"words\": [\"a\", \"b\"],\n  \"flat\": [4, 5, 6]\n}\n");
}

TEST(JsonWriter, EmptyOnesAreClosed) {
    JsonWriter json;
    json.object("object");
    json.end();
    json.array("array");
    json.end();
    json.numbers("numbers", {});
    json.strings("strings", std::vector<std::string>{});
    const std::string text = json.finish();
    EXPECT_TRUE(read_json(text, "text").has_value()) << text;
    EXPECT_EQ(JsonWriter().finish(), "{}\n");
}

// Whatever is in a string, the strict reader gives it back.
TEST(JsonWriter, EveryStringIsReadBackAsItWas) {
    std::string control;
    for (char c = 1; c < 0x20; ++c)
        control += c;
    for (const std::string& one :
         {std::string("quote \" backslash \\ slash /"), control, std::string("\x7f"),
          std::string("a\0b", 3), std::string("gr\xc3\xbc\xc3\x9f \xf0\x9f\xa6\x86"),
          std::string("</script>")}) {
        JsonWriter json;
        json.field("text", one);
        const std::string written = json.finish();
        const auto read = read_json(written, "written");
        ASSERT_TRUE(read.has_value()) << written;
        JsonProblems problems;
        ObjectReader fields(*read, problems);
        EXPECT_EQ(fields.require_string("text"), one);
    }
}

TEST(JsonWriter, InvalidUtf8BecomesTheReplacementCharacter) {
    for (const char* bad : {"\xff", "a\xc3", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
        JsonWriter json;
        json.field("text", bad);
        const std::string written = json.finish();
        EXPECT_NE(written.find("\xef\xbf\xbd"), std::string::npos) << written;
        EXPECT_TRUE(read_json(written, "written").has_value()) << written;
    }
}

TEST(JsonWriter, NumbersAreWholeAtTheirLimits) {
    JsonWriter json;
    json.field("most", std::numeric_limits<std::uint64_t>::max());
    json.field_signed("least", std::numeric_limits<std::int64_t>::min());
    const std::string text = json.finish();
    EXPECT_NE(text.find("\"most\": 18446744073709551615"), std::string::npos);
    EXPECT_NE(text.find("\"least\": -9223372036854775808"), std::string::npos);
}

} // namespace
} // namespace promtact
