// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/assert.hpp>
#include <promtact/uring/operation.hpp>

namespace promtact::uring {

std::string_view to_string(OpKind kind) noexcept {
    switch (kind) {
    case OpKind::nop:
        return "nop";
    case OpKind::read:
        return "read";
    case OpKind::write:
        return "write";
    case OpKind::read_fixed:
        return "fixed read";
    case OpKind::write_fixed:
        return "fixed write";
    case OpKind::sync_data:
        return "data sync";
    case OpKind::sync_all:
        return "sync";
    }
    PROMTACT_UNREACHABLE();
}

} // namespace promtact::uring
