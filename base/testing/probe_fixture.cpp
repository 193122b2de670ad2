// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Marks that the probe test reads through a static library: one object file, of which the test
// calls one function.
#include "probe_fixture.hpp"

#include <promtact/base/probe.hpp>

namespace promtact::test_support {
namespace {

[[maybe_unused]] void never_called() {
    PROMTACT_PROBE("fixture: a function nobody calls");
}

} // namespace

int called(int value) {
    PROMTACT_REACHABLE("fixture: called");
    PROMTACT_SOMETIMES(value > 5, "fixture: value above five");
    PROMTACT_SOMETIMES(value < 0, "fixture: value below zero");
    if (value == 3) PROMTACT_PROBE("fixture: exactly three");
    return value;
}

int not_called(int value) {
    PROMTACT_REACHABLE("fixture: not called");
    return value;
}

} // namespace promtact::test_support
