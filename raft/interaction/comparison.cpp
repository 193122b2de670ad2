// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "comparison.hpp"

#include <string_view>
#include <utility>

#include <promtact/base/assert.hpp>

#include "confchange_runner.hpp"
#include "quorum_runner.hpp"

namespace promtact::raft::interaction {

Comparison compare(std::span<const Stanza> stanzas, const Runner& runner) {
    Comparison comparison;
    for (const Stanza& stanza : stanzas) {
        auto output = runner(stanza);
        std::string actual = output ? *std::move(output) : "cannot run: " + output.error().context;
        if (!actual.empty() && !actual.ends_with('\n')) actual += '\n';
        ++comparison.stanzas;
        ++comparison.compared;
        if (actual == stanza.expected) {
            ++comparison.equal;
        } else {
            comparison.differences.push_back(
                {.line = stanza.line,
                 .command = stanza.command,
                 .expected = stanza.expected,
                 .actual = std::move(actual)});
        }
    }
    PROMTACT_ASSERT(comparison.differences.size() == comparison.different());
    return comparison;
}

std::size_t Comparison::unexplained() const noexcept {
    std::size_t explained = 0;
    for (const auto& [reason, count] : intended)
        explained += count;
    PROMTACT_ASSERT(explained <= different());
    return different() - explained;
}

Subject subject_of(std::span<const Stanza> stanzas) {
    for (const Stanza& stanza : stanzas) {
        const std::string_view command = stanza.command;
        if (command == "committed" || command == "vote") return Subject::quorum;
        if (command == "simple" || command == "enter-joint" || command == "leave-joint")
            return Subject::confchange;
    }
    return Subject::interaction;
}

Runner make_runner(Subject subject) {
    switch (subject) {
    case Subject::quorum:
        return run_quorum;
    case Subject::confchange:
        return ConfchangeRunner{};
    case Subject::interaction:
        break;
    }
    PROMTACT_ASSERT(false);
    return {};
}

} // namespace promtact::raft::interaction
