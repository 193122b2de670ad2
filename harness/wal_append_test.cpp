// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The built binary makes logs and appends to them: what is printed is durable, what is refused is
// named, and a kill at any step loses nothing that was printed.
#include <promtact/base/json_reader.hpp>

#include "testing/wal_tools.hpp"

namespace promtact::harness::testing {
namespace {

/// The LSNs a text output holds, one a line.
std::vector<std::uint64_t> lsns(const std::string& out) {
    std::vector<std::uint64_t> all;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);)
        all.push_back(std::stoull(line));
    return all;
}

class WalAppend : public WalTools {
  protected:
    std::string make_small(const std::vector<std::string>& more = {}) {
        std::vector<std::string> words{"create", path("log"), "-segment-bytes", "65536"};
        words.insert(words.end(), more.begin(), more.end());
        const Finish made = wal(words);
        EXPECT_EQ(made.exit, 0) << made.err;
        return path("log");
    }
    [[nodiscard]] Finish append(
        const std::string& log, const std::string& text, std::vector<std::string> more = {},
        std::vector<std::string> environment = {}) const {
        write(path("lines"), text);
        more.insert(more.begin(), {"append", log});
        return wal_as(
            {.environment = std::move(environment), .standard_input = path("lines")}, more);
    }
    static std::string records_of(const std::string& log) { return wal({"export", log}).out; }
};

TEST_F(WalAppend, LinesBecomeRecordsAndTheirLsnsArePrinted) {
    const std::string log = make_small();

    const Finish first = append(log, "one\n\ntwo\r\nlast without a newline");
    const Finish second = append(log, "again\n", {"-type", "7", "-flags", "3", "-schema", "9"});

    EXPECT_EQ(first.exit, 0) << first.err;
    EXPECT_EQ(lsns(first.out), (std::vector<std::uint64_t>{1, 2, 3, 4}));
    EXPECT_EQ(lsns(second.out), (std::vector<std::uint64_t>{5}));
    const Finish dump = wal({"dump", log, "-payload"});
    EXPECT_THAT(dump.out, HasSubstr("record 2 type 0 flags 0 schema 0 bytes 0"));
    EXPECT_THAT(dump.out, HasSubstr("record 3 type 0 flags 0 schema 0 bytes 4\n      74776f0d"));
    EXPECT_THAT(dump.out, HasSubstr("record 5 type 7 flags 3 schema 9 bytes 5"));
    EXPECT_EQ(wal({"verify", log, "-strict"}).exit, 0);
}

TEST_F(WalAppend, ManyAppendsSpendNoSegmentEach) {
    const std::string log = make_small();
    for (int i = 0; i < 8; ++i)
        ASSERT_EQ(append(log, "x\n").exit, 0);
    EXPECT_THAT(wal({"stat", log}).out, HasSubstr("segments  1 live"));
}

TEST_F(WalAppend, AFileOrHexadecimalBecomesOneRecord) {
    const std::string log = make_small();
    write(path("binary"), std::string("\0\n\xff", 3));

    EXPECT_EQ(wal({"append", log, "-file", path("binary")}).out, "1\n");
    EXPECT_EQ(append(log, "00fFa1\n\n", {"-hex"}).out, "2\n3\n");

    const Finish dump = wal({"dump", log, "-payload"});
    EXPECT_THAT(dump.out, HasSubstr("bytes 3\n      000aff\n"));
    EXPECT_THAT(dump.out, HasSubstr("bytes 3\n      00ffa1\n"));
}

TEST_F(WalAppend, TheJsonOutputsNameWhatWasMadeAndAdded) {
    const Finish made = wal(
        {"create", path("log"), "-json", "-layout", "fixed", "-segment-bytes", "32768",
         "-first-lsn", "100"});
    EXPECT_EQ(made.exit, 0) << made.err;
    for (const char* member :
         {R"("schema": "promtact.wal-create/1")", R"("layout": "fixed")",
          R"("segment_bytes": 32768)", R"("first_lsn": 100)", R"("uuid": ")"}) {
        EXPECT_THAT(made.out, HasSubstr(member));
    }
    const std::string record(std::size_t{2} * promtact::wal::record_bytes, '0');
    const Finish added = append(path("log"), record + "\n" + record + "\n", {"-hex", "-json"});
    EXPECT_EQ(added.exit, 0) << added.err;
    for (const char* member :
         {R"("schema": "promtact.wal-append/1")", R"("records": 2)", R"("first_lsn": 100)",
          R"("next_lsn": 102)"}) {
        EXPECT_THAT(added.out, HasSubstr(member));
    }
    for (const std::string& out : {made.out, added.out}) {
        JsonProblems problems;
        EXPECT_TRUE(parse_json(out, problems, {}).has_value());
        EXPECT_TRUE(problems.empty());
    }
}

