// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/harness/flags.hpp>

namespace promtact::harness {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

/// A command with one flag of every kind.
struct Sample {
    std::string path = "/tmp/x";
    std::uint64_t operations = 1000;
    bool keep = false;
    std::string mode = "quick";
    std::vector<std::string> gates{};
    FlagSet flags{"promtact sample", "shows every kind of flag"};

    explicit Sample(std::size_t min = 0, std::size_t max = 0) {
        flags.text("p,path", path, "file to write");
        flags.number("operations", operations, 1, 1'000'000, "operations to run");
        flags.flag("keep", keep, "keep the file");
        flags.choice("class", mode, {"quick", "full"}, "how much to run");
        if (max > 0) flags.positionals("gate", gates, min, max, "Gates to run.");
        flags.footer("exit codes:\n  0  done\n");
    }
};

TEST(Flags, KeepDefaultsUnlessGiven) {
    Sample sample;

    EXPECT_EQ(sample.flags.evaluate(Words{}).exit, std::nullopt);

    EXPECT_EQ(sample.path, "/tmp/x");
    EXPECT_EQ(sample.operations, 1000U);
    EXPECT_FALSE(sample.keep);
    EXPECT_FALSE(sample.flags.given("path"));
}

TEST(Flags, StoreEveryKindOfValueExactly) {
    Sample sample;

    const auto outcome = sample.flags.evaluate(
        Words{"-path", " [a, b] {} %% \"q\" --x=y ", "--operations=0x10", "-keep", "-class=full"});

    ASSERT_EQ(outcome.exit, std::nullopt) << outcome.err;
    EXPECT_EQ(sample.path, " [a, b] {} %% \"q\" --x=y ");
    EXPECT_EQ(sample.operations, 16U);
    EXPECT_TRUE(sample.keep);
    EXPECT_EQ(sample.mode, "full");
    EXPECT_TRUE(sample.flags.given("path"));
    EXPECT_TRUE(sample.flags.given("p"));
}

TEST(Flags, ReadBooleansAsGoDoes) {
    for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) {
        Sample sample;
        EXPECT_EQ(sample.flags.evaluate(Words{std::string("-keep=") + yes}).exit, std::nullopt);
        EXPECT_TRUE(sample.keep) << yes;
    }
    for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) {
        Sample sample;
        sample.keep = true;
        EXPECT_EQ(sample.flags.evaluate(Words{std::string("-keep=") + no}).exit, std::nullopt);
        EXPECT_FALSE(sample.keep) << no;
    }
}

TEST(Flags, AcceptNumbersInEveryBase) {
    const std::pair<const char*, std::uint64_t> rows[] = {
        {"1", 1},     {"1_000_000", 1'000'000}, {"0x1F", 31}, {"0o17", 15}, {"0b1010", 10},
        {"0X1f", 31}, {"0x_ff", 255},           {" 12 ", 12}};
    for (const auto& [text, value] : rows) {
        Sample sample;
        EXPECT_EQ(sample.flags.evaluate(Words{"-operations", text}).exit, std::nullopt) << text;
        EXPECT_EQ(sample.operations, value) << text;
    }
}

struct BadRow {
    const char* name;
    Words words;
    const char* part;
};

