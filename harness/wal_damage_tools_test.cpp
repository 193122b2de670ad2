// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// `promtact wal` on what is damaged, cut off or no log at all: what is missing is counted, what is
// not a log is refused with its byte, and a kill leaves nothing in the way of the next run.
#include <fmt/format.h>

#include <promtact/base/choice.h>

#include "testing/wal_tools.hpp"

namespace promtact::harness::testing {
namespace {

constexpr int sweep_max = 60;

class WalDamageTools : public WalTools {
  protected:
    [[nodiscard]] std::string import_error(const std::string& text, int exit) const {
        write(path("lines"), text);
        const Finish refused = wal({"import", path("made"), "-from", path("lines")});
        EXPECT_EQ(refused.exit, exit) << refused.err;
        EXPECT_FALSE(fs::exists(path("made")));
        EXPECT_FALSE(fs::exists(path("made.part")));
        return refused.err;
    }
};

TEST_F(WalDamageTools, ASalvageCountsWhatIsMissingAtTheEndAndExitsSo) {
    const std::string log = make_log();
    const Finish whole = wal({"export", log, "-salvage"});
    EXPECT_EQ(whole.exit, 0);
    EXPECT_EQ(whole.out, wal({"export", log}).out);
    EXPECT_THAT(whole.err, HasSubstr("20000 records, LSN 1 to 20000; unread 0\n"));
    // The newest segment from the middle on.
    fs::resize_file(segment(log, 3), 40 * 4096);

    const Finish saved = wal({"export", log, "-salvage"});

    EXPECT_EQ(saved.exit, 7);
    EXPECT_THAT(saved.err, HasSubstr(" records, LSN 1 to 20000; unread "));
    EXPECT_THAT(saved.err, ::testing::Not(HasSubstr("unread 0")));
    EXPECT_THAT(saved.out, HasSubstr(R"(,"last":20000})"));
    EXPECT_THAT(saved.out, HasSubstr(R"(,"unread":)"));
    write(path("lines"), saved.out);
    EXPECT_EQ(wal({"import", path("copy"), "-from", path("lines")}).exit, 3);
    EXPECT_EQ(wal({"import", path("copy"), "-from", path("lines"), "-accept-gaps"}).exit, 0);
    EXPECT_THAT(wal({"verify", path("copy")}).out, HasSubstr("records 1 to 20000 (20000)"));
}

TEST_F(WalDamageTools, TextThatIsNoExportIsRefusedWithItsByte) {
    const std::string text = wal({"export", make_log()}).out;
    const std::size_t first = text.find('\n');
    std::string crlf;
    for (const char c : text)
        crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
    std::string one_cr = text;
    one_cr.insert(text.find('\n', first + 1), "\r");
    const std::string junk = text.substr(0, first + 1) + "some notes\n" + text.substr(first + 1);

    EXPECT_THAT(
        import_error(crlf, 3), HasSubstr("line 1 ends in CR LF at byte " + std::to_string(first)));
    EXPECT_THAT(
        import_error(one_cr, 3),
        HasSubstr("line 2 ends in CR LF at byte " + std::to_string(text.find('\n', first + 1))));
    EXPECT_THAT(
        import_error(junk, 3), HasSubstr("the line begins at byte " + std::to_string(first + 1)));
    EXPECT_THAT(
        import_error("Dear diary,\n", 3),
        HasSubstr("the line begins at byte 0, where an export's header must be"));
    EXPECT_THAT(import_error("\xef\xbb\xbf" + text, 3), HasSubstr("begins at byte 0"));
    EXPECT_THAT(import_error(std::string(5000, '\0') + "\n", 3), HasSubstr("begins at byte 0"));
    EXPECT_THAT(import_error("no newline", 7), HasSubstr("cut short; it begins at byte 0"));
    EXPECT_THAT(
        import_error(text.substr(0, first + 1) + std::string(5U << 20U, 'x'), 3),
        HasSubstr("line 2, which begins at byte " + std::to_string(first + 1)));
}

TEST_F(WalDamageTools, AFileThatIsNoOlderLogMakesNone) {
    for (const std::string& text :
         {std::string("short"), std::string(200, 'x'), std::string("a\r\nb\r\n"),
          std::string(3 * 4096, 'x')}) {
        write(path("notes"), text);
        for (const char* layout : {"guess", "flat", "blocks"}) {
            const Finish refused = wal({"migrate", path("notes"), path("made"), "-layout", layout});
            EXPECT_EQ(refused.exit, 3) << layout << ": " << refused.out << refused.err;
            EXPECT_THAT(refused.err, HasSubstr("byte 0"));
            EXPECT_FALSE(fs::exists(path("made")));
        }
    }
    write(path("torn"), "HYPW");
    EXPECT_EQ(wal({"migrate", path("torn"), path("made"), "-layout", "flat"}).exit, 0)
        << "the control: a first record that a crash tore";
}

TEST_F(WalDamageTools, AMigrationKilledAtAnyStepIsBegunAgain) {
    make_log();
    const std::string lines = wal({"export", path("log")}).out;
    const std::vector<std::string> words{
        "migrate", path("old"), path("again"), "-segment-mib", "1"};
    int killed = 0;
    for (int n = 1; n < sweep_max; ++n) {
        const Finish first = wal(words, {"PROMTACT_KILL_AT=" + std::to_string(n)});
        if (first.exit == 0) break;
        ASSERT_EQ(first.exit, sigkill_exit) << first.err;
        ++killed;
        // Killed behind the rename it is there; before, the next run takes over.
        const bool there = fs::exists(path("again"));
        const Finish second = wal(words);
        ASSERT_EQ(second.exit, there ? 3 : 0) << n << ": " << second.err;
        ASSERT_EQ(wal({"verify", path("again")}).exit, 0);
        ASSERT_FALSE(fs::exists(path("again.part")));
        fs::remove_all(path("again"));
    }
    EXPECT_GT(killed, 10);
    EXPECT_GT(lines.size(), records);
}

TEST_F(WalDamageTools, AMigrationKilledAtAnyTimeIsBegunAgain) {
    make_log();
    int killed = 0;
    for (std::uint64_t n = 0; n < 12; ++n) {
        const auto bits = promtact_choose(7, PROMTACT_PURPOSE_WORKLOAD, 0, n);
        const std::string after = fmt::format("0.0{:02}", 1 + promtact_bounded(bits, 40));
        const Result<Finish> first = run(
            {.program = "/usr/bin/timeout",
             .argv = {
                 "timeout", "-s", "KILL", after, built("promtact"), "wal", "migrate", path("old"),
                 path("again"), "-segment-mib", "1"}});
        ASSERT_TRUE(first.has_value());
        if (first->exit == 126 || first->exit == 127) GTEST_SKIP() << "needs timeout(1)";
        killed += first->exit == sigkill_exit ? 1 : 0;
        if (!fs::exists(path("again"))) {
            const Finish second = wal({"migrate", path("old"), path("again"), "-segment-mib", "1"});
            ASSERT_EQ(second.exit, 0) << after << ": " << second.err;
        }
        ASSERT_THAT(wal({"verify", path("again")}).out, HasSubstr("records 1 to 20000 (20000)"));
        fs::remove_all(path("again"));
    }
    EXPECT_GT(killed, 0);
}

TEST_F(WalDamageTools, ASuperWithoutAGoodSlotIsRebuilt) {
    const std::string lines = [&] { return wal({"export", make_log()}).out; }();
    const std::string log = path("log");
    const auto expect_rebuilt = [&](const char* how) {
        SCOPED_TRACE(how);
        EXPECT_EQ(wal({"verify", log}).exit, 7);
        const Finish plan = wal({"repair", log});
        EXPECT_EQ(plan.exit, 7);
        EXPECT_EQ(line_of(plan, "flag"), "-rebuild-super");
        EXPECT_EQ(wal({"repair", log, "-drop-tail"}).exit, 3);
        const Finish json = wal({"repair", log, "-json"});
        EXPECT_THAT(json.out, HasSubstr(R"("verdict": "refuse")"));
        EXPECT_THAT(json.out, HasSubstr(R"("refusal": "super lost")"));
        EXPECT_THAT(json.out, HasSubstr(R"("case": "rebuild-super")"));
        const Finish done = wal({"repair", log, "-rebuild-super"});
        EXPECT_EQ(done.exit, 0) << done.err;
        EXPECT_EQ(wal({"verify", log}).exit, 0);
        EXPECT_EQ(wal({"export", log}).out, lines);
    };
    for (int slot = 0; slot < 4; ++slot)
        flip(log + "/SUPER", slot * 4096 + 100);
    expect_rebuilt("a bit in each slot");
    write(log + "/SUPER", std::string(16384, '\0'));
    expect_rebuilt("zeros");
    write(log + "/SUPER", std::string(16384, 'x'));
    expect_rebuilt("other bytes");
    write(log + "/SUPER", "");
    expect_rebuilt("empty");
    fs::remove(log + "/SUPER");
    expect_rebuilt("gone");
}

} // namespace
} // namespace promtact::harness::testing
