// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What this kernel and this process can do with BPF, found by doing it and not by version numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::ebpf {

enum class Answer : std::uint8_t { yes, no, unknown };
std::string_view to_string(Answer answer) noexcept;

struct Feature {
    std::string_view name{}; // snake_case, stable
    Answer answer = Answer::unknown;
    int sys_errno = 0;         // why not
    std::string detail{};      // a fact worth showing, for example a sysctl's value
    std::string_view remedy{}; // what the operator can do; empty when the answer is yes
};

/// Tries everything in a throw-away network namespace and with throw-away programs and maps;
/// nothing remains. As an unprivileged user the answers it cannot get are `unknown`, with EPERM.
std::vector<Feature> probe_features();

} // namespace promtact::ebpf
