// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Small answers of /proc and /sys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace promtact::gates {

/// The file's text without surrounding white space, or nothing when it cannot be read.
std::optional<std::string> read_fact(const std::filesystem::path& path);
/// The same with "unknown" for nothing.
std::string fact_or_unknown(const std::filesystem::path& path);
/// The text as a decimal number, or nothing.
std::optional<std::uint64_t> parse_number(std::string_view text);
/// The file's text as a decimal number, or nothing.
std::optional<std::uint64_t> read_number(const std::filesystem::path& path);
/// The word in brackets of "none [mq-deadline] kyber"; the whole text when there is none.
std::string chosen_word(std::string_view text);
/// The value of "key : value" or "key=value" on the first line that starts with key.
std::optional<std::string> line_value(std::string_view text, std::string_view key, char separator);

} // namespace promtact::gates
