// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Whole files into memory, never more than the caller can afford.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/units.hpp>

namespace promtact {

/// The content of a file or /proc entry, without trusting the size it claims. Never waits.
/// Errors: not_found, denied, …; out_of_range when there are more than limit bytes (nothing is
/// returned then); invalid_argument for a directory, pipe or socket.
Result<std::string> read_text_file(const std::filesystem::path& path, Bytes limit);
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, Bytes limit);

} // namespace promtact
