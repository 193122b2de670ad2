// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The wording every complaint about an image shares: which byte, which field, what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>

namespace promtact::wal {

/// "snapshot image, byte 36, chunk bytes: 7 is not a multiple of 4096"
Error snapshot_error(Errc code, std::uint64_t offset, std::string_view field, std::string what);

inline std::string number(std::uint64_t value) {
    return std::to_string(value);
}

} // namespace promtact::wal
