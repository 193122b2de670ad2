// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <filesystem>
#include <fstream>
#include <string>

#include <stdlib.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git_history.hpp"
#include "temporary_directory.hpp"
#include "testing/process.hpp"

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A repository with two commits on main and one on a side branch.
class Repository {
  public:
    Repository() {
        git({"init", "-q", "-b", "main"});
        write("uring/ring.cpp", "1");
        write("docs/page.md", "1");
        first = commit("first");
        git({"checkout", "-q", "-b", "side"});
        write("uring/ring.cpp", "side");
        side = commit("side");
        git({"checkout", "-q", "main"});
        write("docs/page.md", "2");
        second = commit("second");
    }

    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
    }
    [[nodiscard]] const fs::path& root() const { return root_; }

    std::string first{};
    std::string second{};
    std::string side{};

  private:
    std::string git(std::vector<std::string> words) const {
        testing::Launch launch;
        launch.program = "/usr/bin/git";
        launch.argv = {"git", "-C", root_.string(), "-c", "user.name=t", "-c", "user.email=t@t"};
        launch.argv.insert(launch.argv.end(), words.begin(), words.end());
        const auto finish = testing::run(launch);
        EXPECT_TRUE(finish);
        if (!finish) return "";
        EXPECT_EQ(finish->exit, 0) << finish->err;
        return finish->out.substr(0, finish->out.find('\n'));
    }
    std::string commit(const std::string& subject) const {
        git({"add", "-A"});
        git({"commit", "-q", "--no-gpg-sign", "-m", subject});
        return git({"rev-parse", "HEAD"});
    }

    test_support::TemporaryDirectory temporary_{};
    fs::path root_ = temporary_.path();
};

class GitHistoryTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!fs::exists("/usr/bin/git")) GTEST_SKIP() << "needs git";
        repository_.emplace();
        history_.emplace(repository_->root());
    }
    std::optional<Repository> repository_{};
    std::optional<GitHistory> history_{};
};

TEST_F(GitHistoryTest, TellsAncestorsFromStrangers) {
    EXPECT_EQ(history_->ancestry(repository_->first), gates::Ancestry::ancestor);
    EXPECT_EQ(history_->ancestry(repository_->second), gates::Ancestry::ancestor);
    EXPECT_EQ(history_->ancestry(repository_->side), gates::Ancestry::stranger);
    EXPECT_EQ(history_->ancestry(std::string(40, '0')), gates::Ancestry::stranger);
}

TEST_F(GitHistoryTest, ListsWhatChangedUnderTheFoldersOnly) {
    EXPECT_THAT(*history_->changed_since(repository_->first, {"uring"}), IsEmpty());
    EXPECT_THAT(
        *history_->changed_since(repository_->first, {"uring", "docs"}),
        ElementsAre("docs/page.md"));
}

TEST_F(GitHistoryTest, SeesTheWorkingTree) {
    repository_->write("uring/ring.cpp", "changed");
    repository_->write("uring/new one.cpp", "not added");
    EXPECT_THAT(
        *history_->changed_since(repository_->second, {"uring"}),
        ElementsAre("uring/new one.cpp", "uring/ring.cpp"));
}

TEST_F(GitHistoryTest, DoesNotKnowWithoutACheckout) {
    GitHistory nowhere{::testing::TempDir()};
    EXPECT_EQ(nowhere.ancestry(repository_->first), gates::Ancestry::unknown);
    EXPECT_FALSE(nowhere.changed_since(repository_->first, {"uring"}).has_value());
}

TEST_F(GitHistoryTest, TakesNoWordThatIsNoCommit) {
    EXPECT_FALSE(history_->changed_since("--output=/tmp/x", {"uring"}).has_value());
    EXPECT_FALSE(history_->changed_since("HEAD", {"uring"}).has_value());
}

} // namespace
} // namespace promtact::harness
