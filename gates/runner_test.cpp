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

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;
using fakes::fake_info;
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
Result<GateReport> chatty(const GateContext& context) {
    std::printf("noise on stdout\n");
    return well_behaved(context);
}

const GateInfo good_info = fake_info("good");
const GateInfo chatty_info = fake_info("chatty");
const GateInfo failing_info = fake_info("failing");
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
const GateInfo slow_class_info = [] {
    GateInfo info = fake_info("long_one");
    info.gate_class = GateClass::full;
    return info;
}();

const std::vector<GateEntry> fakes{
    {&good_info, &well_behaved},
    {&chatty_info, &chatty},
    {&failing_info, &failing},
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
    {&slow_class_info, &well_behaved},
};

class Recorder final : public RunnerObserver {
  public:
    void step(
        const GateInfo& gate, std::string_view phase, std::string_view what, std::size_t,
        std::size_t) override {
        if (!what.empty())
            steps.push_back(
                std::string(gate.id) + " " + std::string(phase) + " " + std::string(what));
    }
    void finished(const GateRecord& record) override { finished_ids.push_back(record.id); }
    std::vector<std::string> steps{};
    std::vector<std::string> finished_ids{};
};

RunnerConfig config_for(const fs::path& hosts, std::vector<std::string> selected) {
    RunnerConfig config;
    config.catalog = fakes;
    config.selected = std::move(selected);
    config.hosts = hosts;
    config.host = "test-host";
    config.run.commit = std::string(40, 'c');
    config.run.command = {"promtact", "gates", "run"};
    config.run.build = {"dev", "g++", "-O1", true};
    return config;
}

GateRecord record_of_gate(const std::string& id) {
    const Scratch scratch;
    Recorder recorder;
    const Result<RunOutcome> outcome = run_gates(config_for(scratch.path(), {id}), recorder);
    if (!outcome) {
        ADD_FAILURE() << describe(outcome.error());
        return {};
    }
    return outcome->records.back();
}

std::vector<fs::path> everything_in(const fs::path& folder) {
    std::vector<fs::path> all;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        all.push_back(entry.path().lexically_relative(folder));
    return all;
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

TEST(GateRunner, NamesTheSignalOfACrash) {
    const GateRecord record = record_of_gate("crashing");
    EXPECT_EQ(record.verdict, Verdict::error);
    // A sanitizer turns the signal into an exit of its own.
    EXPECT_THAT(
        record.reason, testing::AnyOf(HasSubstr("SIGSEGV"), HasSubstr("before it reported")));
    EXPECT_EQ(record.remedy, "turn it on again");
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
    EXPECT_THAT(record.reason, AllOf(HasSubstr("/nonexistent/promtact"), HasSubstr("buy one")));
    EXPECT_FALSE(record.control.has_value());
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
    const auto outcome = run_gates(config_for(scratch.path(), {"after_failing"}), recorder);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(recorder.finished_ids, ElementsAre("failing", "after_failing"));
    EXPECT_EQ(outcome->records[1].verdict, Verdict::blocked);
    EXPECT_EQ(outcome->records[1].reason, "requires failing, which ended in fail");
}

TEST(GateRunner, RunsRequirementsFirstAndReportsSteps) {
    const Scratch scratch;
    Recorder recorder;
    const auto outcome = run_gates(config_for(scratch.path(), {"after_good"}), recorder);
    ASSERT_TRUE(outcome);
    EXPECT_THAT(recorder.finished_ids, ElementsAre("good", "after_good"));
    EXPECT_THAT(
        recorder.steps, ElementsAre(
                            "good control look", "good control done", "good body look",
                            "good body done", "after_good control look", "after_good control done",
                            "after_good body look", "after_good body done"));
}

TEST(GatePlan, LeavesLongGatesToTheFullClass) {
    const auto quick = plan_gates(fakes, {}, GateClass::quick);
    const auto full = plan_gates(fakes, {}, GateClass::full);
    ASSERT_TRUE(quick);
    ASSERT_TRUE(full);
    EXPECT_EQ(full->size(), fakes.size());
    EXPECT_EQ(quick->size(), fakes.size() - 1);
    EXPECT_EQ(plan_gates(fakes, {"long_one"}, GateClass::quick)->size(), 1U);
}

TEST(GatePlan, RefusesUnknownNamesAndListsTheKnownOnes) {
    const auto plan = plan_gates(fakes, {"nosuch"}, GateClass::quick);
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().context, AllOf(HasSubstr("\"nosuch\""), HasSubstr("good, chatty")));
}

