// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Any words at all: FlagSet answers 0 with help, 2 with a message, or accepts values within bounds.
#include <algorithm>
#include <cstdint>

#include <promtact/base/assert.hpp>
#include <promtact/harness/flags.hpp>

#include "word.hpp"

namespace {

/// Words are separated by byte 0x1E, which no useful word contains, so NUL bytes stay inside words.
std::vector<std::string> words_of(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> words;
    if (size == 0) return words;
    words.emplace_back();
    for (std::size_t i = 0; i < size; ++i) {
        if (data[i] == 0x1E) {
            words.emplace_back();
        } else {
            words.back().push_back(static_cast<char>(data[i]));
        }
    }
    return words;
}

bool is_safe(const std::string& text) {
    return promtact::harness::valid_utf8(text) && std::ranges::all_of(text, [](char c) {
               return c == '\n' || static_cast<std::uint8_t>(c) >= 0x20;
           });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::string> words = words_of(data, size);
    std::string path = "/tmp/x";
    std::uint64_t operations = 5;
    bool keep = false;
    std::string mode = "quick";
    std::vector<std::string> gates;
    promtact::harness::FlagSet flags("promtact fuzz", "takes any words");
    flags.text("c,config", path, "a file");
    flags.number("operations", operations, 1, 1'000'000, "operations");
    flags.flag("keep", keep, "keep");
    flags.choice("class", mode, {"quick", "full"}, "class");
    flags.positionals("gate", gates, 0, 3, "gates");

    const auto outcome = flags.evaluate(words);

    PROMTACT_ASSERT(operations >= 1);
    PROMTACT_ASSERT(operations <= 1'000'000);
    PROMTACT_ASSERT(mode == "quick" || mode == "full");
    PROMTACT_ASSERT(!path.empty());
    PROMTACT_ASSERT(gates.size() <= 3);
    PROMTACT_ASSERT(promtact::harness::unfit(path).empty());
    if (!outcome.exit) {
        // A text value is some word, or what follows an equals sign in one, byte for byte.
        const bool typed = std::ranges::any_of(
            words, [&](const std::string& word) { return word.ends_with(path); });
        PROMTACT_ASSERT(typed || !flags.given("config"));
        PROMTACT_ASSERT(outcome.out.empty() && outcome.err.empty());
        return 0;
    }
    PROMTACT_ASSERT(*outcome.exit == 0 || *outcome.exit == 2);
    PROMTACT_ASSERT((*outcome.exit == 0) == outcome.err.empty());
    PROMTACT_ASSERT((*outcome.exit == 2) == outcome.out.empty());
    PROMTACT_ASSERT(is_safe(outcome.err));
    return 0;
}
