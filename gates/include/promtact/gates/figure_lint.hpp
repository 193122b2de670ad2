// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Figures with a unit in prose: numbers are generated from results, never typed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::gates {

struct FoundFigure {
    std::filesystem::path path{};
    std::size_t line = 0;   // from 1
    std::size_t column = 0; // from 1, in bytes
    std::string text{};     // "142 µs"
    friend bool operator==(const FoundFigure&, const FoundFigure&) = default;
};

struct FigureRules {
    std::set<std::filesystem::path> generated{}; // relative paths that render_evidence owns
    std::vector<std::string> allowed{};          // phrases that may hold a figure
};

/// Figures in one Markdown text, outside fenced and inline code, link targets, comments, the
/// generated figures block (only when has_block) and allowed phrases.
std::vector<FoundFigure>
typed_figures(std::string_view markdown, const std::vector<std::string>& allowed, bool has_block);

/// The phrases of verification/figures_allow.txt: one a line, # begins a comment.
std::vector<std::string> parse_allowed(std::string_view text);

/// All *.md below root but generated pages, build trees and hidden folders; the allow-list is read
/// from verification/figures_allow.txt. A file that cannot be read becomes a problem.
std::vector<FoundFigure> find_typed_figures(
    const std::filesystem::path& root, FigureRules rules, std::vector<std::string>& problems);

} // namespace promtact::gates
