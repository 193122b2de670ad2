// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Which engine a log takes where the host refuses the better ones. Rights are given up for good, so
// each case runs in a child.
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/wal/log.hpp>

#include "confined.hpp"
#include "no_direct_io.hpp"
#include "shell_directory_internal.hpp"
#include "temporary_directory.hpp"
#include "testing/small_config.hpp"

namespace promtact::wal {
namespace {

using test_support::forbid_io_uring;
using test_support::in_child;
using test_support::TemporaryDirectory;
using ::testing::HasSubstr;
using testing::small_config;
using ::testing::StartsWith;

/// Opens a log, commits one record and says on what engine, and what was refused.
std::string commit_one(const std::filesystem::path& directory, const LogConfig& config) {
    const auto log = Log::open(directory, config);
    if (!log) return "refused: " + describe(log.error());
    const std::array<std::byte, 3> payload{};
    if (const auto lsn = (*log)->append_durable(payload); !lsn)
        return "append: " + describe(lsn.error());
    std::string text(to_string((*log)->engine()));
    for (const EngineRefusal& refusal : (*log)->refusals())
        text += " | " + std::string(to_string(refusal.engine)) + ": " + describe(refusal.error);
    return text;
}

bool io_uring_works(const TemporaryDirectory& where) {
    return commit_one(where.path() / "try", small_config()).find("inline_sync") == 0;
}

TEST(WalLadder, WhereIoUringIsForbiddenItIsPlainDirectWrites) {
    const TemporaryDirectory where;
    if (!io_uring_works(where)) GTEST_SKIP() << "needs io_uring and direct I/O";

    const std::string text = in_child([&] {
        return forbid_io_uring() ? commit_one(where.path() / "log", small_config())
                                 : std::string("no filter");
    });

    EXPECT_THAT(text, StartsWith("pwrite | inline_sync: "));
    EXPECT_THAT(text, HasSubstr("permission denied (EPERM)"));
    EXPECT_THAT(text, HasSubstr("ring_sync: "));
    EXPECT_THAT(text, HasSubstr("seccomp"));
}

TEST(WalLadder, AnEngineAskedForByNameIsThatOrAnError) {
    const TemporaryDirectory where;
    if (!io_uring_works(where)) GTEST_SKIP() << "needs io_uring and direct I/O";

    const std::string text = in_child([&] {
        LogConfig config = small_config();
        config.only = Engine::ring_sync;
        return forbid_io_uring() ? commit_one(where.path() / "log", config)
                                 : std::string("no filter");
    });

    EXPECT_THAT(text, StartsWith("refused: "));
    EXPECT_THAT(text, HasSubstr("permission denied"));
}

TEST(WalLadder, WithLittleLockedMemoryItStillIsIoUring) {
    const TemporaryDirectory where;
    if (!io_uring_works(where)) GTEST_SKIP() << "needs io_uring and direct I/O";
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become a user without CAP_IPC_LOCK";
    std::filesystem::permissions(where.path(), std::filesystem::perms::all);

    const std::string text = in_child([&] {
        const rlimit small{.rlim_cur = 65536, .rlim_max = 65536};
        constexpr uid_t nobody = 65534;
        if (::setrlimit(RLIMIT_MEMLOCK, &small) != 0 || ::setresgid(nobody, nobody, nobody) != 0 ||
            ::setresuid(nobody, nobody, nobody) != 0)
            return std::string("could not become nobody");
        return commit_one(where.path() / "log", small_config());
    });

    EXPECT_EQ(text, "inline_sync") << "only the registration of memory is given up";
}

TEST(WalLadder, WithoutDirectIoItIsBufferedOrRefused) {
    const TemporaryDirectory where;
    const SysCalls without_direct = test_support::without_direct_io();
    const ScopedSysCalls scope(without_direct);
    const auto buffered = open_engine(where.path(), std::nullopt, true, {});
    const auto refused = open_engine(where.path(), std::nullopt, false, {});

    ASSERT_TRUE(buffered) << describe(buffered.error());
    EXPECT_EQ(buffered->engine, Engine::buffered);
    ASSERT_EQ(buffered->refusals.size(), 3U);
    EXPECT_EQ(buffered->refusals.back().error.code, Errc::unsupported);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unsupported);
}

} // namespace
} // namespace promtact::wal
