// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/list_directory.hpp>

#include "temporary_directory.hpp"

namespace promtact {
namespace {

namespace fs = std::filesystem;

TEST(ListDirectory, NamesEverythingInOrderWhateverItIs) {
    const test_support::TemporaryDirectory where;
    std::ofstream(where / "b") << "x";
    fs::create_directory(where / "a");
    fs::create_symlink("c", where / "c");
    fs::create_symlink("nowhere", where / "d");

    const auto names = list_directory(where.path());

    ASSERT_TRUE(names);
    EXPECT_THAT(*names, ::testing::ElementsAre("a", "b", "c", "d"));
    EXPECT_EQ(file_kind(where / "a"), FileKind::directory);
    EXPECT_EQ(file_kind(where / "b"), FileKind::regular);
    EXPECT_EQ(file_kind(where / "c"), FileKind::other);
    EXPECT_EQ(file_kind(where / "d"), FileKind::absent);
    EXPECT_EQ(file_kind(where / "e"), FileKind::absent);
    EXPECT_EQ(file_kind("/dev/null"), FileKind::other);
}

TEST(ListDirectory, SaysWhyItCannot) {
    const test_support::TemporaryDirectory where;
    std::ofstream(where / "file") << "x";

    EXPECT_EQ(list_directory(where / "absent").error().code, Errc::not_found);
    EXPECT_THAT(list_directory(where / "file").error().context, ::testing::HasSubstr("file"));
}

} // namespace
} // namespace promtact
