// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "steps.hpp"

#include <algorithm>

#include <promtact/base/assert.hpp>
#include <promtact/base/numbers.hpp>

namespace promtact::raft::interaction {
namespace {

using promtact::detail::quoted;
using promtact::detail::trimmed;

Result<ConfigurationStep> read_step(std::string_view word) {
    constexpr std::string_view letters = "vrul"; // in the order of StepKind
    PROMTACT_ASSERT(!word.empty());
    const std::size_t kind = letters.find(word.front());
    if (word.size() < 2 || kind == std::string_view::npos)
        return Error{Errc::invalid_argument, 0, quoted(word) + " is not v, l, r or u and a member"};
    PROMTACT_TRY_ASSIGN(const NodeId member, parse_u64(word.substr(1)));
    return ConfigurationStep{.kind = static_cast<StepKind>(kind), .member = member};
}

} // namespace

Result<std::vector<ConfigurationStep>> read_steps(std::string_view input) {
    std::vector<ConfigurationStep> steps;
    for (std::string_view rest = trimmed(input); !rest.empty(); rest = trimmed(rest)) {
        const std::size_t size = std::min(rest.find_first_of(" \n\t"), rest.size());
        PROMTACT_TRY_ASSIGN(const ConfigurationStep step, read_step(rest.substr(0, size)));
        steps.push_back(step);
        rest.remove_prefix(size);
    }
    return steps;
}

} // namespace promtact::raft::interaction
