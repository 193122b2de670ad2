// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "build_info.hpp"

#include <fmt/format.h>

#include "revision.hpp"

namespace promtact::harness {

namespace {

std::string compiler() {
#if defined(__clang__)
    return fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

#if defined(__x86_64__)
constexpr std::string_view platform = "linux/amd64";
#elif defined(__aarch64__)
constexpr std::string_view platform = "linux/arm64";
#else
constexpr std::string_view platform = "linux/other";
#endif

} // namespace

BuildInfo build_info() {
    return {
        .version = PROMTACT_VERSION,
        .revision = PROMTACT_REVISION,
        .revision_time = PROMTACT_REVISION_TIME,
        .modified = PROMTACT_REVISION_MODIFIED,
        .build_type = PROMTACT_BUILD_TYPE,
        .compiler = compiler(),
        .platform = platform};
}

} // namespace promtact::harness