TEST(GateRunner, WritesACampaignThatReadsBack) {
    const Scratch scratch;
    Recorder recorder;
    const auto outcome = run_gates(config_for(scratch.path(), {}), recorder);
    ASSERT_TRUE(outcome) << describe(outcome.error());
    const auto campaign = load_campaign(outcome->campaign);
    ASSERT_TRUE(campaign) << campaign.error().context;
    EXPECT_EQ(campaign->records.size(), fakes.size() - 1);
    EXPECT_EQ(campaign->facts.name, "test-host");
    EXPECT_THAT(campaign->name, testing::EndsWith("-cccccccccccc"));
    for (const fs::path& path : everything_in(scratch.path()))
        EXPECT_EQ(path.string().find(".promtact-tmp-"), std::string::npos) << path;
}

TEST(GateRunner, GivesCampaignsOfOneSecondDifferentNames) {
    const Scratch scratch;
    Recorder recorder;
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(run_gates(config_for(scratch.path(), {"good"}), recorder));
    EXPECT_EQ(list_campaigns(scratch.path()).size(), 3U);
}

TEST(GateRunner, PutsFilesInANamedDirectoryAndTakesThemAway) {
    const Scratch scratch;
    const Scratch work;
    Recorder recorder;
    RunnerConfig config = config_for(scratch.path(), {"good"});
    config.options.directory = work.path();
    ASSERT_TRUE(run_gates(config, recorder));
    EXPECT_TRUE(everything_in(work.path()).empty());
}

TEST(GateRunner, SaysWhichDirectoryIsMissingAndLeavesNothing) {
    const Scratch scratch;
    Recorder recorder;
    const auto no_parent = run_gates(config_for(scratch.path() / "a/b", {"good"}), recorder);
    ASSERT_FALSE(no_parent);
    EXPECT_THAT(no_parent.error().context, HasSubstr("a/b"));

    RunnerConfig config = config_for(scratch.path() / "hosts", {"good"});
    config.options.directory = scratch.path() / "missing";
    const auto no_directory = run_gates(config, recorder);
    ASSERT_FALSE(no_directory);
    EXPECT_THAT(no_directory.error().context, HasSubstr("missing"));
    EXPECT_TRUE(everything_in(scratch.path()).empty());
}

// Runs a campaign in a process of its own and returns its wait status.
int run_in_process(const fs::path& hosts, const std::vector<std::string>& ids, std::uint64_t kill) {
    const pid_t child = ::fork();
    if (child == 0) {
        arm_kill_point(kill);
        Recorder recorder;
        const auto outcome = run_gates(config_for(hosts, ids), recorder);
        ::_exit(outcome.has_value() ? 0 : 1);
    }
    int status = 0;
    static_cast<void>(::waitpid(child, &status, 0));
    return status;
}

// Whatever was killed: each campaign that is there is complete, and reaping leaves only those.
void expect_only_whole_campaigns(const fs::path& hosts) {
    for (const CampaignName& name : list_campaigns(hosts)) {
        const auto campaign = load_campaign(hosts / name.host / name.campaign);
        EXPECT_TRUE(campaign) << campaign.error().context;
    }
    const auto reaped = reap_campaigns(hosts);
    ASSERT_TRUE(reaped) << describe(reaped.error());
    for (const fs::path& path : everything_in(hosts))
        EXPECT_EQ(path.string().find(".promtact-tmp-"), std::string::npos) << path;
}

