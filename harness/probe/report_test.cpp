// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/json_reader.hpp>

#include "probe/report.hpp"

namespace promtact::harness::probe {
namespace {

using testing::HasSubstr;
using testing::Not;

Report sample() {
    Report report{.toolchain = "g++-12.2.0", .entries = 8};
    Section kernel(report, "kernel");
    kernel.yes("release", "Linux 6.18");
    kernel.unknown("lockdown", "open /x: not found (ENOENT)", "mount it");
    Section ring(report, "io_uring");
    ring.add({.name = "OP_A", .group = "operation code", .answer = Answer::yes});
    ring.add({.name = "OP_B", .group = "operation code", .answer = Answer::yes});
    ring.add({.name = "OP_C", .group = "operation code", .answer = Answer::no, .reason = "EINVAL"});
    ring.no("RWF_ATOMIC", "EOPNOTSUPP\x1b[2J");
    return report;
}

TEST(ProbeReport, TableShowsEvidenceAndRemedy) {
    EXPECT_EQ(as_text(sample(), false), R"(kernel
  yes      release         Linux 6.18
  unknown  lockdown        open /x: not found (ENOENT)
                           -> mount it

io_uring
  yes      operation code  2 of 3
  no       OP_C            EINVAL
  no       RWF_ATOMIC      EOPNOTSUPP\x1b[2J

3 yes, 2 no, 1 unknown: unknown means it could not be seen from here, not that it is absent
)");
}

TEST(ProbeReport, ColoursOnlyWhenAsked) {
    EXPECT_THAT(as_text(sample(), true), HasSubstr("\x1b["));
    EXPECT_THAT(as_text(sample(), false), Not(HasSubstr("\x1b[")));
}

TEST(ProbeReport, JsonHoldsEveryFact) {
    const Report report = sample();

    const auto json = read_json(as_json(report), "report");

    ASSERT_TRUE(json.has_value());
    EXPECT_EQ(json->find("schema")->text, "promtact.probe/1");
    EXPECT_EQ(json->find("verdict")->text, "pass");
    EXPECT_EQ(json->find("yes")->integer, 3U);
    const JsonValue& facts = *json->find("facts");
    ASSERT_EQ(facts.children.size(), report.facts.size());
    for (std::size_t i = 0; i < report.facts.size(); ++i) {
        EXPECT_EQ(facts.children[i].find("name")->text, report.facts[i].name);
        EXPECT_EQ(facts.children[i].find("answer")->text, to_string(report.facts[i].answer));
        EXPECT_EQ(facts.children[i].find("reason")->text, report.facts[i].reason);
    }
}

TEST(ProbeReport, AFailedSetupFailsTheJson) {
    Report report = sample();
    report.setup_error = "no ring";

    const std::string json = as_json(report);

    EXPECT_THAT(json, HasSubstr(R"("verdict": "fail")"));
    EXPECT_THAT(json, HasSubstr(R"("error": "no ring")"));
}

TEST(ProbeReportDeathTest, AFactWithoutEvidenceIsOurBug) {
    Report report;
    Section section(report, "x");
    section.yes("a");

    EXPECT_DEATH(section.no("b", ""), "assertion failed");
    EXPECT_DEATH(section.unknown("b", ""), "assertion failed");
    EXPECT_DEATH(section.yes("a"), "assertion failed");
}

} // namespace
} // namespace promtact::harness::probe
