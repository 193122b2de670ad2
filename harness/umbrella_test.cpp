// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/harness/umbrella.hpp>

namespace promtact::harness {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

Words seen; // what the fake command was given; guarded by tests being sequential

int remember(std::span<const std::string> arguments) {
    seen.assign(arguments.begin(), arguments.end());
    return 7;
}

const Command table[] = {
    {"gates", "qualify this host", "", remember},
    {"probe", "ask what it offers", "promtact-probe", remember},
};
const Program promtact_program{.name = "promtact", .commands = table};

struct Ran {
    int exit = 0;
    std::string out{};
    std::string err{};
    Words seen{};
};

Ran run(const Words& argv) {
    seen.clear();
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Ran ran;
    ran.exit = run_umbrella(argv, promtact_program);
    ran.out = testing::internal::GetCapturedStdout();
    ran.err = testing::internal::GetCapturedStderr();
    ran.seen = seen;
    return ran;
}

TEST(Umbrella, RunsTheFirstWordWithTheRest) {
    const Ran ran = run({"/usr/bin/promtact", "gates", "run", "-h"});

    EXPECT_EQ(ran.exit, 7);
    EXPECT_THAT(ran.seen, testing::ElementsAre("run", "-h"));
}

TEST(Umbrella, AnswersToALinkName) {
    for (const char* name : {"promtact-probe", "/usr/bin/promtact-probe", "./promtact-probe"}) {
        const Ran ran = run({name, "help", "-x"});

        EXPECT_EQ(ran.exit, 7) << name;
        EXPECT_THAT(ran.seen, testing::ElementsAre("help", "-x")) << name;
    }
}

TEST(Umbrella, TakesAnUnknownNameForTheUmbrella) {
    EXPECT_EQ(run({"renamed", "probe"}).exit, 7);
    EXPECT_EQ(run({"", "probe"}).exit, 7);
}

TEST(Umbrella, WithoutACommandPrintsUsageOnStderr) {
    for (const Words& argv : {Words{"promtact"}, Words{}}) {
        const Ran ran = run(argv);

        EXPECT_EQ(ran.exit, 2);
        EXPECT_EQ(ran.out, "");
        EXPECT_EQ(ran.err, usage(promtact_program));
    }
}

TEST(Umbrella, PrintsUsageWhenAsked) {
    for (const char* word : {"help", "-h", "-help", "--help"}) {
        const Ran ran = run({"promtact", word});

        EXPECT_EQ(ran.exit, 0) << word;
        EXPECT_EQ(ran.err, "") << word;
        EXPECT_EQ(ran.out, usage(promtact_program)) << word;
    }
}

TEST(Umbrella, UsageListsEveryCommand) {
    const std::string text = usage(promtact_program);

    EXPECT_THAT(text, testing::StartsWith("usage: promtact <command> [flags]\n"));
    EXPECT_THAT(text, HasSubstr("\n  gates         qualify this host\n"));
    EXPECT_THAT(text, HasSubstr("\n  probe         ask what it offers\n"));
    EXPECT_THAT(text, testing::EndsWith("for its flags.\n"));
}

TEST(Umbrella, RefusesAnUnknownCommandAndSuggestsOne) {
    const Ran near = run({"promtact", "gaets"});
    EXPECT_EQ(near.exit, 2);
    EXPECT_EQ(near.out, "");
    EXPECT_THAT(near.err, HasSubstr("unknown command \"gaets\"; did you mean gates?"));
    EXPECT_THAT(near.err, HasSubstr(usage(promtact_program)));

    const Ran far = run({"promtact", "--version"});
    EXPECT_EQ(far.exit, 2);
    EXPECT_THAT(far.err, testing::Not(HasSubstr("did you mean")));
}

TEST(Umbrella, ATopicIsTheCommandsOwnHelp) {
    const Ran topic = run({"promtact", "help", "gates"});
    EXPECT_EQ(topic.exit, 0);
    EXPECT_THAT(topic.seen, testing::ElementsAre("-h"));

    const Ran deeper = run({"promtact", "help", "gates", "run"});
    EXPECT_EQ(deeper.exit, 7);
    EXPECT_THAT(deeper.seen, testing::ElementsAre("run", "-h"));

    const Ran unknown = run({"promtact", "help", "gatse"});
    EXPECT_EQ(unknown.exit, 2);
    EXPECT_THAT(unknown.err, HasSubstr("unknown help topic \"gatse\"; did you mean gates?"));
}

TEST(Umbrella, RefusesAVariableNobodyReads) {
    ASSERT_EQ(setenv("PROMTACT_PHASE6_DEVICE", "/dev/x", 1), 0);
    const Ran ran = run({"promtact", "gates"});
    ASSERT_EQ(unsetenv("PROMTACT_PHASE6_DEVICE"), 0);

    EXPECT_EQ(ran.exit, 2);
    EXPECT_THAT(ran.err, HasSubstr("environment: PROMTACT_PHASE6_DEVICE is not read any more"));
    EXPECT_TRUE(ran.seen.empty());
    EXPECT_EQ(run({"promtact", "gates"}).exit, 7);
}

TEST(UmbrellaDeathTest, AnUnsortedTableIsOurBug) {
    const Command unsorted[] = {{"b", "", "", remember}, {"a", "", "", remember}};

    EXPECT_DEATH(
        run_umbrella(Words{"promtact"}, {.name = "promtact", .commands = unsorted}),
        "assertion failed");
}

} // namespace
} // namespace promtact::harness
