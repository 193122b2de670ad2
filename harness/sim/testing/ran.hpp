// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A command run inside a test, with what it printed.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/sim/sim_main.hpp>

namespace promtact::sim::testing {

struct Ran {
    int exit = 0;
    std::string out{};
    std::string err{};
};

template <class Run>
Ran run(Run command, const Tool& tool, const std::vector<std::string>& words) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Ran ran;
    ran.exit = command(tool, words);
    ran.out = ::testing::internal::GetCapturedStdout();
    ran.err = ::testing::internal::GetCapturedStderr();
    return ran;
}

} // namespace promtact::sim::testing
