// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "datadriven.hpp"

namespace promtact::raft::interaction {
namespace {

std::string error_of(std::string_view text) {
    auto stanzas = parse_stanzas(text);
    return stanzas ? "none" : stanzas.error().context;
}

TEST(DataDriven, ReadsCommandInputAndOutput) {
    auto stanzas = parse_stanzas("# what follows is a stanza\n"
                                 "\n"
                                 "go 3 kind=fast ids=(1, 2,3) none=() empty=\n"
                                 "  first\n"
                                 "second  \n"
                                 "----\n"
                                 "said\n"
                                 "  so\n"
                                 "\n"
                                 "stop\n"
                                 "----\n");
    ASSERT_TRUE(stanzas);
    ASSERT_EQ(stanzas->size(), 2U);
    const Stanza& go = (*stanzas)[0];
    EXPECT_EQ(go.line, 3U);
    EXPECT_EQ(go.command, "go");
    const std::vector<Argument> expected{
        {"3", {}}, {"kind", {"fast"}}, {"ids", {"1", "2", "3"}}, {"none", {}}, {"empty", {""}}};
    EXPECT_EQ(go.arguments, expected);
    EXPECT_EQ(go.input, "first\nsecond");
    EXPECT_EQ(go.expected, "said\n  so\n");
    EXPECT_EQ(go.find("kind")->values.front(), "fast");
    EXPECT_EQ(go.find("missing"), nullptr);
    EXPECT_EQ((*stanzas)[1].line, 10U);
    EXPECT_EQ((*stanzas)[1].expected, "");
}

TEST(DataDriven, ACommandMayGoOnInTheNextLine) {
    auto stanzas = parse_stanzas("go a=1 \\\n   b=2\\\n c\n----\nok\n");
    ASSERT_TRUE(stanzas);
    ASSERT_EQ(stanzas->size(), 1U);
    const std::vector<Argument> expected{{"a", {"1"}}, {"b", {"2"}}, {"c", {}}};
    EXPECT_EQ((*stanzas)[0].arguments, expected);
    EXPECT_EQ((*stanzas)[0].line, 1U);
}

TEST(DataDriven, DoubleSeparatorsHoldBlankLines) {
    auto stanzas = parse_stanzas("go\n----\n----\none\n\n----\ntwo\n----\n----\n\nnext\n----\n\n");
    ASSERT_TRUE(stanzas);
    ASSERT_EQ(stanzas->size(), 2U);
    EXPECT_EQ((*stanzas)[0].expected, "one\n\n----\ntwo\n");
    EXPECT_EQ((*stanzas)[1].command, "next");
}

TEST(DataDriven, LineEndsOfTwoCharactersAndNoLastLineEndAreAlike) {
    auto stanzas = parse_stanzas("go\r\n----\r\nok");
    ASSERT_TRUE(stanzas);
    ASSERT_EQ(stanzas->size(), 1U);
    EXPECT_EQ((*stanzas)[0].expected, "ok\n");
}

TEST(DataDriven, SubtestsAreOnlyRead) {
    auto stanzas = parse_stanzas("subtest first\n\ngo\n----\nok\n\nsubtest end\n");
    ASSERT_TRUE(stanzas);
    EXPECT_EQ(stanzas->size(), 1U);
}

TEST(DataDriven, ErrorsNameTheLine) {
    EXPECT_EQ(error_of("a\n----\n\n\ngo\ninput\n"), "line 5: no ---- follows the command \"go\"");
    EXPECT_EQ(error_of("\ngo x=(1,2\n----\n"), "line 2: \"x=(1,2\" has no closing parenthesis");
    EXPECT_EQ(error_of("go =3\n----\n"), "line 1: \"=3\" does not begin with a word");
    EXPECT_EQ(error_of("go=3\n----\n"), "line 1: \"go=3\" has a value for its command");
    EXPECT_EQ(
        error_of("go x=(1)y\n----\n"), "line 1: \"x=(1)y\" is not a word, key=value or key=(a,b)");
    EXPECT_EQ(
        error_of("go\n----\n----\nout\n"), "line 3: the output that begins here does not end");
    EXPECT_EQ(
        error_of("go\n----\n----\nout\n----\n----\nmore\n"),
        "line 7: a blank line must follow the end of the output");
    EXPECT_EQ(error_of("!\n----\n"), "line 1: \"!\" does not begin with a word");
}

} // namespace
} // namespace promtact::raft::interaction
