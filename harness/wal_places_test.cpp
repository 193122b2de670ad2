// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// `promtact wal` where it does not own the place: another user's directory, one it may not read, a
// full and a read-only filesystem, a directory that holds no log.
#include <optional>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/error_text.hpp>

#include "small_filesystem.hpp"
#include "testing/wal_tools.hpp"

namespace promtact::harness::testing {
namespace {

constexpr uid_t service = 65534;

class WalPlaces : public WalTools {
  protected:
    void SetUp() override {
        fs::permissions(path(""), fs::perms{0755}); // the service passes through
    }
    /// The directory and what is in it, to the service.
    static void give(const std::string& directory) {
        ASSERT_EQ(::chown(directory.c_str(), service, service), 0);
        for (const auto& entry : fs::directory_iterator(directory))
            ASSERT_EQ(::chown(entry.path().c_str(), service, service), 0);
    }
    static void expect_all_given(const std::string& directory) {
        struct stat status {};
        ASSERT_EQ(::stat(directory.c_str(), &status), 0);
        EXPECT_EQ(status.st_uid, service) << directory;
        for (const auto& entry : fs::directory_iterator(directory)) {
            ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
            EXPECT_EQ(status.st_uid, service) << entry.path();
            EXPECT_EQ(status.st_gid, service) << entry.path();
        }
    }
    [[nodiscard]] Finish as_service(const std::vector<std::string>& words) const {
        return wal_as({.standard_input = path("one"), .as_nobody = true}, words);
    }
    std::string make_small(const std::string& log, const char* segment_bytes = "65536") {
        EXPECT_EQ(wal({"create", log, "-segment-bytes", segment_bytes}).exit, 0);
        std::string text;
        for (int i = 0; i < 4000; ++i)
            text += "record " + std::to_string(i) + "\n";
        write(path("one"), "one\n");
        write(path("many"), text);
        EXPECT_EQ(wal_as({.standard_input = path("many")}, {"append", log}).exit, 0);
        return log;
    }
};

TEST_F(WalPlaces, WhatRootMakesInAServicesDirectoryIsTheServices) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const std::string log = make_small(path("log"));
    fs::remove(log + "/LOCK");
    give(log);
    flip(segment(log, 1), 5 * 4096 + 200);
    const std::string lsn = line_of(wal({"repair", log}), "flag      -truncate-at");
    ASSERT_FALSE(lsn.empty());

    const Finish repaired = wal({"repair", log, "-truncate-at", lsn});
    const Finish appended = wal_as({.standard_input = path("many")}, {"append", log});

    EXPECT_EQ(repaired.exit, 0) << repaired.err;
    EXPECT_EQ(appended.exit, 0) << appended.err;
    EXPECT_TRUE(fs::exists(log + "/LOCK"));
    EXPECT_TRUE(fs::exists(segment(log, 1) + ".quarantine"));
    expect_all_given(log);
    const Finish served = as_service({"append", log});
    EXPECT_EQ(served.exit, 0) << served.err;
}

TEST_F(WalPlaces, ADirectoryThatRootMakesBelongsToTheOwnerOfItsPlace) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const std::string home = path("home");
    for (const std::string& made : {home, home + "/empty"})
        fs::create_directory(made);
    give(home);
    make_small(home + "/log");
    write(path("lines"), wal({"export", home + "/log"}).out);

    EXPECT_EQ(wal({"import", home + "/copy", "-from", path("lines")}).exit, 0);
    EXPECT_EQ(wal({"import", home + "/empty", "-from", path("lines")}).exit, 0);

    for (const char* name : {"/log", "/copy", "/empty"}) {
        expect_all_given(home + name);
        const Finish served = as_service({"append", home + name});
        EXPECT_EQ(served.exit, 0) << served.err;
    }
}

TEST_F(WalPlaces, WhatMayNotBeReadIsDeniedAndTheMissingRightIsNamed) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
    const std::string log = make_small(path("log"));
    fs::permissions(log, fs::perms{0755});
    for (const auto& entry : fs::directory_iterator(log))
        fs::permissions(entry.path(), fs::perms{0644});
    ASSERT_EQ(as_service({"verify", log}).exit, 0) << "the control";
    for (const std::string& file : {log + "/SUPER", segment(log, 1), log + "/LOCK"}) {
        fs::permissions(file, fs::perms{0600});
        for (const char* verb : {"verify", "stat", "dump", "repair", "export"}) {
            const Finish denied = as_service({verb, log});
            EXPECT_EQ(denied.exit, 77) << verb << " " << file << denied.out << denied.err;
            EXPECT_THAT(
                denied.out + denied.err, HasSubstr(
                                             "this user (uid 65534) lacks read permission (r) on " +
                                             file + ", which belongs to uid 0 and has mode 0600"));
            EXPECT_THAT(denied.out + denied.err, ::testing::Not(HasSubstr("corrupt")));
        }
        EXPECT_EQ(as_service({"export", log, "-salvage"}).exit, 77) << "nothing is given up";
        fs::permissions(file, fs::perms{0644});
    }
    fs::permissions(segment(log, 1), fs::perms{0600});
    const Finish json = as_service({"verify", log, "-json"});
    EXPECT_THAT(json.out, HasSubstr(R"("verdict": "refuse")"));
    EXPECT_THAT(json.out, HasSubstr(R"("refusal": "denied")"));
    EXPECT_THAT(json.out, HasSubstr(R"("repair": "none")"));
    fs::permissions(segment(log, 1), fs::perms{0644});
    EXPECT_EQ(as_service({"append", log}).exit, 77);
    EXPECT_THAT(as_service({"append", log}).err, HasSubstr("lacks write permission (w) on "));
}

