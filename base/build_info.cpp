// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/build_info.hpp>

// Written by cmake/PromtactBuildInfo.cmake at build time, only when something changed.
#include "promtact_build_info_values.hpp"

namespace promtact {
namespace {

constexpr BuildInfo info{
    .version = PROMTACT_BUILD_VERSION,
    .commit = PROMTACT_BUILD_COMMIT,
    .dirty = PROMTACT_BUILD_DIRTY,
    .compiler = PROMTACT_BUILD_COMPILER,
    .flags = PROMTACT_BUILD_FLAGS,
    .build_type = PROMTACT_BUILD_TYPE,
    .preset = PROMTACT_BUILD_PRESET,
    .assertions = true,
};

} // namespace

const BuildInfo& build_info() noexcept {
    return info;
}

std::string build_line() {
    std::string text = "promtact " + std::string(info.version) + " (";
    text += info.commit.substr(0, 12);
    if (info.dirty) text += ", dirty";
    return text + ", " + std::string(info.compiler) + " " + std::string(info.flags) + ")";
}

} // namespace promtact