TEST(Flags, RefuseBadValuesAndSayWhatIsAllowed) {
    const BadRow rows[] = {
        {"zero", {"-operations", "0"}, "allowed: 1 to 1000000"},
        {"too large", {"-operations=1000001"}, "allowed: 1 to 1000000"},
        {"negative", {"-operations", "-5"}, "is \"-5\", which is negative; allowed: 1 to"},
        {"overflow", {"-operations=18446744073709551616"}, "does not fit 64 bits"},
        {"far overflow", {"-operations=99999999999999999999999999"}, "does not fit 64 bits"},
        {"fraction", {"-operations=1.5"}, "not a whole number"},
        {"exponent", {"-operations=1e3"}, "not a whole number"},
        {"plus sign", {"-operations=+5"}, "not a whole number"},
        {"blank", {"-operations= "}, "not a whole number"},
        {"leading zero", {"-operations=010"}, "write 0o for octal, or drop the zero"},
        {"trailing letter", {"-operations=5k"}, "not a whole number"},
        {"prefix alone", {"-operations=0x"}, "not a whole number"},
        {"digit of another base", {"-operations=0b12"}, "not a whole number"},
        {"doubled underscore", {"-operations=1__0"}, "not a whole number"},
        {"final underscore", {"-operations=1_"}, "not a whole number"},
        {"first underscore", {"-operations=_1"}, "not a whole number"},
        {"other digits", {"-operations=\xD9\xA1"}, "not a whole number"},
        {"boolean", {"-keep=maybe"}, "flag \"-keep\" is \"maybe\", but must be true or false"},
        {"choice", {"-class=qiuck"}, "one of: quick, full; did you mean quick?"},
        {"unknown flag", {"-operation=5"}, "did you mean -operations?"},
        {"stray word", {"extra"}, "unexpected word \"extra\""},
        {"boolean with a word", {"-keep", "false"}, "write -keep=false"},
    };
    for (const BadRow& row : rows) {
        Sample sample;
        const FlagSet::Outcome outcome = sample.flags.evaluate(row.words);
        EXPECT_EQ(outcome.exit, 2) << row.name;
        EXPECT_EQ(outcome.out, "") << row.name;
        EXPECT_THAT(outcome.err, HasSubstr(row.part)) << row.name;
        EXPECT_THAT(outcome.err, testing::StartsWith("promtact sample: ")) << row.name;
        EXPECT_THAT(outcome.err, HasSubstr("\nusage: promtact sample [flags]\n")) << row.name;
        EXPECT_EQ(sample.operations, 1000U) << row.name;
    }
}

TEST(Flags, CountPositionalWords) {
    const auto exit = [](std::size_t min, std::size_t max, const Words& words) {
        Sample sample(min, max);
        return sample.flags.evaluate(words).exit;
    };
    EXPECT_EQ(exit(0, 2, {}), std::nullopt);
    EXPECT_EQ(exit(1, 2, {}), 2);
    EXPECT_EQ(exit(1, 2, {"a", "-keep", "b"}), std::nullopt);
    EXPECT_EQ(exit(1, 2, {"a", "b", "c"}), 2);

    Sample sample(0, 4);
    EXPECT_EQ(sample.flags.evaluate(Words{"[a,b]", "--", "-keep"}).exit, std::nullopt);
    EXPECT_THAT(sample.gates, testing::ElementsAre("[a,b]", "-keep"));
    EXPECT_FALSE(sample.keep);
}

TEST(Flags, PrintACompleteHelp) {
    Sample sample(1, 3);

    const FlagSet::Outcome outcome = sample.flags.evaluate(Words{"--help"});

    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out, R"(promtact sample: shows every kind of flag

usage: promtact sample [flags] <gate...>

  Gates to run.

flags (-name value, -name=value; one dash or two):
  -p, -path <text>
      file to write (default /tmp/x)
  -operations <number>
      operations to run, 1 to 1000000 (default 1000)
  -keep
      keep the file
  -class <quick|full>
      how much to run (default quick)

exit codes:
  0  done
)");
}

TEST(Flags, WrapLongHelpTexts) {
    std::string target;
    FlagSet flags("promtact wrap", "wraps");
    std::string about;
    for (int i = 0; i < 60; ++i)
        about += "words ";
    flags.text("x", target, about + std::string(200, 'w'));

    const FlagSet::Outcome outcome = flags.evaluate(Words{"-h"});

    std::size_t long_lines = 0;
    for (std::size_t at = 0; at < outcome.out.size();) {
        const std::size_t end = outcome.out.find('\n', at);
        if (end - at > 96) ++long_lines;
        at = end + 1;
    }
    EXPECT_EQ(long_lines, 1U); // the unbreakable word alone
}

TEST(FlagsDeathTest, ARegistrationTwiceIsOurBug) {
    Sample sample;
    bool other = false;

    EXPECT_DEATH(sample.flags.flag("path", other, "again"), "assertion failed");
    EXPECT_DEATH(static_cast<void>(sample.flags.given("absent")), "unreachable");
}

} // namespace
} // namespace promtact::harness
