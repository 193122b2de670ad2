// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Any bytes: the reader must end, say why it refuses, and never place a value outside the text.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/json_reader.hpp>

namespace {

void check_tree(const promtact::JsonValue& root, std::uint32_t lines) {
    std::vector<const promtact::JsonValue*> open{&root};
    while (!open.empty()) {
        const promtact::JsonValue& value = *open.back();
        open.pop_back();
        PROMTACT_ASSERT(value.at.line >= 1);
        PROMTACT_ASSERT(value.at.line <= lines);
        PROMTACT_ASSERT(value.at.column >= 1);
        for (const promtact::JsonValue& child : value.children)
            open.push_back(&child);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    promtact::JsonProblems problems;
    const auto value = promtact::parse_json(text, problems);
    PROMTACT_ASSERT(value.has_value() || !problems.empty());
    if (!value.has_value()) return 0;
    check_tree(*value, lines);

    promtact::ObjectReader reader(*value, problems);
    static_cast<void>(reader.optional_u64("a", 0, 1000));
    static_cast<void>(reader.optional_i64("b"));
    static_cast<void>(reader.optional_string("c"));
    reader.finish();
    if (!problems.empty()) static_cast<void>(problems.to_error("input"));
    return 0;
}
