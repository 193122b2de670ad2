// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argv.hpp"

namespace promtact::harness {
namespace {

using Words = std::vector<std::string>;

constexpr FlagName names[] = {
    {"steps", 0, false}, {"c", 1, false}, {"config", 1, false}, {"keep", 2, true}};

ParsedArgv split(const Words& words) {
    return parse_argv(words, names);
}

/// "0=5 2=true | word": assignments, then positionals; or "help"; or "! problem".
std::string shape(const ParsedArgv& parsed) {
    if (parsed.problem) return "! " + *parsed.problem;
    if (parsed.help) return "help";
    std::string out;
    for (const Assignment& a : parsed.assignments)
        out += std::to_string(a.flag) + "=" + a.value + " ";
    out += "|";
    for (const std::string& word : parsed.positionals)
        out += " " + word;
    return out;
}

struct Row {
    const char* name;
    Words words;
    std::string expected; // whole shape, or for a problem a part of it after "! "
};

TEST(Argv, AcceptsEverySpellingOfAFlag) {
    const Row rows[] = {
        {"nothing", {}, "|"},
        {"one dash, next word", {"-steps", "5"}, "0=5 |"},
        {"one dash, equals", {"-steps=5"}, "0=5 |"},
        {"two dashes, next word", {"--steps", "5"}, "0=5 |"},
        {"two dashes, equals", {"--steps=5"}, "0=5 |"},
        {"the spelling CLI11 misreads", {"-config=a.json"}, "1=a.json |"},
        {"alias", {"-c", "a.json"}, "1=a.json |"},
        {"boolean", {"-keep"}, "2=true |"},
        {"boolean with value", {"-keep=false"}, "2=false |"},
        {"boolean takes no word", {"-keep", "x"}, "2=true | x"},
        {"value with equals", {"-config=a=b"}, "1=a=b |"},
        {"value with dashes", {"-config=--steps"}, "1=--steps |"},
        {"negative value", {"-steps", "-5"}, "0=-5 |"},
        {"flags after a word", {"run", "-steps", "5"}, "0=5 | run"},
        {"end of flags", {"--", "-steps", "--", "-h"}, "| -steps -- -h"},
        {"a lone dash is a word", {"-"}, "| -"},
        {"brackets survive", {"-config=[a,b]"}, "1=[a,b] |"},
    };
    for (const Row& row : rows)
        EXPECT_EQ(shape(split(row.words)), row.expected) << row.name;
}

TEST(Argv, NamesWhatIsWrong) {
    const Row rows[] = {
        {"unknown", {"-bogus"}, R"(unknown flag "-bogus")"},
        {"unknown, near", {"--stpes=5"}, R"(unknown flag "--stpes"; did you mean -steps?)"},
        {"missing value", {"-steps"}, R"(flag "-steps" needs a value)"},
        {"flag as value", {"-config", "-keep"}, R"(write -config=-keep)"},
        {"help as value", {"-config", "-h"}, R"(flag "-config" needs a value)"},
        {"empty value", {"-steps="}, R"(flag "-steps" has an empty value)"},
        {"empty value word", {"-steps", ""}, R"(flag "-steps" has an empty value)"},
        {"empty boolean value", {"-keep="}, R"(flag "-keep" has an empty value)"},
        {"empty word", {""}, R"(word "" is an empty word)"},
        {"repeated", {"-steps=1", "-steps=2"}, R"(flag "-steps" is given twice)"},
        {"repeated through an alias", {"-c=a", "-config=b"}, R"(flag "-config" is given twice)"},
        {"repeated boolean", {"-keep", "--keep"}, R"(flag "--keep" is given twice)"},
        {"three dashes", {"---steps"}, R"(is not a flag)"},
        {"no name", {"-=5"}, R"(is not a flag)"},
        {"no name, two dashes", {"--=5"}, R"(is not a flag)"},
        {"NUL in a flag", {std::string("-steps=\0x", 9)}, R"(contains a NUL byte)"},
        {"NUL in a value word", {"-config", std::string("a\0b", 3)}, R"(contains a NUL byte)"},
        {"not UTF-8", {"-config=\xFF"}, R"(is not valid UTF-8)"},
        {"value word not UTF-8", {"-config", "\xC3"}, R"("\xc3" is not valid UTF-8)"},
        {"escape sequence", {"-\x1b[2J"}, R"("-\x1b[2J" contains a control character)"},
        {"newline in a value", {"-config=a\nb"}, R"(contains a control character)"},
        {"C1 control in a value", {"-config", "\xC2\x9B"}, R"(contains a control character)"},
        {"bundled short flags", {"-ck"}, R"(unknown flag "-ck")"},
    };
    for (const Row& row : rows) {
        EXPECT_THAT(
            shape(split(row.words)),
            testing::AllOf(testing::StartsWith("! "), testing::HasSubstr(row.expected)))
            << row.name;
    }
}

TEST(Argv, GivesHelpUnlessSomethingBeforeItIsWrong) {
    for (const char* word : {"-h", "-help", "--h", "--help"})
        EXPECT_EQ(shape(split({"-steps", "5", word, "-bogus"})), "help") << word;
    EXPECT_THAT(shape(split({"-bogus", "-h"})), testing::StartsWith("! unknown flag"));
    EXPECT_THAT(shape(split({"-help=x"})), testing::StartsWith("! unknown flag"));
}

TEST(Argv, LetsACommandOwnTheLetterH) {
    const FlagName own[] = {{"h", 0, true}};

    EXPECT_EQ(shape(parse_argv(Words{"-h"}, own)), "0=true |");
    EXPECT_EQ(shape(parse_argv(Words{"-help"}, own)), "help");
}

} // namespace
} // namespace promtact::harness
