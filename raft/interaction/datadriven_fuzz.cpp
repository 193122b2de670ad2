// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Any text either is a list of stanzas or says where it is not; what is read once more from what
// was read is the same, and every runner has an answer.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>

#include "comparison.hpp"

namespace promtact::raft::interaction {
namespace {

/// The stanza as a file would have it.
std::string written(const Stanza& stanza) {
    std::string text = stanza.command;
    for (const Argument& argument : stanza.arguments) {
        text += " " + argument.key;
        if (argument.values.empty()) continue;
        // A comma inside a value is possible only without parentheses, most else only with them.
        const std::string& first = argument.values.front();
        const bool bare =
            argument.values.size() == 1 && (first.empty() || first.find(',') != std::string::npos);
        text += bare ? "=" : "=(";
        for (std::size_t i = 0; i < argument.values.size(); ++i)
            text += (i > 0 ? "," : "") + argument.values[i];
        if (!bare) text += ")";
    }
    text += "\n" + stanza.input;
    text += (stanza.input.empty() ? "----\n----\n" : "\n----\n----\n") + stanza.expected;
    return text + "----\n----\n\n";
}

/// Output that holds the mark of its own end cannot be written back, nor what ends a line twice.
bool can_be_written(const Stanza& stanza) {
    if ((stanza.input + stanza.expected).find('\r') != std::string::npos) return false;
    if (stanza.expected.find("----") != std::string::npos) return false;
    if (("\n" + stanza.input + "\n").find("\n----\n") != std::string::npos) return false;
    if (stanza.command.starts_with('#') || stanza.command == "subtest") return false;
    if (stanza.arguments.empty()) return !stanza.command.ends_with('\\');
    for (const Argument& argument : stanza.arguments) {
        for (const std::string& value : argument.values) {
            if (value.find_first_of("\n\\") != std::string::npos) return false;
        }
    }
    return true;
}

void check(std::string_view text) {
    const auto stanzas = parse_stanzas(text);
    if (!stanzas) {
        PROMTACT_ASSERT(stanzas.error().context.starts_with("line "));
        return;
    }
    for (const Stanza& stanza : *stanzas) {
        PROMTACT_ASSERT(!stanza.command.empty());
        PROMTACT_ASSERT(stanza.expected.empty() || stanza.expected.ends_with('\n'));
        if (!can_be_written(stanza)) continue;
        const auto again = parse_stanzas(written(stanza));
        PROMTACT_ASSERT(again.has_value());
        PROMTACT_ASSERT(again->size() == 1);
        const Stanza& read = (*again).front();
        PROMTACT_ASSERT(read.command == stanza.command);
        PROMTACT_ASSERT(read.input == stanza.input);
        PROMTACT_ASSERT(read.expected == stanza.expected);
        PROMTACT_ASSERT(read.arguments.size() == stanza.arguments.size());
        for (std::size_t i = 0; i < read.arguments.size(); ++i)
            PROMTACT_ASSERT(read.arguments[i].key == stanza.arguments[i].key);
    }
    for (const Subject subject : {Subject::quorum, Subject::confchange}) {
        const Comparison comparison = compare(*stanzas, make_runner(subject));
        PROMTACT_ASSERT(comparison.stanzas == stanzas->size());
    }
}

} // namespace
} // namespace promtact::raft::interaction

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::raft::interaction::check(promtact::text_of(std::as_bytes(std::span(data, size))));
    return 0;
}
