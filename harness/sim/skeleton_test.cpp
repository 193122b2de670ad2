// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/read_file.hpp>
#include <promtact/scenario/read_scenario.hpp>
#include <promtact/sim/run.hpp>
#include <promtact/sim/skeleton.hpp>

#include "skeleton/run.hpp"
#include "temporary_directory.hpp"
#include "test_paths.hpp"

namespace promtact::sim {
namespace {

class Skeleton : public ::testing::Test {
  protected:
    test_support::TemporaryDirectory temporary_{};
    std::filesystem::path directory_ = temporary_.path() / "project";
};

TEST_F(Skeleton, EveryFileIsWrittenWithItsName) {
    const auto written = write_skeleton(directory_, "quorum");
    ASSERT_TRUE(written.has_value()) << written.error().context;
    std::set<std::string> names;
    for (const auto& path : *written) {
        const auto text = read_text_file(path, Bytes{1U << 20});
        ASSERT_TRUE(text.has_value());
        EXPECT_EQ(text->find("@PROJECT@"), std::string::npos) << path;
        EXPECT_FALSE(text->empty());
        names.insert(path.filename().string());
    }
    EXPECT_EQ(
        names, (std::set<std::string>{
                   "CMakeLists.txt", "README.md", "cluster.hpp", "main.cpp", "protocol.hpp",
                   "protocol_test.cpp", "run.hpp", "scenario.json"}));
    const auto lists = read_text_file(directory_ / "CMakeLists.txt", Bytes{1U << 20});
    EXPECT_NE(lists->find("project(quorum"), std::string::npos);
}

TEST_F(Skeleton, ADirectoryThatHoldsSomethingIsLeftAlone) {
    std::filesystem::create_directories(directory_);
    std::ofstream(directory_ / "mine") << "x";
    const auto written = write_skeleton(directory_, "quorum");
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().code, Errc::exists);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(Skeleton, ANameMustBeOne) {
    for (const char* bad : {"", "a b", "1a", "-a", "a;b", "test", "a/b", "\x07", "protocol_test"})
        EXPECT_EQ(write_skeleton(directory_, bad).error().code, Errc::invalid_argument) << bad;
    EXPECT_FALSE(std::filesystem::exists(directory_));
}

TEST_F(Skeleton, AsksForThisVersion) {
    const auto ours = read_text_file(test_source_path("CMakeLists.txt"), Bytes{1U << 20});
    ASSERT_TRUE(ours.has_value());
    const std::size_t at = ours->find("project(promtact VERSION ");
    ASSERT_NE(at, std::string::npos);
    std::string version = ours->substr(at + 25, 5); // 0.1.0
    version.resize(version.rfind('.'));
    bool asked = false;
    for (const SkeletonFile& file : skeleton_files()) {
        asked = asked ||
                file.text.find("find_package(promtact " + version + " ") != std::string_view::npos;
    }
    EXPECT_TRUE(asked) << version;
}

TEST_F(Skeleton, ItsScenarioStrikesEarlyAndPasses) {
    const auto scenario =
        scenario::load_scenario(test_build_path("harness/sim/skeleton/scenario.json"));
    ASSERT_TRUE(scenario.has_value()) << scenario.error().context;
    ASSERT_FALSE(scenario->faults.empty());
    EXPECT_LE(scenario->faults.front().start, Step(10));
    const RunReport report = run_case(mine::protocol(), {.scenario = *scenario});
    EXPECT_EQ(report.verdict, engine::Verdict::pass) << report.text;
    Case two{.scenario = *scenario};
    RunReport wrong;
    for (two.scenario.seed = 1; two.scenario.seed <= 200; ++two.scenario.seed) {
        wrong = run_case(mine::protocol(2), two);
        if (wrong.verdict == engine::Verdict::fail) break;
    }
    EXPECT_EQ(wrong.verdict, engine::Verdict::fail) << "two proposers are caught";
}

} // namespace
} // namespace promtact::sim
