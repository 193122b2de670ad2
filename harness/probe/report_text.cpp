// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include <promtact/base/terminal.hpp>

#include "probe/report.hpp"
#include "word.hpp"

namespace promtact::harness::probe {

namespace {

constexpr std::size_t name_width_max = 34;

Colour colour_of(Answer answer) {
    switch (answer) {
    case Answer::yes:
        return Colour::green;
    case Answer::no:
        return Colour::red;
    case Answer::unknown:
        return Colour::yellow;
    }
    return Colour::yellow;
}

std::string row(const Fact& fact, std::size_t width, bool coloured) {
    const std::string answer = fmt::format("{:<7}", to_string(fact.answer));
    std::string said = fact.value;
    if (!fact.reason.empty()) said += (said.empty() ? "" : ": ") + fact.reason;
    std::string out = fmt::format(
        "  {}  {:<{}}  {}", paint(colour_of(fact.answer), answer, coloured), fact.name, width,
        printable(said));
    while (out.back() == ' ')
        out.pop_back();
    out += '\n';
    if (!fact.remedy.empty())
        out += fmt::format("  {:<7}  {:<{}}  -> {}\n", "", "", width, printable(fact.remedy));
    return out;
}

/// Replaces the facts of a group that are yes by one row that counts them.
std::vector<Fact> collapsed(const std::vector<Fact>& facts) {
    std::vector<Fact> rows;
    for (std::size_t i = 0; i < facts.size();) {
        std::size_t end = i + 1;
        while (!facts[i].group.empty() && end < facts.size() && facts[end].group == facts[i].group)
            ++end;
        if (facts[i].group.empty()) {
            rows.push_back(facts[i]);
        } else {
            const auto first = facts.begin() + static_cast<std::ptrdiff_t>(i);
            const auto last = facts.begin() + static_cast<std::ptrdiff_t>(end);
            const auto yes = std::count_if(
                first, last, [](const Fact& fact) { return fact.answer == Answer::yes; });
            if (yes > 0) {
                rows.push_back(
                    {.section = first->section,
                     .name = first->group,
                     .answer = Answer::yes,
                     .value = fmt::format("{} of {}", yes, end - i)});
            }
            std::copy_if(first, last, std::back_inserter(rows), [](const Fact& fact) {
                return fact.answer != Answer::yes;
            });
        }
        i = end;
    }
    return rows;
}

std::string totals(const Report& report) {
    const std::size_t unseen = report.count(Answer::unknown);
    std::string out = fmt::format(
        "{} yes, {} no, {} unknown", report.count(Answer::yes), report.count(Answer::no), unseen);
    if (unseen > 0) out += ": unknown means it could not be seen from here, not that it is absent";
    return out + "\n";
}

} // namespace

std::string as_text(const Report& report, bool coloured) {
    const std::vector<Fact> rows = collapsed(report.facts);
    std::size_t width = 0;
    for (const Fact& fact : rows)
        width = std::max(width, std::min(fact.name.size(), name_width_max));
    std::string out;
    std::string_view section;
    for (const Fact& fact : rows) {
        if (fact.section != section) {
            out += fmt::format(
                "{}{}\n", out.empty() ? "" : "\n", paint(Colour::bold, fact.section, coloured));
        }
        section = fact.section;
        out += row(fact, width, coloured);
    }
    return out + "\n" + totals(report);
}

} // namespace promtact::harness::probe
