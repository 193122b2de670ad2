// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <utility>

#include "snapshot_error_internal.hpp"

namespace promtact::wal {

Error snapshot_error(Errc code, std::uint64_t offset, std::string_view field, std::string what) {
    return {
        code, 0,
        "snapshot image, byte " + number(offset) + ", " + std::string(field) + ": " +
            std::move(what)};
}

} // namespace promtact::wal
