// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "test_paths.hpp"

namespace promtact {

std::string test_source_path(std::string_view relative) {
    return std::string(PROMTACT_SOURCE_DIR "/") + std::string(relative);
}

std::string test_build_path(std::string_view relative) {
    return std::string(PROMTACT_BINARY_DIR "/") + std::string(relative);
}

} // namespace promtact
