// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <string_view>

#include <promtact/base/assert.hpp>
#include <promtact/gates/text_table.hpp>

namespace promtact::gates {
namespace {

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

} // namespace

void TextTable::row(std::vector<std::string> cells) {
    PROMTACT_ASSERT(cells.size() == rows_.front().size());
    rows_.push_back(std::move(cells));
}

std::string TextTable::plain() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto& cells : rows_) {
        for (std::size_t i = 0; i < cells.size(); ++i)
            widths[i] = std::max(widths[i], width_of(cells[i]));
    }
    std::string text;
    for (const auto& cells : rows_) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i)
            line += cells[i] + std::string(widths[i] - width_of(cells[i]) + 2, ' ');
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string TextTable::markdown(const std::vector<std::size_t>& right) const {
    std::string text;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        for (const std::string& cell : rows_[row])
            text += "| " + cell + " ";
        text += "|\n";
        if (row != 0) continue;
        for (std::size_t i = 0; i < rows_[row].size(); ++i)
            text += std::find(right.begin(), right.end(), i) == right.end() ? "|---" : "|---:";
        text += "|\n";
    }
    return text;
}

std::string markdown_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '|':
            out += "\\|";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '`':
        case '*':
        case '_':
            out += '\\';
            out += c;
            break;
        case '\n':
        case '\r':
            out += ' ';
            break;
        default:
            out += c;
        }
    }
    return out;
}

} // namespace promtact::gates
