// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

constexpr std::array<std::string_view, 1> needs_good{"good"};
const GateInfo good_info = fake_info("good");
const GateInfo after_good_info = [] {
    GateInfo info = fake_info("after_good");
    info.requires_gates = needs_good;
    return info;
}();
const std::vector<GateEntry> pair_catalog{
    {&good_info, &well_behaved}, {&after_good_info, &well_behaved}};

// Runs a campaign in a process of its own and returns its wait status.
int run_in_process(const fs::path& hosts, const std::vector<std::string>& ids, std::uint64_t kill) {
    const pid_t child = ::fork();
    if (child == 0) {
        arm_kill_point(kill);
        Recorder recorder;
        const auto outcome = run_gates(config_for(pair_catalog, hosts, ids), recorder);
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
        const RunnerConfig config = config_for(waiting_catalog, hosts, {"waiting"});
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

TEST(GateRunnerKill, OutlivesAHangUpThatItsStarterIgnores) {
    const Scratch scratch;
    ASSERT_NE(::signal(SIGHUP, SIG_IGN), SIG_ERR);
    const auto [runner, body] = start_waiting_run(scratch.path());
    ASSERT_NE(::signal(SIGHUP, SIG_DFL), SIG_ERR);
    ASSERT_GT(body, 0);
    ASSERT_EQ(::kill(runner, SIGHUP), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    int status = 0;
    EXPECT_EQ(::waitpid(runner, &status, WNOHANG), 0);
    ASSERT_EQ(::kill(runner, SIGTERM), 0);
    ASSERT_EQ(::waitpid(runner, &status, 0), runner);
    EXPECT_EQ(WEXITSTATUS(status), 42);
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
