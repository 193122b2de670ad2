// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Any list of commands can be carried out by real nodes, one after the other: what makes no sense
// is an error of its stanza, and no order of commands breaks an assertion of the core.
#include <cstdint>
#include <span>
#include <string_view>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>

#include "interaction_runner.hpp"

namespace promtact::raft::interaction {
namespace {

constexpr std::size_t stanzas_max = 64;

void check(std::string_view text) {
    const auto stanzas = parse_stanzas(text);
    if (!stanzas || stanzas->size() > stanzas_max) return;
    const Comparison comparison = compare_states(*stanzas);
    PROMTACT_ASSERT(comparison.stanzas == stanzas->size());
    PROMTACT_ASSERT(comparison.equal <= comparison.stanzas);
    PROMTACT_ASSERT(comparison.unexplained() <= comparison.different());
}

} // namespace
} // namespace promtact::raft::interaction

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::raft::interaction::check(promtact::text_of(std::as_bytes(std::span(data, size))));
    return 0;
}
