// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Every field of the schema given wrongly in every way, with the answer that is kept beside it.
// PROMTACT_UPDATE_GOLDEN=1 writes the answers instead of comparing them.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <promtact/scenario/read_scenario.hpp>

#include "test_paths.hpp"

namespace promtact::scenario {
namespace {

struct Case {
    std::string name{};
    std::string text{};
    std::string answer{};
};

std::string file_of_cases() {
    return test_source_path("harness/scenario/testdata/bad_scenarios.txt");
}

std::vector<Case> read_cases() {
    std::ifstream file(file_of_cases());
    std::vector<Case> cases;
    std::string* part = nullptr;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) {
            cases.push_back({.name = line.substr(3)});
            part = &cases.back().text;
        } else if (line == "--") {
            part = &cases.back().answer;
        } else {
            *part += line + "\n";
        }
    }
    return cases;
}

std::string answer_to(const std::string& text) {
    const auto read = read_scenario(text, "file");
    return read ? "accepted\n" : read.error().context + "\n";
}

TEST(BadScenarios, EachIsRefusedWithItsAnswer) {
    const std::vector<Case> cases = read_cases();
    ASSERT_GE(cases.size(), 300U);
    const bool update = std::getenv("PROMTACT_UPDATE_GOLDEN") != nullptr;
    std::ostringstream updated;
    for (const Case& one : cases) {
        SCOPED_TRACE(one.name);
        const std::string answer = answer_to(one.text);
        EXPECT_NE(answer, "accepted\n");
        EXPECT_TRUE(answer.starts_with("file:")) << answer;
        if (update) {
            updated << "## " << one.name << "\n" << one.text << "--\n" << answer;
        } else {
            EXPECT_EQ(answer, one.answer);
        }
    }
    if (update) std::ofstream(file_of_cases()) << updated.str();
}

} // namespace
} // namespace promtact::scenario
