// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fstream>
#include <functional>
#include <string>

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/gates/campaign.hpp>

#include "testing/fake_gates_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;
using fakes::fake_info;
using fakes::Scratch;
using testing::HasSubstr;

const GateInfo good_info = fake_info("good");

GateRecord sample() {
    GateRecord record = record_of(good_info, GateClass::quick);
    record.verdict = Verdict::pass;
    record.control = ControlRecord{"turn_it_off", "fail", "fail", "off"};
    record.run.started_at = "2026-11-29T20:48:20Z";
    record.run.commit = std::string(40, 'c');
    return record;
}

fs::path write_campaign(const fs::path& hosts) {
    Result<CampaignWriter> writer = CampaignWriter::open(hosts, "test-host");
    EXPECT_TRUE(writer);
    HostFacts facts = collect_host_facts("test-host", hosts);
    EXPECT_TRUE(writer->write_host(facts));
    GateRecord record = sample();
    EXPECT_TRUE(writer->add(record));
    const Result<fs::path> path = writer->finish(1'800'000'000, record.run.commit);
    EXPECT_TRUE(path) << describe(path.error());
    return *path;
}

void append(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::app) << text;
}

struct Damage {
    const char* name;
    std::function<void(const fs::path&)> harm;
    const char* says;
};

class CampaignReader : public testing::TestWithParam<Damage> {};

TEST_P(CampaignReader, RefusesADamagedCampaign) {
    const Scratch scratch;
    const fs::path campaign = write_campaign(scratch.path());
    ASSERT_TRUE(load_campaign(campaign));

    GetParam().harm(campaign);

    const Result<Campaign> damaged = load_campaign(campaign);
    ASSERT_FALSE(damaged);
    EXPECT_THAT(damaged.error().context, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, CampaignReader,
    testing::Values(
        Damage{
            "ChangedResult", [](const fs::path& c) { append(c / "good.json", " "); },
            "good.json: checksum differs"},
        Damage{
            "ChangedHost", [](const fs::path& c) { append(c / "host.json", " "); },
            "host.json: checksum differs"},
        Damage{
            "MissingResult", [](const fs::path& c) { fs::remove(c / "good.json"); }, "good.json"},
        Damage{
            "MissingSums", [](const fs::path& c) { fs::remove(c / "SHA256SUMS"); }, "SHA256SUMS"},
        Damage{
            "Stranger", [](const fs::path& c) { append(c / "extra.json", "{}"); },
            "extra.json: is not listed"},
        Damage{
            "LinkToItself", [](const fs::path& c) { fs::create_symlink("x.json", c / "x.json"); },
            "x.json: is not listed"},
        Damage{
            "ResultIsALinkToItself",
            [](const fs::path& c) {
                fs::remove(c / "good.json");
                fs::create_symlink("good.json", c / "good.json");
            },
            "good.json"},
        Damage{
            "ResultIsAPipe",
            [](const fs::path& c) {
                fs::remove(c / "good.json");
                ASSERT_EQ(::mkfifo((c / "good.json").c_str(), 0600), 0);
            },
            "which is no file"},
        Damage{
            "GarbledSums", [](const fs::path& c) { append(c / "SHA256SUMS", "zz\n"); },
            "SHA256SUMS:3: must be 64"},
        Damage{
            "EscapingName",
            [](const fs::path& c) {
                append(
                    c / "SHA256SUMS", std::string("000000000000000000000000000000000000000000000000"
                                                  "0000000000000000  ../x.json\n"));
            },
            "not allowed"}),
    [](const testing::TestParamInfo<Damage>& row) { return row.param.name; });

TEST(Campaign, UnderAnotherHostsFolderIsRefused) {
    const Scratch scratch;
    const fs::path campaign = write_campaign(scratch.path());
    fs::create_directory(scratch.path() / "other-host");
    const fs::path moved = scratch.path() / "other-host" / campaign.filename();
    fs::rename(campaign, moved);
    const Result<Campaign> loaded = load_campaign(moved);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().context, HasSubstr("host.json names test-host"));
}

TEST(Campaign, NamesAreTimeAndCommit) {
    EXPECT_TRUE(is_campaign_name("20261129T204820Z-0123456789ab"));
    EXPECT_TRUE(is_campaign_name("20261129T204820Z-unknown"));
    for (const std::string_view bad :
         {"", "20261129T204820Z", "20261129-0123456789ab", "20261329T204820Z-0123456789ab",
          "20261129T204820Z-0123456789AB", ".promtact-tmp-1-0", "20261129T204820Z-0123456789abc"})
        EXPECT_FALSE(is_campaign_name(bad)) << bad;
}

TEST(Campaign, IsListedInSortedOrder) {
    const Scratch scratch;
    const fs::path first = write_campaign(scratch.path());
    const fs::path second = write_campaign(scratch.path());
    const auto names = list_campaigns(scratch.path());
    ASSERT_EQ(names.size(), 2U);
    EXPECT_EQ(names[0].campaign, first.filename());
    EXPECT_EQ(names[1].campaign, second.filename());
    EXPECT_TRUE(list_campaigns(scratch.path() / "missing").empty());
}

TEST(CampaignWriter, AbandonedLeavesTheFolderAsItWas) {
    const Scratch scratch;
    {
        auto writer = CampaignWriter::open(scratch.path() / "hosts", "test-host");
        ASSERT_TRUE(writer);
        ASSERT_TRUE(writer->write_host(collect_host_facts("test-host", scratch.path())));
    }
    EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(CampaignWriter, RefusesHostNamesThatArePaths) {
    const Scratch scratch;
    EXPECT_FALSE(CampaignWriter::open(scratch.path(), "../x"));
    EXPECT_TRUE(fs::is_empty(scratch.path()));
}

} // namespace
} // namespace promtact::gates
