// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Any bytes as the file of a recorded run: the reader ends and says where it refuses; what it
// accepts can be written and read again as the same, and compared with itself.
#include <cstdint>
#include <string_view>

#include <promtact/base/assert.hpp>
#include <promtact/sim/recording.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace promtact;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto first = sim::read_recording(text, "input");
    if (!first) {
        PROMTACT_ASSERT(first.error().context.starts_with("input:"));
        return 0;
    }
    const Scenario& scenario = first->run.scenario;
    PROMTACT_ASSERT(scenario.nodes >= 1);
    PROMTACT_ASSERT(scenario.nodes <= nodes_max);
    PROMTACT_ASSERT(
        first->run.fault_ids.empty() || first->run.fault_ids.size() == scenario.faults.size());
    const std::string written = sim::write_recording(*first);
    const auto second = sim::read_recording(written, "written");
    PROMTACT_ASSERT(second.has_value());
    PROMTACT_ASSERT(sim::write_recording(*second) == written);
    PROMTACT_ASSERT(!sim::first_difference(*first, *second));
    return 0;
}
