// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/env.hpp>

namespace promtact {
namespace {

std::vector<std::string> check(std::initializer_list<std::string_view> entries) {
    return check_environment(std::span(entries.begin(), entries.size()));
}

TEST(Env, ForeignAndKnownVariablesAreNoProblem) {
    EXPECT_TRUE(
        check({"PATH=/bin", "HOME=/root", "NO_COLOR=1", "not a variable", "=", ""}).empty());
    EXPECT_TRUE(check({"PROMTACT_URING_INTEGRATION=1", "PROMTACT_EQUIV_SEEDS=1000"}).empty());
    EXPECT_TRUE(check({"PROMTACT_KILL_AT=3", "PROMTACT_RESULTS=/a:/b"}).empty());
}

TEST(Env, EveryRefusedVariableNamesItsSuccessor) {
    EXPECT_EQ(
        check({"PROMTACT_PHASE6_DEVICE=/dev/sdb"}),
        std::vector<std::string>{"PROMTACT_PHASE6_DEVICE is not read any more: use `promtact gates "
                                 "run durable_write_block --device`"});
    for (const EnvVariable& variable : known_environment()) {
        if (variable.status != EnvStatus::refused) continue;
        const std::string entry = std::string(variable.name) + "=1";
        ASSERT_EQ(check({entry}).size(), 1U) << variable.name;
        EXPECT_NE(check({entry})[0].find(variable.meaning), std::string::npos);
    }
}

TEST(Env, VariablesOfTheReferenceAreAllKnown) {
    for (const std::string_view name :
         {"PROMTACT_EQUIV_SEEDS", "PROMTACT_URING_INTEGRATION", "PROMTACT_CLIENTS",
          "PROMTACT_KILL_SIGNAL", "PROMTACT_PHASE6_DEVICE", "PROMTACT_PHASE6_OPERATIONS",
          "JEPSEN_TIME_LIMIT", "TLA_TOOLS_JAR", "PREFIX", "VERSION", "PROMTACT_RUST_ADAPTER"}) {
        const auto known = known_environment();
        EXPECT_TRUE(std::any_of(known.begin(), known.end(), [name](const EnvVariable& v) {
            return v.name == name && !v.meaning.empty();
        })) << name;
    }
}

TEST(Env, UnknownNamesOfOursAreReportedWithTheNearest) {
    EXPECT_EQ(
        check({"PROMTACT_RESULT=/x"}),
        std::vector<std::string>{
            "PROMTACT_RESULT is not a variable Promtact reads: did you mean PROMTACT_RESULTS?"});
    EXPECT_EQ(
        check({"PROMTACT_ZZZZZZZZ=1"}),
        std::vector<std::string>{"PROMTACT_ZZZZZZZZ is not a variable Promtact reads: unset it"});
    EXPECT_EQ(check({"PROMTACT_" + std::string(5000, 'X') + "=1"}).size(), 1U);
}

TEST(Env, AllProblemsAreReportedNotTheFirst) {
    EXPECT_EQ(
        check({"PROMTACT_X=1", "PROMTACT_PHASE6_OPERATIONS=1", "PROMTACT_KILL_AT=soon"}).size(),
        3U);
}

TEST(Env, ValuesAreReadOnlyUnderKnownNames) {
    ::setenv("PROMTACT_RESULTS", "/a:/b", 1);
    EXPECT_EQ(environment_value("PROMTACT_RESULTS"), "/a:/b");
    ::unsetenv("PROMTACT_RESULTS");
    EXPECT_EQ(environment_value("PROMTACT_RESULTS"), std::nullopt);
    EXPECT_DEATH(static_cast<void>(environment_value("PATH")), "assertion failed: variable");
    EXPECT_DEATH(
        static_cast<void>(environment_value("PROMTACT_PHASE6_DEVICE")), "assertion failed");
}

TEST(Env, TheProcessEnvironmentIsChecked) {
    ::setenv("PROMTACT_PHASE6_DEVICE", "/dev/sdb", 1);
    const std::vector<std::string> problems = check_environment();
    ::unsetenv("PROMTACT_PHASE6_DEVICE");

    EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [](const std::string& problem) {
        return problem.starts_with("PROMTACT_PHASE6_DEVICE ");
    }));
}

} // namespace
} // namespace promtact
