// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/gates/campaign.hpp>
#include <promtact/gates/runner.hpp>

#include "testing/fake_gates_internal.hpp"
#include "testing/runner_fakes_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;
using fakes::config_for;
using fakes::everything_in;
using fakes::fake_info;
using fakes::Recorder;
using fakes::Scratch;
using fakes::well_behaved;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Bodies. Each answers its control with `fail` unless the control is what it gets wrong.
Result<GateReport> control_fails(const GateContext&) {
    GateReport report;
    report.verdict = Verdict::fail;
    report.reason = "sabotaged";
    return report;
}
Result<GateReport> failing(const GateContext& context) {
    if (context.sabotaged()) return control_fails(context);
    GateReport report;
    report.verdict = Verdict::fail;
    report.reason = "byte 7 differs";
    report.remedy = "replace the disk";
    return report;
}
Result<GateReport> crashing(const GateContext& context) {
    if (context.sabotaged()) return control_fails(context);
    static_cast<void>(::kill(::getpid(), SIGSEGV));
    return GateReport{};
}
Result<GateReport> vanishing(const GateContext& context) {
    if (context.sabotaged()) return control_fails(context);
    ::_exit(3);
}
Result<GateReport> overrunning(const GateContext& context) {
    if (context.sabotaged()) return control_fails(context);
    if (::fork() == 0) { // a helper that must not outlive its gate
        static_cast<void>(::pause());
        ::_exit(0);
    }
    while (true)
        static_cast<void>(::pause());
}
Result<GateReport> passing_control(const GateContext&) {
    GateReport report;
    report.verdict = Verdict::pass;
    report.summary = "all 5 packets passed";
    return report;
}
Result<GateReport> crashing_control(const GateContext& context) {
    if (context.sabotaged()) std::abort();
    return well_behaved(context);
}
Result<GateReport> unsupported_here(const GateContext&) {
    return Error{Errc::unsupported, 0, "CONFIG_NET_SCH_NETEM"};
}
Result<GateReport> denied_here(const GateContext&) {
    return Error{Errc::denied, EPERM, "unshare network namespace (CAP_SYS_ADMIN)"};
}
Result<GateReport> broken_by_the_world(const GateContext& context) {
    if (context.sabotaged()) return control_fails(context);
    return Error::from_errno(EIO, "fsync wal");
}
Result<GateReport> speechless(const GateContext& context) {
    if (context.sabotaged()) return control_fails(context);
    return GateReport{};
}
Result<GateReport> naming_its_files(const GateContext& context) {
    const std::string file = (context.options().directory / "log-1").string();
    GateReport report;
    report.verdict = Verdict::fail;
    report.reason = file + ": block 7 is damaged, and " + file + " has no other";
    report.notes = {"kept in " + file};
    if (context.sabotaged()) return report;
    report.remedy = "look at " + file;
    return report;
}
Result<GateReport> chatty(const GateContext& context) {
    std::printf("noise on stdout\n");
    return well_behaved(context);
}

const GateInfo good_info = fake_info("good");
const GateInfo chatty_info = fake_info("chatty");
const GateInfo failing_info = fake_info("failing");
const GateInfo naming_info = fake_info("naming");
const GateInfo crashing_info = fake_info("crashing");
const GateInfo vanishing_info = fake_info("vanishing");
const GateInfo overrunning_info = fake_info("overrunning", std::chrono::milliseconds{300});
const GateInfo passing_control_info = fake_info("passing_control");
const GateInfo crashing_control_info = fake_info("crashing_control");
const GateInfo unsupported_info = fake_info("unsupported");
const GateInfo denied_info = fake_info("denied");
const GateInfo io_info = fake_info("io");
const GateInfo speechless_info = fake_info("speechless");

constexpr std::array<std::string_view, 1> needs_good{"good"};
constexpr std::array<std::string_view, 1> needs_failing{"failing"};
const GateInfo after_good_info = [] {
    GateInfo info = fake_info("after_good");
    info.requires_gates = needs_good;
    return info;
}();
const GateInfo after_failing_info = [] {
    GateInfo info = fake_info("after_failing");
    info.requires_gates = needs_failing;
    return info;
}();
constexpr std::array<Need, 1> impossible_path{
    Need{Need::Kind::path, "/nonexistent/promtact", "buy one"}};
