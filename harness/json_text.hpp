// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <string>
#include <string_view>

namespace promtact::harness {

/// The text as a JSON string literal with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

} // namespace promtact::harness
