// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/assert.hpp>
#include <promtact/uring/features.hpp>

#include "probe_internal.hpp"

namespace promtact::uring {

std::string_view to_string(Support support) noexcept {
    switch (support) {
    case Support::no:
        return "no";
    case Support::yes:
        return "yes";
    case Support::unknown:
        return "unknown";
    }
    PROMTACT_UNREACHABLE();
}

std::string_view to_string(FeatureGroup group) noexcept {
    switch (group) {
    case FeatureGroup::setup:
        return "setup flag";
    case FeatureGroup::mask:
        return "feature bit";
    case FeatureGroup::opcode:
        return "operation code";
    case FeatureGroup::registration:
        return "registration";
    case FeatureGroup::operation:
        return "operation";
    }
    PROMTACT_UNREACHABLE();
}

Feature supported(FeatureGroup group, std::string name) {
    return {.group = group, .name = std::move(name), .support = Support::yes};
}

Feature refused(FeatureGroup group, std::string name, int sys_errno, std::string reason) {
    PROMTACT_ASSERT(!reason.empty());
    return {
        .group = group,
        .name = std::move(name),
        .support = Support::no,
        .sys_errno = sys_errno,
        .reason = std::move(reason)};
}

const Feature* FeatureReport::find(std::string_view name) const noexcept {
    const auto found =
        std::find_if(features.begin(), features.end(), [name](const Feature& feature) {
            return feature.name == name;
        });
    return found == features.end() ? nullptr : &*found;
}

bool FeatureReport::has(std::string_view name) const noexcept {
    const Feature* feature = find(name);
    return feature != nullptr && feature->support == Support::yes;
}

FeatureReport probe_features(const std::filesystem::path& directory) {
    FeatureReport report;
    if (!probe_plain_setup(report)) return report;
    probe_setup_flags(report);
    probe_mask(report);
    probe_opcodes(report);
    probe_registrations(report);
    probe_operations(report, directory);
    return report;
}

} // namespace promtact::uring
