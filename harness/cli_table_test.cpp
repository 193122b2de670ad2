// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Every row of testdata/cli_table.txt, run on the binary that was built.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/read_file.hpp>

#include "temporary_directory.hpp"
#include "test_paths.hpp"
#include "testing/cli_table.hpp"
#include "testing/process.hpp"

namespace promtact::harness::testing {
namespace {

namespace fs = std::filesystem;

constexpr Bytes table_max{1U << 20U};
#ifdef PROMTACT_KERNEL
constexpr bool kernel_build = true;
#else
constexpr bool kernel_build = false;
#endif

std::string table_path() {
    return promtact::test_source_path("harness/testdata/cli_table.txt");
}

/// Rows of this build. A table that cannot be read is one row that fails.
std::vector<CliRow> rows() {
    const auto text = read_text_file(table_path(), table_max);
    auto parsed = text ? parse_cli_table(*text) : Result<std::vector<CliRow>>(text.error());
    if (!parsed) return {CliRow{.text = describe(parsed.error())}};
    std::erase_if(*parsed, [](const CliRow& row) {
        const auto has = [&row](std::string_view name) {
            return std::ranges::find(row.modifiers, name) != row.modifiers.end();
        };
        return has(kernel_build ? "pure" : "kernel");
    });
    return *std::move(parsed);
}

/// The directory that TMP stands for; removed at the end.
class Fixture {
  public:
    Fixture() {
        fs::permissions(root_, fs::perms::all);
        std::ofstream(root_ / "file").close();
        for (const char* name : {"sealed", "full", "readonly"})
            fs::create_directory(root_ / name);
    }

    std::string path() const { return root_.string(); }
    std::vector<std::string> listing() const {
        std::vector<std::string> out;
        for (const auto& entry : fs::recursive_directory_iterator(root_))
            out.push_back(fs::relative(entry.path(), root_).string());
        std::ranges::sort(out);
        return out;
    }

