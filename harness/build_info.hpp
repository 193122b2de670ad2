// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What this binary was built from and by.
#pragma once

#include <string>
#include <string_view>

namespace promtact::harness {

struct BuildInfo {
    std::string_view version{};       // "0.1.0"
    std::string_view revision{};      // commit, or "unknown" outside a checkout
    std::string_view revision_time{}; // of the commit, ISO 8601
    bool modified = false;            // tracked files differed from the commit
    std::string_view build_type{};    // CMAKE_BUILD_TYPE
    std::string compiler{};           // "g++ 12.2.0"
    std::string_view platform{};      // "linux/amd64"
};

BuildInfo build_info();

} // namespace promtact::harness