const GateInfo needy_info = [] {
    GateInfo info = fake_info("needy");
    info.needs = impossible_path;
    return info;
}();
const GateInfo needy_after_failing_info = [] {
    GateInfo info = fake_info("needy_after_failing");
    info.needs = impossible_path;
    info.requires_gates = needs_failing;
    return info;
}();
const GateInfo slow_class_info = [] {
    GateInfo info = fake_info("long_one");
    info.gate_class = GateClass::full;
    return info;
}();

const std::vector<GateEntry> all_fakes{
    {&good_info, &well_behaved},
    {&chatty_info, &chatty},
    {&failing_info, &failing},
    {&naming_info, &naming_its_files},
    {&crashing_info, &crashing},
    {&vanishing_info, &vanishing},
    {&overrunning_info, &overrunning},
    {&passing_control_info, &passing_control},
    {&crashing_control_info, &crashing_control},
    {&unsupported_info, &unsupported_here},
    {&denied_info, &denied_here},
    {&io_info, &broken_by_the_world},
    {&speechless_info, &speechless},
    {&after_good_info, &well_behaved},
    {&after_failing_info, &well_behaved},
    {&needy_info, &well_behaved},
    {&needy_after_failing_info, &well_behaved},
    {&slow_class_info, &well_behaved},
};

GateRecord record_of_gate(const std::string& id) {
    const Scratch scratch;
    Recorder recorder;
    const Result<RunOutcome> outcome =
        run_gates(config_for(all_fakes, scratch.path(), {id}), recorder);
    if (!outcome) {
        ADD_FAILURE() << describe(outcome.error());
        return {};
    }
    return outcome->records.back();
}

TEST(GateRunner, PassesAGateWhoseControlFailed) {
    const GateRecord record = record_of_gate("good");
    EXPECT_EQ(record.verdict, Verdict::pass) << record.reason;
    ASSERT_TRUE(record.control.has_value());
    EXPECT_EQ(*record.control, (ControlRecord{"turn_it_off", "fail", "fail", "it is off"}));
    EXPECT_EQ(record.measurements.size(), 1U);
    EXPECT_EQ(record.sample, "quick");
    EXPECT_GT(record.run.duration_ns, 0U);
}

TEST(GateRunner, KeepsReasonAndRemedyOfAFailure) {
    const GateRecord record = record_of_gate("failing");
    EXPECT_EQ(record.verdict, Verdict::fail);
    EXPECT_EQ(record.reason, "byte 7 differs");
    EXPECT_EQ(record.remedy, "replace the disk");
}

TEST(GateRunner, CallsFilesOfTheGatesFolderByTheirOwnNames) {
    const GateRecord record = record_of_gate("naming");
    EXPECT_EQ(record.reason, "log-1: block 7 is damaged, and log-1 has no other");
    EXPECT_EQ(record.remedy, "look at log-1");
    EXPECT_THAT(record.notes, ElementsAre("kept in log-1"));
    ASSERT_TRUE(record.control);
    EXPECT_EQ(record.control->reason, record.reason);
}

TEST(GateRunner, NamesTheSignalOfACrash) {
    const GateRecord record = record_of_gate("crashing");
    EXPECT_EQ(record.verdict, Verdict::error);
    // A sanitizer turns the signal into an exit of its own.
    EXPECT_THAT(
        record.reason, testing::AnyOf(HasSubstr("SIGSEGV"), HasSubstr("before it reported")));
    // The gate's own remedy is for what it asks; a crash says nothing about that.
    EXPECT_THAT(record.remedy, HasSubstr("run crashing again"));
}

TEST(GateRunner, NoticesABodyThatEndsWithoutAnAnswer) {
    const GateRecord record = record_of_gate("vanishing");
    EXPECT_EQ(record.verdict, Verdict::error);
    EXPECT_EQ(record.reason, "ended with status 3 before it reported");
}

