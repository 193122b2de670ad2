// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The help of the binary that was built: a golden list of commands, and every command's own page.
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/read_file.hpp>

#include "test_paths.hpp"
#include "testing/process.hpp"

namespace promtact::harness::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

#ifdef PROMTACT_KERNEL
constexpr const char* golden_name = "help.full.txt";
#else
constexpr const char* golden_name = "help.pure.txt";
#endif

Finish ask(std::vector<std::string> argv) {
    const Result<Finish> finish = run({.program = built("promtact"), .argv = std::move(argv)});
    return finish ? *finish : Finish{};
}

/// Names in the first column under "commands:".
std::vector<std::string> listed_commands() {
    std::istringstream lines(ask({"promtact", "help"}).out);
    std::vector<std::string> names;
    bool listing = false;
    for (std::string line; std::getline(lines, line);) {
        if (listing && line.starts_with("  ")) {
            names.push_back(line.substr(2, line.find(' ', 2) - 2));
        } else {
            listing = line == "commands:";
        }
    }
    return names;
}

TEST(Help, MatchesTheGoldenList) {
    const std::string path =
        promtact::test_source_path(fmt::format("harness/testdata/{}", golden_name));
    const Result<std::string> golden = read_text_file(path, Bytes{1U << 16U});
    ASSERT_TRUE(golden.has_value()) << path;

    EXPECT_EQ(ask({"promtact", "help"}).out, *golden)
        << "when the commands changed on purpose: " << built("promtact") << " help > " << path;
}

TEST(Help, OfEveryCommandIsComplete) {
    const std::vector<std::string> names = listed_commands();
    ASSERT_FALSE(names.empty());
    for (const std::string& name : names) {
        const Finish help = ask({"promtact", "help", name});
        EXPECT_EQ(help.exit, 0) << name;
        EXPECT_EQ(help.err, "") << name;
        EXPECT_THAT(help.out, HasSubstr("usage:")) << name;
        EXPECT_THAT(help.out, HasSubstr("examples:\n")) << name;
        EXPECT_THAT(help.out, HasSubstr("exit codes:\n")) << name;
        std::istringstream lines(help.out);
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(line.size(), 100U) << name << ": " << line;
    }
}

#ifdef PROMTACT_KERNEL
TEST(Help, OfEveryVerbIsComplete) {
    const std::vector<std::vector<std::string>> verbs{
        {"gates", "run"},     {"gates", "list"},        {"gates", "explain"},  {"gates", "compare"},
        {"gates", "reap"},    {"evidence", "render"},   {"evidence", "check"}, {"evidence", "run"},
        {"bench", "storage"}, {"bench", "compare-fio"}, {"wal", "bench"},      {"wal", "verify"},
        {"wal", "stat"},      {"wal", "dump"},          {"wal", "repair"},     {"wal", "export"},
        {"wal", "import"},    {"wal", "migrate"},       {"wal", "create"},     {"wal", "append"}};
    for (const std::vector<std::string>& verb : verbs) {
        const Finish help = ask({"promtact", verb[0], verb[1], "-h"});
        EXPECT_EQ(help.exit, 0) << verb[0] << " " << verb[1];
        EXPECT_THAT(help.out, HasSubstr("examples:\n")) << verb[0] << " " << verb[1];
        EXPECT_THAT(help.out, HasSubstr("exit codes:")) << verb[0] << " " << verb[1];
    }
}
#endif

TEST(Help, OfEveryCommandRefusesAnUnknownFlag) {
    for (const std::string& name : listed_commands()) {
        const Finish refused = ask({"promtact", name, "--no-such-flag"});
        EXPECT_EQ(refused.exit, 2) << name;
        EXPECT_EQ(refused.out, "") << name;
        EXPECT_THAT(refused.err, HasSubstr("\"--no-such-flag\"")) << name;
    }
}

TEST(Help, EveryLinkAnswersAsItsCommand) {
    std::size_t links = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(built("promtact")).parent_path())) {
        if (!entry.is_symlink()) continue;
        ++links;
        EXPECT_EQ(fs::read_symlink(entry.path()), "promtact") << "a link must stay relative";
        const std::string name = entry.path().filename().string();
        const Finish help = ask({name, "-h"});
        EXPECT_EQ(help.exit, 0) << name;
        EXPECT_THAT(help.out, HasSubstr("usage: promtact " + name.substr(name.find('-') + 1)));
    }
#ifdef PROMTACT_KERNEL
    EXPECT_GE(links, 1U);
#else
    EXPECT_EQ(links, 2U) << "promtact-sim and promtact-seeds, and none to what this build lacks";
#endif
}

} // namespace
} // namespace promtact::harness::testing
