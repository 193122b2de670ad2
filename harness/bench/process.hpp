// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Runs another program to its end and keeps what it said. No shell: words go to execvp(3) as they
// are.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::harness::bench {

struct ProcessOutput {
    int exit_code = 0; // 128 + n when ended by signal n
    std::string out{};
    std::string err{};
};

struct ProcessOptions {
    std::chrono::milliseconds timeout{60'000};
    std::vector<int> keep{}; // descriptors the program inherits under the same number
    std::size_t output_max = std::size_t{16} << 20;
};

/// Errors: not_found when no such program is in PATH; denied; timeout (it and what it started were
/// killed); out_of_range when it wrote more than output_max. The program dies with us.
/// Requires: !words.empty()
Result<ProcessOutput>
run_process(const std::vector<std::string>& words, const ProcessOptions& options = {});

} // namespace promtact::harness::bench
