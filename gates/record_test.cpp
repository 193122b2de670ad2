// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/record.hpp>

namespace promtact::gates {
namespace {

using testing::HasSubstr;

GateRecord sample_record() {
    Histogram latency;
    for (std::uint64_t i = 1; i <= 1000; ++i)
        latency.record(i * 1777);
    GateRecord record;
    record.id = "direct_wal";
    record.revision = 3;
    record.tier = "storage";
    record.gate_class = "quick";
    record.sample = "quick";
    record.title = "records survive a close";
    record.qualifies = {"wal", "uring"};
    record.requires_gates = {"direct_io"};
    record.verdict = Verdict::pass;
    record.summary = "1,000 records replayed bit-exact";
    record.control = ControlRecord{"flip_a_byte", "fail", "fail", "record 17 is corrupt"};
    record.run.started_at = "2026-11-29T20:48:20Z";
    record.run.duration_ns = 412'000'000;
    record.run.commit = std::string(40, 'a');
    record.run.command = {"promtact", "gates", "run"};
    record.run.build = {"release", "g++ 12.2.0", "-O2 -g", true};
    record.run.seed = 0x4A2C;
    record.host = "host.json#sha256:" + std::string(64, '0');
    record.parameters = {
        {"operations", std::uint64_t{1000}},
        {"filesystem", std::string("ext4")},
        {"journal", true}};
    record.measurements = {
        {"latency", "ns", "one clock pair per operation", latency},
        {"throughput", "operations_per_second", "count over time", Scalar{7170}},
        {"flushes_per_operation", "count", "sysfs", Ratio{1000, 1000}}};
    record.peers = {{"fio", "3.33"}};
    record.samples = {{"throughput", "operations_per_second", {1, 2, 3}}};
    record.establishes = "records come back";
    record.does_not_establish = "speed";
    record.notes = {"a \"note\""};
    return record;
}

TEST(GateRecord, SurvivesItsOwnTextByteForByte) {
    const Result<std::string> text = to_json(sample_record());
    ASSERT_TRUE(text) << text.error().context;
    const Result<GateRecord> back = gate_record_from_json(*text, "x.json");
    ASSERT_TRUE(back) << back.error().context;

    const Result<std::string> again = to_json(*back);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, *text);
    EXPECT_EQ(back->run, sample_record().run);
    EXPECT_EQ(back->control, sample_record().control);
    EXPECT_EQ(back->samples, sample_record().samples);
    EXPECT_EQ(back->peers, sample_record().peers);
}

struct Breakage {
    const char* name;
    std::function<void(GateRecord&)> edit;
    const char* says;
};

class GateRecordWriter : public testing::TestWithParam<Breakage> {};

TEST_P(GateRecordWriter, RefusesToWriteWhatItWouldNotRead) {
    GateRecord record = sample_record();
    GetParam().edit(record);
    const Result<std::string> text = to_json(record);
    ASSERT_FALSE(text);
    EXPECT_THAT(text.error().context, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, GateRecordWriter,
    testing::Values(
        Breakage{"PassWithReason", [](GateRecord& r) { r.reason = "x"; }, "must be null"},
        Breakage{"FailWithoutReason", [](GateRecord& r) { r.verdict = Verdict::fail; }, "required"},
        Breakage{
            "PassWithoutControl", [](GateRecord& r) { r.control.reset(); }, "observed to fail"},
        Breakage{
            "PassWithPassingControl", [](GateRecord& r) { r.control->observed = "pass"; },
            "observed to fail"},
        Breakage{"ForeignTier", [](GateRecord& r) { r.tier = "moon"; }, "tier"},
        Breakage{"BadId", [](GateRecord& r) { r.id = "../x"; }, "a-z, 0-9"},
        Breakage{"ShortCommit", [](GateRecord& r) { r.run.commit = "abc"; }, "40 hexadecimal"},
        Breakage{"BadTime", [](GateRecord& r) { r.run.started_at = "yesterday"; }, "started_at"},
        Breakage{"BadHost", [](GateRecord& r) { r.host = "host.json"; }, "host.json#sha256:"},
        Breakage{"RevisionZero", [](GateRecord& r) { r.revision = 0; }, "revision"},
        Breakage{
            "MeasurementTwice",
            [](GateRecord& r) { r.measurements.push_back(r.measurements.front()); },
            "appears twice"},
        Breakage{
            "ZeroDenominator",
            [](GateRecord& r) {
                r.measurements.back().value = Ratio{1, 0};
            },
            "denominator"}),
    [](const testing::TestParamInfo<Breakage>& row) { return row.param.name; });

TEST(GateRecordReader, RefusesAPercentileThatTheHistogramDoesNotGive) {
    std::string text = *to_json(sample_record());
    const auto at = text.find("\"p99\": ");
    ASSERT_NE(at, std::string::npos);
    text.replace(at, 8, "\"p99\": 9");
    const Result<GateRecord> record = gate_record_from_json(text, "x.json");
    ASSERT_FALSE(record);
    EXPECT_THAT(record.error().context, HasSubstr("but the histogram gives"));
}

TEST(GateRecordReader, RefusesUnknownFieldsAndCollectsAllProblems) {
    std::string text = *to_json(sample_record());
    text.replace(text.find("\"tier\": \"storage\""), 17, "\"tier\": 7, \"x\": 1");
    const Result<GateRecord> record = gate_record_from_json(text, "x.json");
    ASSERT_FALSE(record);
    EXPECT_THAT(record.error().context, HasSubstr("field \"tier\" must be a string"));
    EXPECT_THAT(record.error().context, HasSubstr("unknown field \"x\""));
}

TEST(GateReport, CrossesThePipeUnchanged) {
    GateReport report;
    report.verdict = Verdict::fail;
    report.reason = "byte 7 differs \xFF";
    report.measurements = sample_record().measurements;
    report.parameters = sample_record().parameters;
    report.notes = {"n"};

    const Result<GateOutcome> back = outcome_from_json(report_to_json(report));

    ASSERT_TRUE(back) << back.error().context;
    ASSERT_FALSE(back->error.has_value());
    EXPECT_EQ(back->report.verdict, Verdict::fail);
    EXPECT_EQ(back->report.reason, "byte 7 differs \xEF\xBF\xBD");
    EXPECT_EQ(report_to_json(back->report), report_to_json(report));
}

TEST(GateReport, CarriesErrorsWithCodeAndErrno) {
    const Error error{Errc::denied, 1, "CAP_NET_ADMIN"};
    const Result<GateOutcome> back = outcome_from_json(report_to_json(error));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->error, error);
}

} // namespace
} // namespace promtact::gates
