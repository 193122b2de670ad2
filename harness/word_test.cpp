// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include "word.hpp"

namespace promtact::harness {
namespace {

struct Utf8Row {
    const char* name;
    std::string_view bytes;
    bool valid;
};

TEST(Word, TellsUtf8FromOtherBytes) {
    const Utf8Row rows[] = {
        {"ascii", "abc", true},
        {"two bytes", "\xC3\xA9", true},
        {"three bytes", "\xE2\x82\xAC", true},
        {"four bytes", "\xF0\x9F\x98\x80", true},
        {"last code point", "\xF4\x8F\xBF\xBF", true},
        {"beyond the last code point", "\xF4\x90\x80\x80", false},
        {"overlong slash", "\xC0\xAF", false},
        {"overlong three bytes", "\xE0\x80\xAF", false},
        {"surrogate", "\xED\xA0\x80", false},
        {"cut sequence", "\xE2\x82", false},
        {"lone continuation", "a\x80", false},
        {"latin-1", "caf\xE9", false},
        {"ff", "\xFF", false},
    };
    for (const Utf8Row& row : rows)
        EXPECT_EQ(valid_utf8(row.bytes), row.valid) << row.name;
}

TEST(Word, ShowsNoControlByteToATerminal) {
    EXPECT_EQ(shown("plain"), R"("plain")");
    EXPECT_EQ(shown("a\x1b[31mb"), R"("a\x1b[31mb")");
    EXPECT_EQ(shown("caf\xE9"), R"("caf\xe9")");
    EXPECT_EQ(shown("\xC2\x9B"), R"("\xc2\x9b")"); // CSI as one C1 control
    EXPECT_EQ(shown("\xC3\xA9"), "\"\xC3\xA9\"");
    EXPECT_EQ(shown("say \"no\""), R"("say \"no\"")");
    EXPECT_EQ(shown(std::string_view("\0", 1)), R"("\x00")");
    EXPECT_LT(shown(std::string(100'000, 'x')).size(), 200U);
}

TEST(Word, SuggestsOnlyWhatIsClose) {
    const std::vector<std::string_view> names{"entries", "json", "keep", "operations", "path"};

    EXPECT_EQ(nearest("entires", names), "entries"); // two letters swapped
    EXPECT_EQ(nearest("--jsn", names), "json");
    EXPECT_EQ(nearest("oper", names), "operations"); // the only completion
    EXPECT_EQ(nearest("xyz", names), std::nullopt);
    EXPECT_EQ(nearest("", names), std::nullopt);
    EXPECT_EQ(nearest(std::string(5000, 'j'), names), std::nullopt);
}

} // namespace
} // namespace promtact::harness
