// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fmt/format.h>

#include <promtact/base/error_text.hpp>
#include <promtact/ebpf/features.hpp>

#include "probe/sources.hpp"

namespace promtact::harness::probe {

namespace {

Answer answer_of(ebpf::Answer answer) {
    switch (answer) {
    case ebpf::Answer::yes:
        return Answer::yes;
    case ebpf::Answer::no:
        return Answer::no;
    case ebpf::Answer::unknown:
        return Answer::unknown;
    }
    return Answer::unknown;
}

std::string reason_of(const ebpf::Feature& feature) {
    if (feature.answer == ebpf::Answer::yes) return "";
    if (feature.sys_errno == 0) return feature.detail.empty() ? "not seen" : feature.detail;
    const std::string name = errno_name(feature.sys_errno);
    return feature.detail.empty() ? name : fmt::format("{}; {}", name, feature.detail);
}

} // namespace

void add_bpf(Report& report) {
    Section section(report, "bpf");
    for (const ebpf::Feature& feature : ebpf::probe_features()) {
        if (feature.name.starts_with("cap_")) continue; // the privileges section says more
        section.add(
            {.name = std::string(feature.name),
             .answer = answer_of(feature.answer),
             .value = feature.answer == ebpf::Answer::yes ? feature.detail : "",
             .reason = reason_of(feature),
             .remedy = std::string(feature.remedy)});
    }
}

} // namespace promtact::harness::probe
