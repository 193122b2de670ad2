// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The built binary on real directories: a log is migrated, looked at, damaged, refused, mended,
// exported and imported, and killed at every step of what changes something.
#include <fcntl.h>
#include <sys/file.h>

#include <promtact/base/unique_fd.hpp>

#include "testing/wal_tools.hpp"

namespace promtact::harness::testing {
namespace {

TEST_F(WalTools, LookingNamesWhatIsThereAndChangesNothing) {
    const std::string log = make_log();
    const std::string before = state_of(log);

    const Finish verify = wal({"verify", log});
    const Finish stat = wal({"stat", log, "-json"});
    const Finish dump = wal({"dump", log, "-records", "-from", "19999"});
    const Finish blocks = wal({"dump", log, "-segment", "1", "-json"});
    const Finish repair = wal({"repair", log});

    EXPECT_EQ(verify.exit, 0) << verify.err;
    EXPECT_THAT(verify.out, HasSubstr("verdict   ok\n"));
    EXPECT_THAT(verify.out, HasSubstr("stands    records 1 to 20000 (20000)"));
    EXPECT_THAT(stat.out, HasSubstr("\"records\": 20000"));
    EXPECT_THAT(dump.out, HasSubstr("record 20000 type 0"));
    EXPECT_THAT(dump.out, ::testing::Not(HasSubstr("record 19998 ")));
    EXPECT_THAT(blocks.out, HasSubstr("\"what\":\"header\""));
    EXPECT_THAT(repair.out, HasSubstr("verdict   ok"));
    EXPECT_EQ(state_of(log), before);
}

TEST_F(WalTools, AnExportMakesTheSameLogAgain) {
    const std::string log = make_log();
    const Finish first = wal({"export", log});
    ASSERT_EQ(first.exit, 0) << first.err;
    write(path("lines"), first.out);

    const Finish made = wal({"import", path("again"), "-from", path("lines")});

    ASSERT_EQ(made.exit, 0) << made.err;
    EXPECT_EQ(wal({"export", path("again")}).out, first.out);
    EXPECT_EQ(wal({"import", path("again"), "-from", path("lines")}).exit, 3) << "it is there";
    write(path("cut"), first.out.substr(0, first.out.size() / 2));
    const Finish cut = wal({"import", path("cut-log"), "-from", path("cut")});
    EXPECT_EQ(cut.exit, 7);
    EXPECT_FALSE(fs::exists(path("cut-log"))) << "whole or not at all";
    EXPECT_FALSE(fs::exists(path("cut-log.part")));
}

TEST_F(WalTools, DamageIsSaidInWordsAndMendedOnlyWithItsFlag) {
    const std::string log = make_log();
    flip(segment(log, 2), 10 * 4096 + 200);
    const std::string before = state_of(log);

    const Finish verify = wal({"verify", log});
    EXPECT_EQ(verify.exit, 7);
    EXPECT_THAT(verify.out, HasSubstr("verdict   refused: "));
    EXPECT_THAT(verify.out, HasSubstr("wal-0000000000000002.seg, block 10 (byte 40960)"));
    EXPECT_THAT(verify.out, HasSubstr("lost      every record from "));
    EXPECT_EQ(wal({"export", log}).exit, 7);
    EXPECT_EQ(wal({"dump", log}).exit, 7);
    const Finish plan = wal({"repair", log});
    EXPECT_EQ(plan.exit, 7);
    EXPECT_THAT(plan.out, HasSubstr("would     replace wal-0000000000000002.seg"));
    const std::size_t at = plan.out.find("flag      -truncate-at ");
    ASSERT_NE(at, std::string::npos) << plan.out;
    const std::string lsn = plan.out.substr(at + 23, plan.out.find('\n', at) - at - 23);
    EXPECT_EQ(wal({"repair", log, "-drop-tail"}).exit, 3);
    EXPECT_EQ(state_of(log), before);

    const Finish done = wal({"repair", log, "-truncate-at", lsn});

    EXPECT_EQ(done.exit, 0) << done.err;
    EXPECT_EQ(wal({"verify", log}).exit, 0);
    EXPECT_TRUE(fs::exists(segment(log, 2) + ".quarantine"));
    EXPECT_TRUE(fs::exists(log + "/SUPER.quarantine"));
}

TEST_F(WalTools, ARepairKilledAtAnyStepIsBegunAgain) {
    const std::string log = make_log();
    flip(segment(log, 2), 10 * 4096 + 200);
    const std::string plan = wal({"repair", log}).out;
    const std::size_t at = plan.find("-truncate-at ");
    ASSERT_NE(at, std::string::npos) << plan;
    const std::string lsn = plan.substr(at + 13, plan.find('\n', at) - at - 13);
    int killed = 0;
    for (int n = 1; n < 200; ++n) {
        const std::string copy = path("copy");
        fs::remove_all(copy);
        fs::copy(log, copy);
        const Finish first =
            wal({"repair", copy, "-truncate-at", lsn}, {"PROMTACT_KILL_AT=" + std::to_string(n)});
        if (first.exit == 0) break;
        ASSERT_EQ(first.exit, sigkill_exit) << first.err;
        ++killed;
        const Finish second = wal({"repair", copy, "-truncate-at", lsn});
        ASSERT_EQ(second.exit, 0) << n << ": " << second.err;
        ASSERT_EQ(wal({"verify", copy}).exit, 0);
        for (const auto& entry : fs::directory_iterator(copy)) {
            EXPECT_FALSE(entry.path().string().ends_with("SUPER.repair"));
            EXPECT_FALSE(entry.path().string().ends_with(".quarantine-part"));
        }
    }
    EXPECT_GT(killed, 10);
}

TEST_F(WalTools, ARunningLogIsBusyAndLinksAreRefused) {
    const std::string log = make_log();
    {
        const UniqueFd lock{::open((log + "/LOCK").c_str(), O_RDWR | O_CLOEXEC)};
        ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
        for (const char* verb :
             {"verify", "stat", "dump", "repair", "export", "create", "append"}) {
            const Finish busy = wal({verb, log});
            EXPECT_EQ(busy.exit, 3) << verb;
            EXPECT_THAT(busy.err, HasSubstr("is open in another process; stop it first"));
        }
    }
    {
        const UniqueFd lock{::open((log + "/LOCK").c_str(), O_RDONLY | O_CLOEXEC)};
        ASSERT_EQ(::flock(lock.get(), LOCK_SH), 0);
        EXPECT_EQ(wal({"verify", log}).exit, 0) << "several may look";
        EXPECT_EQ(wal({"repair", log, "-drop-tail"}).exit, 3);
    }
    fs::rename(segment(log, 2), path("elsewhere"));
    fs::create_symlink(path("elsewhere"), segment(log, 2));
    const Finish link = wal({"verify", log});
    EXPECT_EQ(link.exit, 3);
    EXPECT_THAT(link.out, HasSubstr("not a regular file"));
    write(log + "/notes \x1b[2J.txt", "mine");
    EXPECT_THAT(wal({"verify", log}).out, HasSubstr("\\x1b[2J.txt"));
    fs::remove(log + "/LOCK");
    fs::create_symlink(path("elsewhere"), log + "/LOCK");
    EXPECT_EQ(wal({"verify", log}).exit, 3);
}

TEST_F(WalTools, AMigrationLeavesTheOldFileAndNamesItsDamage) {
    make_log();
    const std::string before = read(path("old"));
    flip(path("old"), 112 * 50 + 30);
    const Finish damaged = wal({"migrate", path("old"), path("new")});
    EXPECT_EQ(damaged.exit, 7);
    EXPECT_THAT(damaged.err, HasSubstr("record 50"));
    EXPECT_FALSE(fs::exists(path("new")));
    flip(path("old"), 112 * 50 + 30);
    EXPECT_EQ(read(path("old")), before);
    EXPECT_EQ(wal({"migrate", path("old"), path("old")}).exit, 3);
    write(path("junk"), std::string(5000, 'x'));
    EXPECT_EQ(wal({"migrate", path("junk"), path("new")}).exit, 3);
    fs::create_directory(path("new"));
    EXPECT_EQ(wal({"migrate", path("old"), path("new")}).exit, 0) << "an empty one is taken";
}

} // namespace
} // namespace promtact::harness::testing
