// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "probe/report.hpp"

#include <algorithm>

#include <promtact/base/assert.hpp>

namespace promtact::harness::probe {

std::string_view to_string(Answer answer) noexcept {
    switch (answer) {
    case Answer::yes:
        return "yes";
    case Answer::no:
        return "no";
    case Answer::unknown:
        return "unknown";
    }
    return "unknown";
}

std::size_t Report::count(Answer answer) const noexcept {
    return static_cast<std::size_t>(std::ranges::count(facts, answer, &Fact::answer));
}

const Fact* Report::find(std::string_view section, std::string_view name) const noexcept {
    for (const Fact& fact : facts)
        if (fact.section == section && fact.name == name) return &fact;
    return nullptr;
}

void Section::add(Fact fact) {
    fact.section = name_;
    PROMTACT_ASSERT(!fact.name.empty());
    PROMTACT_ASSERT(report_.find(name_, fact.name) == nullptr);
    // Grey and red are never silent.
    PROMTACT_ASSERT(fact.answer == Answer::yes || !fact.reason.empty());
    report_.facts.push_back(std::move(fact));
}

void Section::yes(std::string_view name, std::string_view value) {
    add({.name = std::string(name), .answer = Answer::yes, .value = std::string(value)});
}

void Section::no(std::string_view name, std::string_view reason, std::string_view remedy) {
    add(
        {.name = std::string(name),
         .answer = Answer::no,
         .reason = std::string(reason),
         .remedy = std::string(remedy)});
}

void Section::unknown(std::string_view name, std::string_view reason, std::string_view remedy) {
    add(
        {.name = std::string(name),
         .answer = Answer::unknown,
         .reason = std::string(reason),
         .remedy = std::string(remedy)});
}

} // namespace promtact::harness::probe
