// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Any bytes: the reader ends and says where it refuses; what it accepts is within every bound, and
// written and read again it is the same.
#include <cstdint>
#include <string_view>

#include <promtact/base/assert.hpp>
#include <promtact/scenario/read_scenario.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace promtact;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto first = scenario::read_scenario(text, "input");
    if (!first) {
        PROMTACT_ASSERT(first.error().context.starts_with("input:"));
        return 0;
    }
    PROMTACT_ASSERT(first->nodes >= 1);
    PROMTACT_ASSERT(first->nodes <= nodes_max);
    PROMTACT_ASSERT(first->steps >= 1);
    for (const Fault& fault : first->faults) {
        PROMTACT_ASSERT(fault.params_fit());
        PROMTACT_ASSERT(fault.start < fault.end);
        for (const auto* nodes : {&fault.a, &fault.b}) {
            for (const NodeId node : *nodes)
                PROMTACT_ASSERT(node.value() >= 1 && node.value() <= first->nodes);
        }
    }
    const std::string written = scenario::write_scenario(*first);
    const auto second = scenario::read_scenario(written, "written");
    PROMTACT_ASSERT(second.has_value());
    PROMTACT_ASSERT(scenario::write_scenario(*second) == written);
    return 0;
}