TEST(GateRunnerKill, LeavesNoHalfResultAtAnyKillPoint) {
    std::uint64_t points = 0;
    std::uint64_t killed = 0;
    for (std::uint64_t at = 1; at <= 200; ++at) {
        const Scratch scratch;
        const int status = run_in_process(scratch.path(), {"after_good"}, at);
        expect_only_whole_campaigns(scratch.path());
        // A point inside a body kills that body; the runner goes on and reports an error.
        if (WIFSIGNALED(status)) ++killed;
        points = at;
        if (WIFEXITED(status) && list_campaigns(scratch.path()).size() == 1) {
            const auto names = list_campaigns(scratch.path());
            const auto campaign = load_campaign(scratch.path() / names[0].host / names[0].campaign);
            ASSERT_TRUE(campaign);
            const bool all_passed = std::all_of(
                campaign->records.begin(), campaign->records.end(),
                [](const GateRecord& record) { return record.verdict == Verdict::pass; });
            if (all_passed) break; // the armed point lies beyond the end
        }
    }
    EXPECT_GE(killed, 7U);
    EXPECT_LT(points, 200U);
}

Result<GateReport> waiting(const GateContext& context) {
    const fs::path mark = context.options().directory.parent_path().parent_path() / "pid";
    std::FILE* file = std::fopen(mark.c_str(), "w");
    std::fprintf(file, "%d\n", ::getpid());
    std::fclose(file);
    while (true)
        static_cast<void>(::pause());
}
const GateInfo waiting_info = fake_info("waiting");
const std::vector<GateEntry> waiting_catalog{{&waiting_info, &waiting}};

// Starts a runner whose body waits for ever; returns the runner and the body.
std::pair<pid_t, pid_t> start_waiting_run(const fs::path& hosts) {
    const pid_t runner = ::fork();
    if (runner == 0) {
        Recorder recorder;
        RunnerConfig config = config_for(hosts, {"waiting"});
        config.catalog = waiting_catalog;
        const auto outcome = run_gates(config, recorder);
        ::_exit(outcome && outcome->stopped_by == SIGTERM ? 42 : 1);
    }
    pid_t body = 0;
    for (int i = 0; i < 1000 && body == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        const auto text = read_text_file(hosts / "test-host/pid", Bytes{64});
        if (text && text->ends_with('\n')) body = static_cast<pid_t>(parse_u64(*text).value_or(0));
    }
    return {runner, body};
}

bool gone_within_two_seconds(pid_t process) {
    for (int i = 0; i < 400; ++i) {
        if (::kill(process, 0) != 0 && errno == ESRCH) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return false;
}

TEST(GateRunnerKill, TakesTheBodyAlongWhenTheRunnerIsKilled) {
    const Scratch scratch;
    const auto [runner, body] = start_waiting_run(scratch.path());
    ASSERT_GT(body, 0);
    ASSERT_EQ(::kill(runner, SIGKILL), 0);
    ASSERT_EQ(::waitpid(runner, nullptr, 0), runner);
    EXPECT_TRUE(gone_within_two_seconds(body));
    EXPECT_TRUE(list_campaigns(scratch.path()).empty());
    EXPECT_EQ(reap_campaigns(scratch.path())->size(), 1U);
}

TEST(GateRunnerKill, EndsCleanlyOnSigterm) {
    const Scratch scratch;
    const auto [runner, body] = start_waiting_run(scratch.path());
    ASSERT_GT(body, 0);
    ASSERT_EQ(::kill(runner, SIGTERM), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(runner, &status, 0), runner);
    EXPECT_EQ(WEXITSTATUS(status), 42);
    EXPECT_TRUE(gone_within_two_seconds(body));
    fs::remove(scratch.path() / "test-host/pid");
    EXPECT_TRUE(fs::is_empty(scratch.path() / "test-host"));
}

TEST(TempDirectory, OfALivingOwnerIsNotReaped) {
    const Scratch scratch;
    auto directory = TempDirectory::create(scratch.path());
    ASSERT_TRUE(directory);
    EXPECT_TRUE(reap_stale(scratch.path())->empty());
    EXPECT_TRUE(fs::exists(directory->path()));
}

TEST(TempDirectory, ReapingTouchesNothingOfAnotherName) {
    const Scratch scratch;
    fs::create_directory(scratch.path() / "promtact-tmp-1");
    fs::create_directory(scratch.path() / ".promtact-tmp-1-0");
    fs::create_directory_symlink(
        scratch.path() / "promtact-tmp-1", scratch.path() / ".promtact-tmp-2-0");
    ASSERT_EQ(reap_stale(scratch.path())->size(), 1U);
    EXPECT_TRUE(fs::exists(scratch.path() / "promtact-tmp-1"));
}

} // namespace
} // namespace promtact::gates