TEST_F(WalAppend, ARefusedRecordIsNamedAndThoseBeforeItStay) {
    const std::string log = make_small();

    const Finish hex = append(log, "00\n0g\n11\n", {"-hex"});
    const Finish large = append(log, "small\n" + std::string(70'000, 'x') + "\n");
    write(path("large"), std::string(70'000, 'x'));
    const Finish file = wal({"append", log, "-file", path("large")});

    EXPECT_EQ(hex.exit, 3);
    EXPECT_EQ(hex.out, "1\n");
    EXPECT_THAT(hex.err, HasSubstr("line 2: byte 1 of it is no hexadecimal digit"));
    EXPECT_EQ(large.exit, 3);
    EXPECT_EQ(large.out, "2\n");
    EXPECT_THAT(large.err, HasSubstr("line 2, which begins at byte 6, is longer than"));
    EXPECT_EQ(file.exit, 3);
    EXPECT_THAT(file.err, HasSubstr("bytes one record of this log may have"));
    EXPECT_THAT(wal({"verify", log}).out, HasSubstr("stands    records 1 to 2 (2)"));
    const std::string fixed = path("fixed");
    ASSERT_EQ(wal({"create", fixed, "-layout", "fixed", "-segment-bytes", "65536"}).exit, 0);
    const Finish length = append(fixed, "short\n");
    EXPECT_EQ(length.exit, 3);
    EXPECT_THAT(length.err, HasSubstr("a record of 5 bytes does not fit; the limit is 112"));
}

TEST_F(WalAppend, TheLastLsnIsTakenAndTheNextRefusedWithTheRemedy) {
    const std::string last = std::to_string(promtact::wal::lsn_last);
    const std::string log = make_small({"-first-lsn", last});

    const Finish full = append(log, "fits\ndoes not\n");

    EXPECT_EQ(full.exit, 3);
    EXPECT_EQ(full.out, last + "\n");
    EXPECT_THAT(full.err, HasSubstr("the last LSN of a log is " + last));
    EXPECT_EQ(wal({"verify", log}).exit, 0);
    EXPECT_EQ(wal({"create", path("more"), "-first-lsn", "4611686018427387903"}).exit, 2);
    write(path("lines"), wal({"export", log}).out);
    EXPECT_EQ(wal({"import", path("copy"), "-from", path("lines")}).exit, 0);
    EXPECT_EQ(records_of(path("copy")), records_of(log));
}

TEST_F(WalAppend, WhereThereIsNoLogNothingIsMade) {
    fs::create_directory(path("empty"));
    fs::create_directory(path("other"));
    write(path("other") + "/notes", "mine");

    const Finish empty = append(path("empty"), "x\n");
    const Finish other = append(path("other"), "x\n");

    EXPECT_EQ(empty.exit, 1);
    EXPECT_THAT(empty.err, HasSubstr("`promtact wal create` makes one"));
    EXPECT_EQ(other.exit, 3);
    EXPECT_THAT(other.err, HasSubstr("is not a log"));
    EXPECT_EQ(wal({"create", path("other")}).exit, 3);
    EXPECT_TRUE(fs::is_empty(path("empty")));
    EXPECT_EQ(read(path("other") + "/notes"), "mine");
    EXPECT_EQ(fs::exists(path("other") + "/LOCK"), false);
    EXPECT_EQ(wal({"create", path("empty"), "-segment-bytes", "65536"}).exit, 0) << "in place";
    EXPECT_EQ(wal({"create", path("empty")}).exit, 3) << "a log is there";
    EXPECT_EQ(wal({"create", path("log"), "-segment-bytes", "65537"}).exit, 2);
}

TEST_F(WalAppend, ADamagedLogIsNotAppendedTo) {
    const std::string log = make_log();
    flip(segment(log, 1), 10 * 4096 + 200);
    const std::string before = state_of(log);

    const Finish refused = append(log, std::string(112, 'x') + "\n");

    EXPECT_EQ(refused.exit, 7);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(state_of(log), before);
}

TEST_F(WalAppend, ACreateKilledAtAnyStepIsBegunAgain) {
    int killed = 0;
    for (int n = 1; n < 100; ++n) {
        const std::string log = path("killed");
        fs::remove_all(log);
        const std::vector<std::string> words{"create", log, "-segment-bytes", "65536"};
        const Finish first = wal(words, {"PROMTACT_KILL_AT=" + std::to_string(n)});
        if (first.exit == 0) break;
        ASSERT_EQ(first.exit, sigkill_exit) << first.err;
        ++killed;
        const Finish second = wal(words);
        // Once its first segment has its name the log is there, and is not made twice.
        ASSERT_TRUE(second.exit == 0 || second.exit == 3) << n << ": " << second.err;
        ASSERT_EQ(append(log, "x\n").out, "1\n") << n;
        ASSERT_EQ(wal({"verify", log}).exit, 0);
    }
    EXPECT_GT(killed, 5);
}

TEST_F(WalAppend, WhatWasPrintedStaysHoweverItIsKilled) {
    const std::string log = make_small();
    std::string text;
    for (int i = 0; i < 3000; ++i)
        text += "record " + std::to_string(i) + "\n";
    std::uint64_t printed = 0;
    int killed = 0;
    for (int n = 1; n < 60; n += 3) {
        const Finish finish = append(log, text, {}, {"PROMTACT_KILL_AT=" + std::to_string(n)});
        killed += finish.exit == sigkill_exit ? 1 : 0;
        ASSERT_TRUE(finish.exit == 0 || finish.exit == sigkill_exit) << finish.err;
        const auto taken = lsns(finish.out);
        if (!taken.empty()) printed = std::max(printed, taken.back());
        const Finish verify = wal({"verify", log, "-json"});
        ASSERT_EQ(verify.exit, 0) << n << verify.out;
        const std::size_t at = verify.out.find("\"next_lsn\": ");
        ASSERT_GT(std::stoull(verify.out.substr(at + 12)), printed);
    }
    EXPECT_GT(killed, 3);
    EXPECT_GT(printed, 3000U);
}

} // namespace
} // namespace promtact::harness::testing
