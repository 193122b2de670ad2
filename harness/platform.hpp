// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <string_view>

namespace promtact::harness {

/// Operating system and architecture, in the spelling of Go.
#if defined(__x86_64__)
inline constexpr std::string_view platform = "linux/amd64";
#elif defined(__aarch64__)
inline constexpr std::string_view platform = "linux/arm64";
#else
inline constexpr std::string_view platform = "linux/other";
#endif

} // namespace promtact::harness
