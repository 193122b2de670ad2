// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "storage_support/guarded_path_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

class GuardedPathTest : public ::testing::Test {
  protected:
    ~GuardedPathTest() override {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    [[nodiscard]] bool vanishes() const {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        while (fs::exists(path_)) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }
    fs::path path_ =
        fs::temp_directory_path() / ("promtact-guarded-" + std::to_string(::getpid()) + ".test");
};

TEST_F(GuardedPathTest, IsGoneWhenTheGuardEnds) {
    {
        auto guarded = GuardedPath::watch(path_);
        ASSERT_TRUE(guarded);
        std::ofstream(path_) << "x";
        ASSERT_TRUE(fs::exists(path_));
    }
    EXPECT_FALSE(fs::exists(path_));
}

TEST_F(GuardedPathTest, IsGoneAfterItsOwnersWholeGroupWasKilled) {
    const pid_t child = ::fork();
    if (child == 0) {
        static_cast<void>(::setpgid(0, 0));
        const auto guarded = GuardedPath::watch(path_);
        std::ofstream(path_) << "x";
        for (;;)
            ::pause();
    }
    while (!fs::exists(path_))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_EQ(::kill(-child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);

    EXPECT_TRUE(vanishes());
}

} // namespace
} // namespace promtact::gates