TEST(GateRunner, EndsABodyThatExceedsItsBudget) {
    const GateRecord record = record_of_gate("overrunning");
    EXPECT_EQ(record.verdict, Verdict::error);
    EXPECT_EQ(record.reason, "exceeded its budget of 300ms");
}

TEST(GateRunner, EndsACampaignThatTakesTooLongAndSaysSo) {
    const Scratch scratch;
    Recorder recorder;
    RunnerConfig config = config_for(all_fakes, scratch.path(), {"good", "overrunning", "chatty"});
    config.limit = std::chrono::milliseconds{250};
    const auto outcome = run_gates(config, recorder);
    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->records.size(), 3U);
    const GateRecord& last = outcome->records.back();
    EXPECT_EQ(last.id, "overrunning");
    EXPECT_EQ(last.verdict, Verdict::error);
    EXPECT_THAT(
        last.reason,
        testing::AnyOf(HasSubstr("exceeded its budget of"), HasSubstr("ended before it began")));
    EXPECT_NE(last.reason, "exceeded its budget of 300ms");
}

TEST(GateRunner, TurnsAControlThatPassesIntoAnError) {
    const GateRecord record = record_of_gate("passing_control");
    EXPECT_EQ(record.verdict, Verdict::error);
    EXPECT_THAT(
        record.reason, AllOf(
                           StartsWith("its control did not fail"), HasSubstr("turn_it_off"),
                           HasSubstr("all 5 packets passed")));
    EXPECT_EQ(record.control->observed, "pass");
}

TEST(GateRunner, TurnsAControlThatBreaksIntoAnError) {
    const GateRecord record = record_of_gate("crashing_control");
    EXPECT_EQ(record.verdict, Verdict::error);
    EXPECT_THAT(record.reason, HasSubstr("its control turn_it_off broke"));
}

TEST(GateRunner, GoesGreyWithTheThingNamed) {
    EXPECT_EQ(record_of_gate("unsupported").verdict, Verdict::unsupported);
    EXPECT_THAT(record_of_gate("unsupported").reason, HasSubstr("CONFIG_NET_SCH_NETEM"));
    EXPECT_EQ(record_of_gate("denied").verdict, Verdict::denied);
    EXPECT_THAT(record_of_gate("denied").reason, HasSubstr("CAP_SYS_ADMIN"));
}

TEST(GateRunner, NeverRunsABodyWhoseNeedsAreMissing) {
    const GateRecord record = record_of_gate("needy");
    EXPECT_EQ(record.verdict, Verdict::unsupported);
    EXPECT_EQ(record.reason, "needs /nonexistent/promtact, which is not there");
    EXPECT_EQ(record.remedy, "buy one");
    EXPECT_FALSE(record.control.has_value());
}

TEST(GateRunner, NamesWhatAGateLacksEvenWhenARequiredGateDidNotPass) {
    const Scratch scratch;
    Recorder recorder;
    const auto outcome =
        run_gates(config_for(all_fakes, scratch.path(), {"needy_after_failing"}), recorder);
    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->records.size(), 2U);
    EXPECT_EQ(outcome->records[0].verdict, Verdict::fail);
    EXPECT_EQ(outcome->records[1].verdict, Verdict::unsupported);
    EXPECT_EQ(outcome->records[1].reason, "needs /nonexistent/promtact, which is not there");
}

TEST(GateRunner, TurnsOtherErrorsOfABodyIntoError) {
    const GateRecord record = record_of_gate("io");
    EXPECT_EQ(record.verdict, Verdict::error);
    EXPECT_THAT(record.reason, HasSubstr("fsync wal"));
    EXPECT_EQ(record_of_gate("speechless").verdict, Verdict::error);
}

