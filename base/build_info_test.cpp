// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <gtest/gtest.h>

#include <promtact/base/build_info.hpp>

namespace promtact {
namespace {

bool is_commit(std::string_view text) {
    return text.size() == 40 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

TEST(BuildInfo, StatesEveryFact) {
    const BuildInfo& info = build_info();

    EXPECT_FALSE(info.version.empty());
    EXPECT_TRUE(is_commit(info.commit) || info.commit == "unknown") << info.commit;
    if (info.commit == "unknown") {
        EXPECT_TRUE(info.dirty) << "unknown sources are never clean";
    }
    EXPECT_TRUE(info.compiler.starts_with("g++ ") || info.compiler.starts_with("clang++ "))
        << info.compiler;
    EXPECT_FALSE(info.flags.empty());
    EXPECT_FALSE(info.build_type.empty());
    EXPECT_TRUE(info.assertions);
    EXPECT_EQ(build_line().find("promtact "), 0U);
}

} // namespace
} // namespace promtact
