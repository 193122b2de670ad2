// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Columns for terminals and Markdown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace promtact::gates {

/// Rows of cells; the first row is the head. Widths count code points.
class TextTable {
  public:
    explicit TextTable(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
    /// Requires: as many cells as the head has
    void row(std::vector<std::string> cells);

    /// Columns padded with spaces, two apart, without trailing blanks.
    [[nodiscard]] std::string plain() const;
    /// A Markdown table. Pipes and line breaks in cells are escaped. right: columns aligned right.
    [[nodiscard]] std::string markdown(const std::vector<std::size_t>& right = {}) const;

  private:
    std::vector<std::vector<std::string>> rows_{};
};

/// Text that Markdown shows as it is: pipes, line breaks, angle brackets, backticks escaped.
std::string markdown_escaped(std::string_view text);

} // namespace promtact::gates
