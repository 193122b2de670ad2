// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/base/probe.hpp>

namespace promtact::test_support {

int called(int value);
int not_called(int value);

/// Instantiated in two translation units: still one site.
inline int shared_inline(int value) {
    PROMTACT_PROBE("fixture: inline function in a header");
    return value;
}

template <class T>
T generic(T value) {
    if (value > T{5}) PROMTACT_PROBE("fixture: template");
    return value;
}

} // namespace promtact::test_support
