// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <string_view>

namespace promtact::sim {

/// viewer/viewer.html, put into the program when it is built.
std::string_view viewer_page();

} // namespace promtact::sim
