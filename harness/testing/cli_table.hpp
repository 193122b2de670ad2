// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reads harness/testdata/cli_table.txt; its head describes the format.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::harness::testing {

struct CliRow {
    std::uint32_t line = 0;
    std::string text{};                   // of the command column, for messages
    std::vector<std::string> modifiers{}; // "root", "env NAME=value"
    std::vector<std::string> words{};
    int exit = 0;
    std::vector<std::string> out{}; // what stdout must contain; {"-"}: nothing at all
    std::vector<std::string> err{};
};

/// What a failing test shows instead of the row's bytes.
void PrintTo(const CliRow& row, std::ostream* out);

/// Errors: format, naming the line.
Result<std::vector<CliRow>> parse_cli_table(std::string_view text);

} // namespace promtact::harness::testing
