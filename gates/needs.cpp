// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <system_error>

#include <unistd.h>

#include <promtact/gates/host_facts.hpp>
#include <promtact/gates/runner.hpp>

namespace promtact::gates {
namespace {

bool has_capability(std::string_view name) {
    const std::vector<std::string> all = effective_capabilities();
    return std::find(all.begin(), all.end(), name) != all.end();
}

// Nothing when the need is met.
Result<void> check_need(const Need& need) {
    const std::string name(need.name);
    switch (need.kind) {
    case Need::Kind::capability:
        if (has_capability(need.name)) return {};
        return Error{Errc::denied, 0, "needs " + name};
    case Need::Kind::root:
        if (::geteuid() == 0) return {};
        return Error{Errc::denied, 0, "needs the root user"};
    case Need::Kind::kconfig: {
        const std::string value = kconfig_value(need.name);
        if (value != "not set" && value != "n") return {};
        return Error{Errc::unsupported, 0, "needs " + name + ", which this kernel lacks"};
    }
    case Need::Kind::path: {
        std::error_code error;
        if (std::filesystem::exists(need.name, error)) return {};
        return Error{Errc::unsupported, 0, "needs " + name + ", which is not there"};
    }
    }
    PROMTACT_UNREACHABLE();
}

} // namespace

std::vector<MissingNeed> missing_needs(const GateInfo& info) {
    std::vector<MissingNeed> missing;
    for (const Need& need : info.needs) {
        if (Result<void> met = check_need(need); !met)
            missing.push_back({std::move(met).error(), std::string(need.remedy)});
    }
    return missing;
}

} // namespace promtact::gates
