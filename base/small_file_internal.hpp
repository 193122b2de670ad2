// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reading the one-page files of sysfs and procfs.
#pragma once

#include <string>

#include <promtact/base/result.hpp>

namespace promtact {

/// The whole file. Errors: of open(2) and read(2); out_of_range above 4 MiB, which no such file
/// reaches.
Result<std::string> read_small_file(const std::string& path);

/// The file without trailing white space.
Result<std::string> read_trimmed(const std::string& path);

} // namespace promtact
