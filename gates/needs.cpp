// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <system_error>

#include <unistd.h>

#include <promtact/gates/host_facts.hpp>
#include <promtact/gates/runner.hpp>

namespace promtact::gates {
namespace {

std::string with_remedy(std::string text, const Need& need) {
    return need.remedy.empty() ? text : text + ": " + std::string(need.remedy);
}

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
        return Error{Errc::denied, 0, with_remedy("needs " + name, need)};
    case Need::Kind::root:
        if (::geteuid() == 0) return {};
        return Error{Errc::denied, 0, with_remedy("needs the root user", need)};
    case Need::Kind::kconfig: {
        const std::string value = kconfig_value(need.name);
        if (value != "not set" && value != "n") return {};
        return Error{
            Errc::unsupported, 0, with_remedy("needs " + name + ", which this kernel lacks", need)};
    }
    case Need::Kind::path: {
        std::error_code error;
        if (std::filesystem::exists(need.name, error)) return {};
        return Error{
            Errc::unsupported, 0, with_remedy("needs " + name + ", which is not there", need)};
    }
    }
    PROMTACT_UNREACHABLE();
}

} // namespace

std::vector<Error> missing_needs(const GateInfo& info) {
    std::vector<Error> missing;
    for (const Need& need : info.needs)
        if (Result<void> met = check_need(need); !met) missing.push_back(std::move(met).error());
    return missing;
}

} // namespace promtact::gates
