// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fmt/format.h>

#include <promtact/base/error_text.hpp>
#include <promtact/uring/features.hpp>

#include "probe/sources.hpp"

namespace promtact::harness::probe {

namespace {

Answer answer_of(uring::Support support) {
    switch (support) {
    case uring::Support::no:
        return Answer::no;
    case uring::Support::yes:
        return Answer::yes;
    case uring::Support::unknown:
        return Answer::unknown;
    }
    return Answer::unknown;
}

/// The kernel offers many of these; a row for each that is there would bury the others.
bool shares_a_row(uring::FeatureGroup group) {
    return group == uring::FeatureGroup::setup || group == uring::FeatureGroup::mask ||
           group == uring::FeatureGroup::opcode;
}

Fact fact_of(const uring::Feature& feature) {
    Fact fact{.name = feature.name, .answer = answer_of(feature.support)};
    if (shares_a_row(feature.group)) {
        fact.group = to_string(feature.group);
    } else {
        fact.value = to_string(feature.group);
    }
    if (fact.answer == Answer::yes) return fact;
    fact.reason = feature.reason.empty() ? "refused" : feature.reason;
    if (feature.sys_errno != 0 &&
        fact.reason.find(errno_name(feature.sys_errno)) == std::string::npos)
        fact.reason = fmt::format("{}: {}", errno_name(feature.sys_errno), fact.reason);
    return fact;
}

} // namespace

void add_io_uring(Report& report, const std::filesystem::path& directory) {
    Section section(report, "io_uring");
    const uring::FeatureReport found = uring::probe_features(directory);
    section.add(
        {.name = "setup",
         .answer = answer_of(found.io_uring),
         .value = found.io_uring == uring::Support::yes ? "io_uring_setup(2) works" : "",
         .reason = found.io_uring == uring::Support::yes ? "" : found.reason});
    for (const uring::Feature& feature : found.features)
        section.add(fact_of(feature));
}

} // namespace promtact::harness::probe
