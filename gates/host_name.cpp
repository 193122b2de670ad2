// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/gates/host_facts.hpp>

namespace promtact::gates {
namespace {

constexpr std::size_t name_length_max = 63;

bool is_lower(char c) noexcept {
    return c >= 'a' && c <= 'z';
}
bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

// The model's words in lower case, joined by hyphens, without marketing noise.
std::string slug_of(std::string_view model) {
    std::string slug;
    bool gap = false;
    for (const char c : model.substr(0, model.find('@'))) {
        const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        if (!is_lower(lower) && !is_digit(lower)) {
            gap = !slug.empty();
            continue;
        }
        if (gap) slug += '-';
        gap = false;
        slug += lower;
    }
    for (const std::string_view noise : {"-r", "-tm", "-cpu", "-processor"}) {
        for (auto at = slug.find(noise); at != std::string::npos; at = slug.find(noise, at + 1)) {
            const std::size_t end = at + noise.size();
            if (end == slug.size() || slug[end] == '-') slug.erase(at, noise.size());
        }
    }
    return slug.substr(0, 40);
}

} // namespace

Result<void> check_host_name(std::string_view name) {
    constexpr std::string_view rule =
        "a host name is a slug of 1 to 63 characters: a-z, 0-9 and single hyphens inside";
    const auto bad = [&](std::string_view what) {
        return Error{
            Errc::invalid_argument, 0,
            "host name \"" + std::string(name.substr(0, 80)) + "\" " + std::string(what) + ": " +
                std::string(rule)};
    };
    if (name.empty()) return bad("is empty");
    if (name.size() > name_length_max) return bad("is too long");
    if (name.front() == '-' || name.back() == '-') return bad("begins or ends with a hyphen");
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (!is_lower(c) && !is_digit(c) && c != '-')
            return bad("has a character that is not allowed");
        if (c == '-' && name[i - 1] == '-') return bad("has two hyphens in a row");
    }
    return {};
}

std::string default_host_name(const MachineFacts& machine) {
    const std::string kind = machine.container != "none" && machine.container != "unknown"
                                 ? "container"
                             : machine.hypervisor != "none" ? "vm"
                                                            : "metal";
    std::string cpu = slug_of(machine.cpu_model);
    while (!cpu.empty() && cpu.back() == '-')
        cpu.pop_back();
    if (cpu.empty()) cpu = "unknown";
    return kind + "-" + cpu + "-" + std::to_string(machine.cpus) + "cpu";
}

} // namespace promtact::gates
