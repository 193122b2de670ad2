// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/figure_lint.hpp>

#include "testing/fake_gates_internal.hpp"

namespace promtact::gates {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct Planted {
    const char* line;
    const char* figure;
};

constexpr std::array planted{
    Planted{"A durable write takes 142 µs on this disk.", "142 µs"},
    Planted{"It reaches 7,170 ops/s with one writer.", "7,170 ops/s"},
    Planted{"The tail (p99) is 1.9 ms.", "1.9 ms"},
    Planted{"That is 2.3x what fio gets.", "2.3x"},
    Planted{"Processor use fell by 12 %.", "12 %"},
    Planted{"| append | 64 MiB per hour |", "64 MiB"},
    Planted{"A new leader stands after 300 milliseconds.", "300 milliseconds"},
    Planted{"## Replays at 1.2 GB/s", "1.2 GB/s"},
    Planted{"Drops show within 2,000 packets per second.", "2,000 packets per second"},
    Planted{"- ran for 45 seconds without a stall", "45 seconds"},
    Planted{"A commit needs 3s in the worst case.", "3s"},
    Planted{"about 5 kIOPS; the rest is `code`", "5 kIOPS"},
    Planted{"the queue is 4× deeper", "4×"},
    Planted{"a 250-ms pause", "250-ms"},
};

TEST(FigureLint, CatchesEveryPlantedLine) {
    static_assert(planted.size() >= 10);
    for (const Planted& row : planted) {
        const auto found = typed_figures(row.line, {}, false);
        ASSERT_THAT(found, SizeIs(1)) << row.line;
        EXPECT_EQ(found[0].text, row.figure);
        EXPECT_EQ(found[0].line, 1U);
    }
}

constexpr std::array innocent{
    "Debian 12 with g++ 12.2 and clang 14, CMake 3.25.1",
    "The RFC 3720 vectors; SHA-256; CRC32C; C++20; x86_64; 0x4A2C",
    "Released on 2026-11-29, see issue 2 and section 5.6.",
    "The kernel reports `p50 142 µs` in its own words.",
    "Linux 6.18 or newer; step 3 of 5; 64-bit integers; a 2x2 grid",
    "[a page](https://example.org/5ms/12%25) and <https://example.org/3s>",
    "<!-- 12 ms, in a comment that nobody sees -->",
    "Exit code 77 means skipped, 128+n a signal.",
    "Seeds 1..64, nodes 3, 5 and 7; the 1990s; W85",
    "1. First item\n2. Second item",
    "``two `ticks` 5 ms``",
};

TEST(FigureLint, LeavesEveryInnocentLineAlone) {
    static_assert(innocent.size() >= 10);
    for (const char* line : innocent)
        EXPECT_THAT(typed_figures(line, {}, false), IsEmpty()) << line;
}

TEST(FigureLint, SkipsFencedCodeAndSeesWhatFollows) {
    const auto found =
        typed_figures("~~~\n```\n5 ms\n~~~\n\n```text\n6 ms\n```\n7 ms\n", {}, false);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].text, "7 ms");
    EXPECT_EQ(found[0].line, 9U);
}

TEST(FigureLint, TrustsTheGeneratedBlockOnlyWhereOneIsRendered) {
    const std::string text = "<!-- promtact:figures:begin -->\n5 ms\n"
                             "<!-- promtact:figures:end -->\n6 ms\n";
    EXPECT_THAT(typed_figures(text, {}, true), SizeIs(1));
    EXPECT_THAT(typed_figures(text, {}, false), SizeIs(2));
}

TEST(FigureLint, AllowsAFigureInsideAnAllowedPhraseOnly) {
    const auto allowed = parse_allowed("# sizes fixed by the format\n4096-byte block\n\n");
    ASSERT_THAT(allowed, ElementsAre("4096-byte block"));
    EXPECT_THAT(typed_figures("one 4096-byte block", allowed, false), IsEmpty());
    EXPECT_THAT(typed_figures("one 4096-byte record", allowed, false), SizeIs(1));
    EXPECT_THAT(typed_figures("a 4096-byte block in 5 ms", allowed, false), SizeIs(1));
}

TEST(FigureLint, WalksTheTreeButNotBuildsOrGeneratedPages) {
    const fakes::Scratch scratch;
    const auto write = [&](const std::string& name, const std::string& text) {
        std::filesystem::create_directories((scratch.path() / name).parent_path());
        std::ofstream(scratch.path() / name) << text;
    };
    write("docs/a.md", "fine\nnow 5 ms\n");
    write("build/dev/b.md", "5 ms");
    write(".git/c.md", "5 ms");
    write("results/EVIDENCE.md", "5 ms");
    write("README.md", "allowed 7 ms here");
    write("verification/figures_allow.txt", "allowed 7 ms\n");

    std::vector<std::string> problems;
    FigureRules rules;
    rules.generated = {"results/EVIDENCE.md"};
    const auto found = find_typed_figures(scratch.path(), rules, problems);

    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0], (FoundFigure{"docs/a.md", 2, 5, "5 ms"}));
    EXPECT_THAT(problems, IsEmpty());
}

} // namespace
} // namespace promtact::gates
