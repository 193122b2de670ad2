// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// For tests: runs a program to its end under chosen circumstances and keeps what it said.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::harness::testing {

enum class Stdout : std::uint8_t { captured, full_device, closed };

struct Launch {
    std::string program{};                  // path of the binary
    std::vector<std::string> argv{};        // argv[0] decides how the umbrella answers
    std::vector<std::string> environment{}; // NAME=value, on top of PATH and sanitizer options
    std::string directory = "/";
    std::string standard_input = "/dev/null"; // path of a file
    Stdout standard_output = Stdout::captured;
    bool as_nobody = false;                 // user and group 65534 without capabilities; needs root
    std::optional<int> io_uring_errno{};    // a seccomp filter answers io_uring_setup(2) with this
    std::vector<std::string> full_mounts{}; // directories covered, for this process only, by a
                                            // memory filesystem without a free block; needs root
    std::vector<std::string> read_only_mounts{}; // the same, read-only
    std::chrono::seconds limit{60};
};

struct Finish {
    int exit = -1; // 128 + signal when killed
    std::string out{};
    std::string err{};
    std::chrono::microseconds cpu{}; // user and system time of the program
};

/// Errors: what preparing the process gives; timeout after killing it at the limit.
Result<Finish> run(const Launch& launch);

/// Path of a program in the build's bin directory.
std::string built(const std::string& name);

} // namespace promtact::harness::testing
