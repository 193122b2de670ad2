// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/fio.hpp"

namespace promtact::harness::bench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// The shape of fio's answer, cut down to one job and the members around those that are read.
constexpr std::string_view answer = R"({
  "fio version" : "fio-3.33",
  "timestamp" : 1795994507,
  "jobs" : [
    {
      "jobname" : "peer",
      "error" : 0,
      "elapsed" : 1,
      "write" : {
        "io_bytes" : 4096000,
        "iops" : 8000.000000,
        "runtime" : 125,
        "total_ios" : 1000,
        "lat_ns" : { "min" : 40000, "mean" : 61234.5, "N" : 1000,
          "percentile" : { "50.000000" : 60928, "99.000000" : 90624 } }
      },
      "sync" : {
        "total_ios" : 0,
        "lat_ns" : { "min" : 30000, "mean" : 46000, "N" : 999,
          "percentile" : { "50.000000" : 45312 } }
      }
    }
  ]
})";

std::string with(std::string_view from, std::string_view to) {
    std::string text(answer);
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(BenchFio, ReadsTheFiguresOfOneRun) {
    const auto figures = parse_fio(answer, 1000);

    ASSERT_TRUE(figures) << figures.error().context;
    EXPECT_EQ(figures->version, "fio-3.33");
    EXPECT_EQ(figures->operations, 1000U);
    EXPECT_EQ(figures->operations_per_second, 8000U);
    EXPECT_EQ(figures->write_p50, 60928U);
    EXPECT_EQ(figures->sync_p50, 45312U);
    // A cycle of 125,000 less the means of write and sync, 61,234 and 46,000.
    EXPECT_EQ(figures->unrecorded, 17766U);
    EXPECT_EQ(figures->operation_p50(), 60928U + 45312U + 17766U);
}

struct Damage {
    const char* name;
    const char* from;
    const char* to;
    const char* says;
};

class BenchFioDamage : public ::testing::TestWithParam<Damage> {};

TEST_P(BenchFioDamage, IsRefusedWithItsPlace) {
    const auto figures = parse_fio(with(GetParam().from, GetParam().to), 1000);

    ASSERT_FALSE(figures);
    EXPECT_EQ(figures.error().code, Errc::format);
    EXPECT_THAT(figures.error().context, HasSubstr(GetParam().says));
}

const Damage damages[] = {
    {"syntax", "\"jobs\" : [", "\"jobs\" : ", "fio:"},
    {"no_write", "\"write\"", "\"read\"", "has no member \"write\""},
    {"no_sync_percentile", "{ \"50.000000\" : 45312 }", "{ }", "has no member \"50.000000\""},
    {"no_version", "\"fio version\"", "\"version\"", "has no member \"fio version\""},
    {"no_mean", "\"mean\" : 61234.5, ", "", "has no member \"mean\""},
    {"text_mean", "61234.5", "\"61234.5\"", "at least zero"},
    {"negative_mean", "61234.5", "-61234.5", "at least zero"},
    {"float_runtime", "\"runtime\" : 125", "\"runtime\" : 125.5", "must be a whole number"},
    {"text_ios", "\"total_ios\" : 1000", "\"total_ios\" : \"1000\"", "must be a whole number"},
    {"negative", "\"runtime\" : 125", "\"runtime\" : -125", "must be a whole number"},
    {"job_failed", "\"error\" : 0", "\"error\" : 5", "fio reports an error"},
    {"two_jobs", "\"jobs\" : [", "\"jobs\" : [ {}, ", "exactly one job"},
    {"duplicate_member", "\"runtime\" : 125", "\"runtime\" : 125, \"runtime\" : 5", "runtime"},
    {"too_few_writes", "\"total_ios\" : 1000", "\"total_ios\" : 999", "asked were 1000"},
    {"missing_syncs", "\"N\" : 999", "\"N\" : 998", "synced 998 times"},
    {"no_time", "\"runtime\" : 125", "\"runtime\" : 0", "time of zero"},
};

INSTANTIATE_TEST_SUITE_P(Rows, BenchFioDamage, ::testing::ValuesIn(damages), [](const auto& row) {
    return std::string(row.param.name);
});

TEST(BenchFio, AsksForTheSameWorkAsOurs) {
    const auto words = fio_words("/proc/self/fd/9", {.operations = 4000});

    EXPECT_EQ(words.front(), "fio");
    for (const char* word :
         {"--filename=/proc/self/fd/9", "--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1",
          "--direct=1", "--bs=4096", "--rw=write", "--overwrite=1", "--iodepth=1", "--fdatasync=1",
          "--size=16384000", "--output-format=json"})
        EXPECT_THAT(words, Contains(word));
    EXPECT_THAT(fio_words("x", {.operations = 1, .sync = SyncKind::fsync}), Contains("--fsync=1"));
}

TEST(BenchFio, AbsentIsUnsupportedAndNamesThePackage) {
    const char* const before = ::getenv("PATH");
    const std::string path = before == nullptr ? "" : before;
    ::setenv("PATH", "/nonexistent", 1);
    const auto version = fio_version();
    ::setenv("PATH", path.c_str(), 1);

    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().code, Errc::unsupported);
    EXPECT_THAT(version.error().context, HasSubstr("apt-get install fio"));
}

} // namespace
} // namespace promtact::harness::bench
