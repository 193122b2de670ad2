// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/json_reader.hpp>

namespace promtact {
namespace {

using testing::HasSubstr;

struct BadRow {
    const char* name;
    std::string text;
    JsonPosition at;
    const char* says;
};

class JsonRefuses : public testing::TestWithParam<BadRow> {};

TEST_P(JsonRefuses, WithPositionAndReason) {
    const BadRow& row = GetParam();
    JsonProblems problems;
    static_cast<void>(parse_json(row.text, problems));
    ASSERT_FALSE(problems.empty());
    EXPECT_EQ(problems.list().front().at, row.at)
        << problems.list().front().at.line << ':' << problems.list().front().at.column << ": "
        << problems.list().front().message;
    EXPECT_THAT(problems.list().front().message, HasSubstr(row.says));
}

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

INSTANTIATE_TEST_SUITE_P(
    Table, JsonRefuses,
    testing::Values(
        BadRow{"Empty", "", {1, 1}, "unexpected end of input"},
        BadRow{"TrailingText", "{}\n x", {2, 2}, "invalid literal"},
        BadRow{"SecondDocument", "{} {}", {1, 4}, "expected end of input"},
        BadRow{"TrailingComma", "[1,\n2,]", {2, 3}, "unexpected ']'"},
        BadRow{"DuplicateKey", "{\"a\": 1,\n  \"a\": 2}", {2, 3}, "duplicate field \"a\""},
        BadRow{"DuplicateByEscape", R"({"a": 1, "\u0061": 2})", {1, 10}, "duplicate field \"a\""},
        BadRow{"NotANumber", "{\"a\": NaN}", {1, 7}, "invalid literal"},
        BadRow{"Infinity", "[Infinity]", {1, 2}, "invalid literal"},
        BadRow{"Comment", "{} // x", {1, 4}, "invalid literal"},
        BadRow{"LeadingZero", "[01]", {1, 4}, "unexpected number literal"},
        BadRow{"HugeExponent", "[1e999]", {1, 7}, "number overflow"},
        BadRow{"TooDeep", nested(65), {1, 65}, "nested deeper than 64 levels"},
        BadRow{"ByteOrderMark", "\xEF\xBB\xBF{}", {1, 1}, "byte order mark"},
        BadRow{"ZeroByte", std::string("{}\n\0x", 5), {2, 1}, "zero byte"},
        BadRow{"InvalidUtf8", "[\"\xC3\x28\"]", {1, 4}, "ill-formed UTF-8"},
        BadRow{"LoneSurrogate", R"(["\ud800"])", {1, 9}, "surrogate"},
        BadRow{"ControlCharacter", "[\"a\tb\"]", {1, 4}, "control character"}),
    [](const testing::TestParamInfo<BadRow>& row) { return row.param.name; });

TEST(Json, AcceptsWhatTheTableRefusesOnceMended) {
    for (const std::string& text :
         {std::string("{}\n"), std::string("[1,\n2]"), std::string(R"({"a": 1, "b": 2})"),
          nested(64), std::string("[\"\xC3\xA9\"]"), std::string("[0]")}) {
        JsonProblems problems;
        EXPECT_TRUE(parse_json(text, problems).has_value()) << text;
        EXPECT_TRUE(problems.empty()) << text;
    }
}

TEST(Json, RefusesMoreBytesThanTheLimit) {
    JsonProblems problems;
    EXPECT_FALSE(parse_json("[1, 2]", problems, {.bytes_max = 5, .depth_max = 64}).has_value());
    EXPECT_THAT(problems.list().front().message, HasSubstr("limit of 5 bytes"));
}

TEST(Json, CountsColumnsInCodePoints) {
    const Result<JsonValue> value = read_json("{\"\xC3\xA9\": 1, \"b\": 2}", "x.json");
    ASSERT_TRUE(value);
    EXPECT_EQ(value->children.at(1).name_at, (JsonPosition{1, 10}));
    EXPECT_EQ(value->children.at(1).at, (JsonPosition{1, 15}));
}

TEST(Json, KeepsTheExtremesOf64Bits) {
    const Result<JsonValue> value =
        read_json("[18446744073709551615, -9223372036854775808, 0]", "x.json");
    ASSERT_TRUE(value);
    EXPECT_EQ(value->children.at(0).integer, UINT64_MAX);
    EXPECT_TRUE(value->children.at(1).negative);
    EXPECT_EQ(value->children.at(1).integer, std::uint64_t{1} << 63);
}

TEST(ObjectReader, CollectsEveryProblemWithItsPlace) {
    const std::string text = "{\"count\": 18446744073709551616,\n"
                             " \"rate\": 1.5,\n"
                             " \"name\": 7,\n"
                             " \"small\": 11,\n"
                             " \"minus\": -1,\n"
                             " \"surprise\": true}";
    JsonProblems problems;
    const auto value = parse_json(text, problems);
    ASSERT_TRUE(value.has_value());

    ObjectReader reader(*value, problems);
    static_cast<void>(reader.require_u64("count"));
    static_cast<void>(reader.require_u64("rate"));
    static_cast<void>(reader.require_string("name"));
    static_cast<void>(reader.require_u64("small", 0, 10));
    static_cast<void>(reader.require_u64("minus"));
    static_cast<void>(reader.require_bool("absent"));
    reader.finish();

    const std::string said = problems.to_error("run.json").context;
    EXPECT_EQ(
        said, "run.json:1:11: field \"count\": 18446744073709551616 does not fit in 64 bits\n"
              "run.json:2:10: field \"rate\" must be an integer, not a fraction\n"
              "run.json:3:10: field \"name\" must be a string, not an integer\n"
              "run.json:4:11: field \"small\" must be between 0 and 10\n"
              "run.json:5:11: field \"minus\" must be between 0 and 18446744073709551615\n"
              "run.json:1:1: field \"absent\" is missing\n"
              "run.json:6:2: unknown field \"surprise\" (allowed: absent, count, minus, name, "
              "rate, small)");
}

TEST(JsonReader, NamesTextsThatWouldActOnATerminal) {
    JsonProblems problems;
    const auto value = parse_json(
        R"({"a":"x\n\t","b":["\u001b[2J"],"c\u0000":1,"d":"\u007f","e":"\u009b"})", problems);
    ASSERT_TRUE(value.has_value());

    require_printable(*value, problems);

    const std::string said = problems.to_error("x").context;
    EXPECT_EQ(
        said, "x:1:19: the text holds control characters\n"
              "x:1:32: a name holds control characters\n"
              "x:1:48: the text holds control characters\n"
              "x:1:61: the text holds control characters");
}

TEST(ObjectReader, ReadsEachTypeAndStaysSilent) {
    const Result<JsonValue> value = read_json(
        R"({"u": 5, "i": -5, "s": "x", "b": true, "n": null, "a": [1, 2], "o": {}})", "x.json");
    ASSERT_TRUE(value);
    JsonProblems problems;
    ObjectReader reader(*value, problems);

    EXPECT_EQ(reader.require_u64("u"), 5U);
    EXPECT_EQ(reader.require_i64("i"), -5);
    EXPECT_EQ(reader.require_string("s"), "x");
    EXPECT_TRUE(reader.require_bool("b"));
    EXPECT_FALSE(reader.require_string_or_null("n").has_value());
    EXPECT_EQ(
        unsigned_items(*reader.require_array("a"), problems), (std::vector<std::uint64_t>{1, 2}));
    EXPECT_NE(reader.require_object("o"), nullptr);
    EXPECT_FALSE(reader.optional_u64("missing").has_value());
    reader.finish();

    EXPECT_TRUE(problems.empty());
}

TEST(ObjectReader, SignedRangeHasBothEdges) {
    const Result<JsonValue> value =
        read_json(R"({"low": -9223372036854775808, "high": 9223372036854775808})", "x.json");
    ASSERT_TRUE(value);
    JsonProblems problems;
    ObjectReader reader(*value, problems);

    EXPECT_EQ(reader.require_i64("low"), INT64_MIN);
    EXPECT_TRUE(problems.empty());
    static_cast<void>(reader.require_i64("high"));
    EXPECT_EQ(problems.total(), 1U);
}

TEST(JsonProblems, StopsStoringButKeepsCounting) {
    std::string text = "[";
    for (int i = 0; i < 150; ++i)
        text += R"({"a":1,"a":2},)";
    text += "0]";
    JsonProblems problems;
    static_cast<void>(parse_json(text, problems));

    EXPECT_EQ(problems.list().size(), JsonProblems::capacity);
    EXPECT_EQ(problems.total(), 150U);
    EXPECT_THAT(problems.to_error("x").context, HasSubstr("and 50 more problems"));
}

} // namespace
} // namespace promtact