TEST(GateRunner, BlocksAGateWhoseRequirementDidNotPassAndNamesIt) {
    const Scratch scratch;
    Recorder recorder;
    const auto outcome =
        run_gates(config_for(all_fakes, scratch.path(), {"after_failing"}), recorder);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(recorder.finished_ids, ElementsAre("failing", "after_failing"));
    EXPECT_EQ(outcome->records[1].verdict, Verdict::blocked);
    EXPECT_EQ(outcome->records[1].reason, "requires failing, which ended in fail");
}

TEST(GateRunner, RunsRequirementsFirstAndReportsSteps) {
    const Scratch scratch;
    Recorder recorder;
    const auto outcome = run_gates(config_for(all_fakes, scratch.path(), {"after_good"}), recorder);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(recorder.finished_ids, ElementsAre("good", "after_good"));
    EXPECT_THAT(
        recorder.steps, ElementsAre(
                            "good control look", "good control done", "good body look",
                            "good body done", "after_good control look", "after_good control done",
                            "after_good body look", "after_good body done"));
}

TEST(GatePlan, LeavesLongGatesToTheFullClass) {
    const auto quick = plan_gates(all_fakes, {}, GateClass::quick);
    const auto full = plan_gates(all_fakes, {}, GateClass::full);
    ASSERT_TRUE(quick);
    ASSERT_TRUE(full);
    EXPECT_EQ(full->size(), all_fakes.size());
    EXPECT_EQ(quick->size(), all_fakes.size() - 1);
    EXPECT_EQ(plan_gates(all_fakes, {"long_one"}, GateClass::quick)->size(), 1U);
}

TEST(GatePlan, RefusesUnknownNamesAndListsTheKnownOnes) {
    const auto plan = plan_gates(all_fakes, {"nosuch"}, GateClass::quick);
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().context, AllOf(HasSubstr("\"nosuch\""), HasSubstr("good, chatty")));
}

TEST(GateRunner, WritesACampaignThatReadsBack) {
    const Scratch scratch;
    Recorder recorder;
    const auto outcome = run_gates(config_for(all_fakes, scratch.path(), {}), recorder);
    ASSERT_TRUE(outcome) << describe(outcome.error());
    const auto campaign = load_campaign(outcome->campaign);
    ASSERT_TRUE(campaign) << campaign.error().context;
    EXPECT_EQ(campaign->records.size(), all_fakes.size() - 1);
    EXPECT_EQ(campaign->facts.name, "test-host");
    EXPECT_THAT(campaign->name, testing::EndsWith("-cccccccccccc"));
    for (const fs::path& path : everything_in(scratch.path()))
        EXPECT_EQ(path.string().find(".promtact-tmp-"), std::string::npos) << path;
}

TEST(GateRunner, GivesCampaignsOfOneSecondDifferentNames) {
    const Scratch scratch;
    Recorder recorder;
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(run_gates(config_for(all_fakes, scratch.path(), {"good"}), recorder));
    EXPECT_EQ(list_campaigns(scratch.path()).size(), 3U);
}

TEST(GateRunner, PutsFilesInANamedDirectoryAndTakesThemAway) {
    const Scratch scratch;
    const Scratch work;
    Recorder recorder;
    RunnerConfig config = config_for(all_fakes, scratch.path(), {"good"});
    config.options.directory = work.path();
    ASSERT_TRUE(run_gates(config, recorder));
    EXPECT_TRUE(everything_in(work.path()).empty());
}

TEST(GateRunner, SaysWhichDirectoryIsMissingAndLeavesNothing) {
    const Scratch scratch;
    Recorder recorder;
    const auto no_parent =
        run_gates(config_for(all_fakes, scratch.path() / "a/b", {"good"}), recorder);
    ASSERT_FALSE(no_parent);
    EXPECT_THAT(no_parent.error().context, HasSubstr("a/b"));

    RunnerConfig config = config_for(all_fakes, scratch.path() / "hosts", {"good"});
    config.options.directory = scratch.path() / "missing";
    const auto no_directory = run_gates(config, recorder);
    ASSERT_FALSE(no_directory);
    EXPECT_THAT(no_directory.error().context, HasSubstr("missing"));
    EXPECT_TRUE(everything_in(scratch.path()).empty());
}

} // namespace
} // namespace promtact::gates