TEST_F(WalPlaces, ADirectoryThatMayNotBePassedOrListedIsNamed) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
    const std::string above = path("above");
    fs::create_directory(above);
    const std::string log = make_small(above + "/log");
    fs::permissions(log, fs::perms{0711});
    const Finish unlisted = as_service({"verify", log});
    EXPECT_EQ(unlisted.exit, 77);
    EXPECT_THAT(unlisted.err, HasSubstr("lacks read permission (r) on " + log + ","));
    fs::permissions(above, fs::perms{0700});
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"verify", log},
          {"repair", log, "-drop-tail"},
          {"append", log},
          {"create", above + "/new"},
          {"export", log}}) {
        const Finish unpassed = as_service(words);
        EXPECT_EQ(unpassed.exit, 77) << words.front() << ": " << unpassed.err;
        EXPECT_THAT(unpassed.err, HasSubstr("lacks search permission (x) on " + above + ","));
    }
}

TEST_F(WalPlaces, ARepairWhereThereIsNoLogMakesNothing) {
    fs::create_directory(path("empty"));
    fs::create_directory(path("other"));
    write(path("other") + "/notes", "mine");
    const std::string before = state_of(path("other"));
    for (const char* flag : {"-strict", "-drop-tail", "-rebuild-super"}) {
        const Finish empty = wal({"repair", path("empty"), flag});
        const Finish other = wal({"repair", path("other"), flag});
        EXPECT_EQ(empty.exit, 1);
        EXPECT_THAT(empty.out, HasSubstr("verdict   fresh\nnothing to do\n"));
        EXPECT_EQ(other.exit, 3);
        EXPECT_THAT(other.err, HasSubstr(path("other") + " is not a log: nothing in it has"));
    }
    EXPECT_TRUE(fs::is_empty(path("empty")));
    EXPECT_EQ(state_of(path("other")), before);
    const Finish sound = wal({"repair", make_small(path("log")), "-drop-tail"});
    EXPECT_EQ(sound.exit, 0);
    EXPECT_THAT(sound.out, HasSubstr("verdict   ok\nnothing to do\n"));
}

/// A small ext4 of its own, with a damaged log on it.
class WalSmallFilesystem : public WalPlaces {
  protected:
    void SetUp() override {
        fs::create_directory(path("mounted"));
        auto made = test_support::SmallFilesystem::make(path(""), path("mounted"), "ext4");
        if (!made && (made.error().code == Errc::unsupported || made.error().code == Errc::denied))
            GTEST_SKIP() << made.error().context;
        ASSERT_TRUE(made) << describe(made.error());
        filesystem.emplace(std::move(*made));
        log = make_small(path("mounted") + "/log", "8388608");
    }
    std::optional<test_support::SmallFilesystem> filesystem{};
    std::string log{};
};

TEST_F(WalSmallFilesystem, ARepairOnAFullOneChangesNothingAndSaysWhatItNeeds) {
    flip(segment(log, 1), 5 * 4096 + 200);
    const std::string lsn = line_of(wal({"repair", log}), "flag      -truncate-at");
    ASSERT_FALSE(lsn.empty());
    const std::string verdict = wal({"verify", log}).out;
    for (const std::uint64_t room : {0U, 10U << 20U}) { // for no copy, for one of two
        const auto left = filesystem->leave(room);
        ASSERT_TRUE(left) << describe(left.error());
        const std::string before = state_of(log);

        const Finish full = wal({"repair", log, "-truncate-at", lsn});

        EXPECT_EQ(full.exit, 1) << full.out << full.err;
        EXPECT_THAT(full.err, HasSubstr("ENOSPC"));
        EXPECT_THAT(full.err, HasSubstr("needs about 16809984 bytes beside the log"));
        EXPECT_EQ(state_of(log), before) << "no copy is left behind";
        EXPECT_EQ(wal({"verify", log}).out, verdict) << "looking needs no room";
        const std::string fresh = path("mounted") + "/fresh";
        EXPECT_EQ(wal({"create", fresh}).exit, 1);
        EXPECT_FALSE(fs::exists(fresh)) << "nothing of a log that could not be made";
        fs::remove(path("mounted") + "/ballast");
    }
    EXPECT_EQ(wal({"repair", log, "-truncate-at", lsn}).exit, 0);
    EXPECT_EQ(wal({"verify", log}).exit, 0);
}

TEST_F(WalSmallFilesystem, AReadOnlyOneCanBeLookedAtAndNotChanged) {
    const std::string mounted = path("mounted");
    const auto remount = [&](unsigned long flags) {
        return ::mount(nullptr, mounted.c_str(), nullptr, MS_REMOUNT | flags, nullptr);
    };
    ASSERT_EQ(remount(MS_RDONLY), 0);
    const std::string before = state_of(log);

    for (const char* verb : {"verify", "stat", "dump", "repair", "export"})
        EXPECT_EQ(wal({verb, log}).exit, 0) << verb;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"repair", log, "-drop-tail"},
          {"append", log},
          {"create", mounted + "/new"},
          {"import", mounted + "/new", "-from", path("one")}}) {
        const Finish refused = wal_as({.standard_input = path("one")}, words);
        EXPECT_EQ(refused.exit, 1) << words.front();
        EXPECT_THAT(refused.err, HasSubstr("EROFS); it is mounted read-only"));
    }
    EXPECT_EQ(state_of(log), before);
    EXPECT_EQ(remount(0), 0);
}

} // namespace
} // namespace promtact::harness::testing
