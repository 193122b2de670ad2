// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Where the kernel's views are mounted; a test points them at a directory it made.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <promtact/base/mount_table.hpp>
#include <promtact/base/result.hpp>

namespace promtact::harness::probe {

struct Roots : SystemRoots {
    std::string dev = "/dev";
};

/// A small file without its trailing blanks. Errors: not_found, denied, … from reading it.
Result<std::string> read_line(const std::string& path);

/// The value of "Name:\tvalue" in a text like /proc/self/status; nullopt when there is no such
/// line.
std::optional<std::string> status_field(std::string_view text, std::string_view name);

} // namespace promtact::harness::probe
