// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/base/unique_fd.hpp>

#include "testing/fail_nth_call.hpp"
#include "testing/temporary_directory.hpp"

namespace promtact {
namespace {

using test_support::FailNthCall;
using test_support::TemporaryDirectory;

std::string content(const std::filesystem::path& path) {
    return read_text_file(path, 1_MiB).value_or("(absent)");
}

/// The kernel's calls on a filesystem that has no O_TMPFILE.
SysCalls without_unnamed_files() {
    SysCalls table = real_sys_calls;
    table.open = [](const char* path, int flags, mode_t mode) {
        if ((flags & O_TMPFILE) == O_TMPFILE) {
            errno = EOPNOTSUPP;
            return -1;
        }
        return real_sys_calls.open(path, flags, mode);
    };
    return table;
}

struct Case {
    std::string_view name{};
    bool unnamed_files = true;
    bool replacing = false;
};

constexpr std::array cases{
    Case{"new file, without a name first", true, false},
    Case{"replacing, without a name first", true, true},
    Case{"new file, temporary name", false, false},
    Case{"replacing, temporary name", false, true},
};

TEST(AtomicFile, WritesAndReplacesExactly) {
    for (const Case& c : cases) {
        const TemporaryDirectory directory;
        const std::filesystem::path path = directory / "file";
        const SysCalls table = c.unnamed_files ? real_sys_calls : without_unnamed_files();
        const ScopedSysCalls scope(table);
        if (c.replacing) {
            ASSERT_TRUE(write_file_atomic(path, "old")) << c.name;
        }

        ASSERT_TRUE(write_file_atomic(path, "new content")) << c.name;

        EXPECT_EQ(content(path), "new content") << c.name;
        EXPECT_EQ(directory.names(), std::vector<std::string>{"file"}) << c.name;
    }
}

TEST(AtomicFile, EveryFailingCallKeepsTheOldFileAndLeavesNoTemporary) {
    for (const Case& c : cases) {
        for (const int code : {EIO, ENOSPC, EDQUOT, EACCES}) {
            const SysCalls beneath = c.unnamed_files ? real_sys_calls : without_unnamed_files();
            std::uint64_t n = 1;
            for (;; ++n) {
                const TemporaryDirectory directory;
                const std::filesystem::path path = directory / "file";
                if (c.replacing) {
                    ASSERT_TRUE(write_file_atomic(path, "old"));
                }
                const FailNthCall fault(n, code, beneath);

                const Result<void> written = write_file_atomic(path, "new");

                if (!fault.fired()) {
                    EXPECT_TRUE(written) << c.name;
                    break;
                }
                const std::string where = std::string(c.name) + ", call " + std::to_string(n) +
                                          " (" + fault.failed_call() + ") fails";
                ASSERT_FALSE(written) << where;
                EXPECT_EQ(written.error().sys_errno, code) << where;
                EXPECT_NE(
                    written.error().context.find(directory.path().string()), std::string::npos)
                    << where << ": " << written.error().context;
                const bool published = content(path) == "new";
                const std::string old = c.replacing ? "old" : "(absent)";
                if (!published) {
                    EXPECT_EQ(content(path), old) << where;
                }
                // Only close and the directory's open and fsync come after the new name.
                const std::string& call = fault.failed_call();
                if (published) {
                    EXPECT_TRUE(call == "close" || call == "open" || call == "fsync") << where;
                }
                const std::size_t expected = published || c.replacing ? 1 : 0;
                EXPECT_EQ(directory.names().size(), expected) << where;
            }
            EXPECT_GE(n, 8U) << c.name << ": too few calls were seen to fail";
        }
    }
}

TEST(AtomicFile, WritesGoOnAfterShortWritesAndInterruptions) {
    SysCalls table = real_sys_calls;
    table.write = [](int fd, const void* buffer, size_t size) -> ssize_t {
        static thread_local int calls = 0;
        if (++calls % 3 == 0) {
            errno = EINTR;
            return -1;
        }
        return real_sys_calls.write(fd, buffer, std::min<size_t>(size, 2));
    };
    const ScopedSysCalls scope(table);
    const TemporaryDirectory directory;

    ASSERT_TRUE(write_file_atomic(directory / "file", "a longer text"));

    EXPECT_EQ(content(directory / "file"), "a longer text");
}

TEST(AtomicFile, AWriteThatAcceptsNothingIsShort) {
    SysCalls table = real_sys_calls;
    table.write = [](int, const void*, size_t) -> ssize_t { return 0; };
    const ScopedSysCalls scope(table);
    const TemporaryDirectory directory;

    const Result<void> written = write_file_atomic(directory / "file", "text");

    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::short_write);
    EXPECT_TRUE(directory.names().empty());
}

TEST(AtomicFile, SyncsContentBeforeTheNameAndTheDirectoryLast) {
    const TemporaryDirectory directory;
    ASSERT_TRUE(write_file_atomic(directory / "file", "old"));
    const FailNthCall count(0, 0);

    ASSERT_TRUE(write_file_atomic(directory / "file", "new"));

    const std::vector<std::string> expected{"open",   "flock",  "write", "fsync", "linkat",
                                            "linkat", "rename", "close", "open",  "fsync"};
    EXPECT_EQ(count.calls(), expected);
}

TEST(AtomicFile, RefusesTargetsThatAreNoFiles) {
    const TemporaryDirectory directory;
    for (const std::string name : {"", ".", "..", "folder/"}) {
        const Result<void> written = write_file_atomic(directory.path() / name, "x");
        ASSERT_FALSE(written) << name;
        EXPECT_EQ(written.error().code, Errc::invalid_argument) << name;
    }
    ASSERT_EQ(::mkdir((directory / "folder").c_str(), 0755), 0);
    EXPECT_FALSE(write_file_atomic(directory / "folder", "x"));
    EXPECT_EQ(write_file_atomic(directory / "absent/file", "x").error().code, Errc::not_found);
    EXPECT_EQ(directory.names(), std::vector<std::string>{"folder"});
}

TEST(AtomicFile, ReplacesASymbolicLinkInsteadOfFollowingIt) {
    const TemporaryDirectory directory;
    ASSERT_TRUE(write_file_atomic(directory / "target", "kept"));
    ASSERT_EQ(::symlink("target", (directory / "link").c_str()), 0);

    ASSERT_TRUE(write_file_atomic(directory / "link", "new"));

    EXPECT_EQ(content(directory / "target"), "kept");
    EXPECT_EQ(content(directory / "link"), "new");
    EXPECT_FALSE(std::filesystem::is_symlink(directory / "link"));
}

TEST(AtomicFile, HonoursTheUmask) {
    const TemporaryDirectory directory;
    const mode_t before = ::umask(027);
    const Result<void> written = write_file_atomic(directory / "file", "x");
    ::umask(before);

    ASSERT_TRUE(written);
    struct stat facts {};
    ASSERT_EQ(::stat((directory / "file").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0640U);
}

/// Runs the write in a child that dies at kill point n; false when it lived to the end.
bool killed_at(std::uint64_t n, const std::filesystem::path& path, const SysCalls& table) {
    const pid_t child = ::fork();
    if (child == 0) {
        const ScopedSysCalls scope(table);
        arm_kill_point(n);
        ::_exit(write_file_atomic(path, "new") ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        EXPECT_EQ(WTERMSIG(status), SIGKILL);
        return true;
    }
    EXPECT_EQ(WEXITSTATUS(status), 0);
    return false;
}

TEST(AtomicFile, KilledAtAnyPointItIsTheOldOrTheNewFileAndReapingCleansUp) {
    for (const Case& c : cases) {
        const SysCalls table = c.unnamed_files ? real_sys_calls : without_unnamed_files();
        std::uint64_t n = 1;
        for (;; ++n) {
            const TemporaryDirectory directory;
            const std::filesystem::path path = directory / "file";
            if (c.replacing) {
                ASSERT_TRUE(write_file_atomic(path, "old"));
            }
            if (!killed_at(n, path, table)) break;

            const std::string found = content(path);

            EXPECT_TRUE(found == "new" || found == (c.replacing ? "old" : "(absent)"))
                << c.name << " killed at " << n << ": " << found;
            if (c.unnamed_files && !c.replacing) {
                EXPECT_LE(directory.names().size(), 1U) << c.name << " killed at " << n;
            }
            ASSERT_TRUE(reap_temporaries(directory.path()));
            EXPECT_EQ(directory.names().size(), found == "(absent)" ? 0U : 1U) << c.name;
        }
        EXPECT_GE(n, 4U) << c.name << ": too few kill points";
    }
}

TEST(AtomicFile, ReapingSparesLivingWritersAndForeignNames) {
    const TemporaryDirectory directory;
    const UniqueFd living(
        ::open((directory / ".a.promtact-1-0.tmp").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::flock(living.get(), LOCK_EX), 0);
    ASSERT_TRUE(write_file_atomic(directory / ".b.promtact-1-0.tmp", "dead"));
    ASSERT_TRUE(write_file_atomic(directory / ".c.tmp", "foreign"));
    ASSERT_TRUE(write_file_atomic(directory / "d.promtact-1-0.tmp", "foreign"));

    EXPECT_EQ(*reap_temporaries(directory.path()), 1U);

    EXPECT_EQ(
        directory.names(),
        (std::vector<std::string>{".a.promtact-1-0.tmp", ".c.tmp", "d.promtact-1-0.tmp"}));
    EXPECT_EQ(reap_temporaries(directory / "absent").error().code, Errc::not_found);
}

} // namespace
} // namespace promtact
