// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Which build this is. Link promtact::build_info: it is a library of its own, since it changes with
// every commit and only the programs that state their build should be linked again.
#pragma once

#include <string>
#include <string_view>

namespace promtact {

struct BuildInfo {
    std::string_view version{};    // "0.1.0"
    std::string_view commit{};     // 40 hexadecimal digits, or "unknown" outside a git checkout
    bool dirty = true;             // sources differ from the commit (results/ is not source)
    std::string_view compiler{};   // "g++ 12.2.0"
    std::string_view flags{};      // "-O1 -g", with the sanitizers
    std::string_view build_type{}; // "Dev"
    std::string_view preset{};     // "dev"; empty when configured without a preset
    bool assertions = true;        // always: assertions stay on in every build
};

/// Frozen when the program was built: the sources as the build saw them.
const BuildInfo& build_info() noexcept;

/// "promtact 0.1.0 (4c0ecc9a1b2c, dirty, g++ 12.2.0 -O1 -g)"
std::string build_line();

} // namespace promtact