  private:
    // On a disk, since the rows of storage commands need direct I/O; /tmp is often memory.
    test_support::TemporaryDirectory temporary_{
        fs::is_directory("/var/tmp") ? "/var/tmp" : fs::temp_directory_path()};
    fs::path root_ = temporary_.path();
};

std::string replaced(std::string text, std::string_view what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

/// Carries one modifier out. False: nobody knows it.
bool apply(const std::string& modifier, const Fixture& fixture, Launch& launch) {
    if (modifier == "kernel" || modifier == "pure" || modifier == "root") return true;
    if (modifier.starts_with("keeps ")) return true;
    if (modifier.starts_with("env ")) {
        launch.environment.push_back(modifier.substr(4));
    } else if (modifier == "nobody") {
        launch.as_nobody = true;
    } else if (modifier == "stdout full") {
        launch.standard_output = Stdout::full_device;
    } else if (modifier == "stdout closed") {
        launch.standard_output = Stdout::closed;
    } else if (modifier == "full") {
        launch.full_mounts.push_back(fixture.path() + "/full");
    } else if (modifier == "readonly") {
        launch.read_only_mounts.push_back(fixture.path() + "/readonly");
    } else if (modifier == "no io_uring EPERM") {
        launch.io_uring_errno = EPERM;
    } else if (modifier == "no io_uring ENOSYS") {
        launch.io_uring_errno = ENOSYS;
    } else {
        return false;
    }
    return true;
}

bool needs_root(const CliRow& row) {
    return std::ranges::any_of(row.modifiers, [](const std::string& modifier) {
        return modifier == "root" || modifier == "nobody" || modifier == "full" ||
               modifier == "readonly";
    });
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
    if (parts == std::vector<std::string>{"-"}) {
        EXPECT_EQ(text, "");
        return;
    }
    for (const std::string& part : parts)
        EXPECT_THAT(text, ::testing::HasSubstr(part));
}

void check(const CliRow& row) {
    const Fixture fixture;
    const std::vector<std::string> before = fixture.listing();
    Launch launch{.program = built("promtact")};
    for (const std::string& word : row.words) {
        const std::string here = replaced(word, "SOURCE", test_source_path(""));
        launch.argv.push_back(replaced(here, "TMP", fixture.path()));
    }
    for (const std::string& modifier : row.modifiers)
        ASSERT_TRUE(apply(modifier, fixture, launch)) << "unknown modifier: " << modifier;

    const Result<Finish> finish = run(launch);

    ASSERT_TRUE(finish.has_value()) << describe(finish.error());
    SCOPED_TRACE(row.text + "\nstdout: " + finish->out + "\nstderr: " + finish->err);
    EXPECT_EQ(finish->exit, row.exit);
    expect_parts(replaced(finish->out, fixture.path(), "TMP"), row.out);
    expect_parts(replaced(finish->err, fixture.path(), "TMP"), row.err);
    std::vector<std::string> after = fixture.listing();
    for (const std::string& modifier : row.modifiers) {
        if (modifier.starts_with("keeps ")) {
            std::erase_if(after, [kept = modifier.substr(6)](const std::string& name) {
                return name == kept || name.starts_with(kept + "/");
            });
        }
    }
    EXPECT_EQ(after, before) << "something was left behind";
}

class CliTable : public ::testing::TestWithParam<CliRow> {};

TEST_P(CliTable, AnswersAsTheTableSays) {
    const CliRow& row = GetParam();
    ASSERT_FALSE(row.words.empty()) << row.text;
    if (needs_root(row) && ::geteuid() != 0) GTEST_SKIP() << "needs root";

    check(row);
}

/// "0042_promtact_version_short"
std::string row_name(const ::testing::TestParamInfo<CliRow>& info) {
    std::string name = std::to_string(info.param.line);
    name.insert(0, 4 - std::min<std::size_t>(4, name.size()), '0');
    name += '_';
    for (const char c : info.param.text.substr(0, 60)) {
        const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (letter) {
            name += c;
        } else if (name.back() != '_') {
            name += '_';
        }
    }
    return name;
}

INSTANTIATE_TEST_SUITE_P(Row, CliTable, ::testing::ValuesIn(rows()), row_name);

/// The control: each of these rows is false in one cell.
TEST(CliTableControl, AFalseRowFails) {
    const auto parsed = parse_cli_table("promtact version -short | 2 | 0. | -\n"
                                        "promtact version -short | 0 | platform | -\n"
                                        "promtact version -bogus | 2 | usage | *\n"
                                        "promtact version -bogus | 2 | - | -\n");
    ASSERT_TRUE(parsed.has_value());
    const std::vector<CliRow>& table = *parsed;
    ASSERT_EQ(table.size(), 4U);

    EXPECT_NONFATAL_FAILURE(check(table[0]), "row.exit");
    EXPECT_NONFATAL_FAILURE(check(table[1]), "platform");
    EXPECT_NONFATAL_FAILURE(check(table[2]), "usage");
    EXPECT_NONFATAL_FAILURE(check(table[3]), "unknown flag");
}

#ifdef PROMTACT_KERNEL
TEST(CliTableControl, AFileLeftBehindFails) {
    const auto parsed =
        parse_cli_table("promtact uring-bench -path TMP/x -operations 1 -keep | 0 | * | -\n");
    ASSERT_TRUE(parsed.has_value());
    const CliRow row = parsed->front();

    EXPECT_NONFATAL_FAILURE(check(row), "something was left behind");
}
#endif

TEST(CliTableFormat, HasAtLeastFortyRefusals) {
    const std::vector<CliRow> all = rows();

    const auto refusals =
        std::ranges::count_if(all, [](const CliRow& row) { return row.exit != 0; });

    EXPECT_GE(refusals, kernel_build ? 40 : 20);
}

TEST(CliTableFormat, RefusesARowItCannotRead) {
    for (const char* text :
         {"promtact | 2 | -", "promtact | two | - | -", " | 2 | - | -",
          "[kernel promtact | 2 | - | -", "promtact|2|-|-"}) {
        EXPECT_FALSE(parse_cli_table(text).has_value()) << text;
    }
}

TEST(CliTableFormat, ReadsWordsQuotesAndBytes) {
    const auto parsed =
        parse_cli_table("# no row\n[a][env X=1 2] p 'b  c' \\xff '' | 7 | x & y | *\n");

    ASSERT_TRUE(parsed.has_value());
    ASSERT_EQ(parsed->size(), 1U);
    const CliRow& row = parsed->front();
    EXPECT_THAT(row.modifiers, ::testing::ElementsAre("a", "env X=1 2"));
    EXPECT_THAT(row.words, ::testing::ElementsAre("p", "b  c", "\xff", ""));
    EXPECT_EQ(row.exit, 7);
    EXPECT_THAT(row.out, ::testing::ElementsAre("x", "y"));
    EXPECT_TRUE(row.err.empty());
    EXPECT_EQ(row.line, 2U);
}

} // namespace
} // namespace promtact::harness::testing
