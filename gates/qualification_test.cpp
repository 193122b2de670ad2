// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdlib>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/campaign.hpp>
#include <promtact/gates/qualification.hpp>

#include "testing/fake_gates_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;
using fakes::Scratch;
using testing::ElementsAre;
using testing::HasSubstr;

const GateInfo info = fakes::fake_info("direct_wal");

struct Written {
    std::string kernel = "6.18.0";
    std::string device = "vda";
    std::uint64_t revision = 2;
    Verdict verdict = Verdict::pass;
    std::int64_t time = 1'800'000'000;
};

fs::path write(const fs::path& hosts, const Written& what) {
    auto writer = CampaignWriter::open(hosts, "test-host");
    HostFacts facts;
    facts.name = "test-host";
    facts.kernel.release = what.kernel;
    facts.kernel.version = "#1 SMP";
    facts.storage.device = what.device;
    facts.storage.journal = "unknown";
    EXPECT_TRUE(writer->write_host(facts));
    GateRecord record = record_of(info, GateClass::quick);
    record.revision = what.revision;
    record.verdict = what.verdict;
    if (what.verdict != Verdict::pass) record.reason = "record 7 is corrupt";
    record.control = ControlRecord{"turn_it_off", "fail", "fail", ""};
    record.run.started_at = "2026-11-29T20:48:20Z";
    record.run.commit = "unknown";
    EXPECT_TRUE(writer->add(record));
    const auto path = writer->finish(what.time, "unknown");
    EXPECT_TRUE(path);
    return *path;
}

Qualification ask(const fs::path& hosts) {
    const std::vector<fs::path> folders{hosts};
    return qualify(
        {.gate = "direct_wal",
         .revision = 2,
         .kernel = "6.18.0",
         .kernel_version = "#1 SMP",
         .device = "vda"},
        folders);
}

TEST(Qualification, IsGivenByAPassForThisKernelDeviceAndRevision) {
    const Scratch scratch;
    const fs::path campaign = write(scratch.path(), {});
    const Qualification answer = ask(scratch.path());
    EXPECT_TRUE(answer.qualified) << answer.reason;
    EXPECT_EQ(answer.campaign, campaign);
}

TEST(Qualification, NeedsAResult) {
    const Scratch scratch;
    const Qualification answer = ask(scratch.path());
    EXPECT_FALSE(answer.qualified);
    EXPECT_THAT(answer.reason, HasSubstr("there is no result of direct_wal"));
    EXPECT_THAT(answer.reason, HasSubstr("promtact gates run direct_wal"));
}

struct Misfit {
    const char* name;
    Written written;
    const char* says;
};

class QualificationRefuses : public testing::TestWithParam<Misfit> {};

TEST_P(QualificationRefuses, WithTheReason) {
    const Scratch scratch;
    write(scratch.path(), GetParam().written);
    const Qualification answer = ask(scratch.path());
    EXPECT_FALSE(answer.qualified);
    EXPECT_THAT(answer.reason, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, QualificationRefuses,
    testing::Values(
        Misfit{"OtherKernel", {.kernel = "6.1.0"}, "under kernel 6.1.0 #1 SMP, this is 6.18.0"},
        Misfit{"OtherDevice", {.device = "sdb"}, "for device sdb, the data is on vda"},
        Misfit{"OldRevision", {.revision = 1}, "at revision 1, revision 2 is needed"},
        Misfit{"Failed", {.verdict = Verdict::fail}, "ended in fail in "},
        Misfit{"Grey", {.verdict = Verdict::denied}, "ended in denied in "}),
    [](const testing::TestParamInfo<Misfit>& row) { return row.param.name; });

TEST(Qualification, IsDecidedByTheNewestResult) {
    const Scratch scratch;
    write(scratch.path(), {.verdict = Verdict::pass, .time = 1'800'000'000});
    write(scratch.path(), {.verdict = Verdict::fail, .time = 1'800'000'100});
    EXPECT_FALSE(ask(scratch.path()).qualified);
    write(scratch.path(), {.verdict = Verdict::pass, .time = 1'800'000'200});
    EXPECT_TRUE(ask(scratch.path()).qualified);
}

TEST(Qualification, IsNotGivenByABrokenCampaign) {
    const Scratch scratch;
    const fs::path campaign = write(scratch.path(), {});
    std::ofstream(campaign / "direct_wal.json", std::ios::app) << " ";
    const Qualification answer = ask(scratch.path());
    EXPECT_FALSE(answer.qualified);
    EXPECT_THAT(answer.reason, HasSubstr("1 broken campaigns were ignored"));
}

TEST(Qualification, AsksAboutTheRunningKernel) {
    const QualificationQuestion question = qualification_question("direct_wal", 3, "/tmp");
    EXPECT_FALSE(question.kernel.empty());
    EXPECT_FALSE(question.device.empty());
    EXPECT_EQ(question.revision, 3U);
}

TEST(ResultFolders, ComeFromTheFlagThenTheEnvironmentThenTheTree) {
    const Scratch scratch;
    fs::create_directories(scratch.path() / "results/hosts");
    ASSERT_EQ(::setenv("PROMTACT_RESULTS", "/a:/b", 1), 0);
    EXPECT_THAT(result_folders("/x:/y"), ElementsAre("/x", "/y"));
    EXPECT_THAT(result_folders(""), ElementsAre("/a", "/b"));
    ASSERT_EQ(::unsetenv("PROMTACT_RESULTS"), 0);
    EXPECT_THAT(result_folders(""), ElementsAre("results/hosts"));
    const fs::path results = scratch.path() / "results";
    EXPECT_THAT(result_folders(results.string()), ElementsAre(results / "hosts"));
}

} // namespace
} // namespace promtact::gates
