// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the benchmarks of the umbrella share: flags, the end, exit codes. `command` is the words
// after promtact, for example "bench storage".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/gates/record.hpp>
#include <promtact/harness/flags.hpp>

#include "commands/started.hpp"

namespace promtact::harness {

struct BenchCommon {
    std::string directory = ".";
    std::string out{};
    std::string host{};
    std::string seed = "0x4A2C";
    bool json = false;
    std::uint64_t seed_value = 0;
};

void add_bench_flags(FlagSet& flags, BenchCommon& common);
/// What is wrong with the common flags; fills in the seed.
std::optional<std::string> bench_contradiction(BenchCommon& common);

/// Prints the message and returns the code.
int bench_fail(const std::string& command, const std::string& message, int code);
/// 77 for what the host lacks or forbids, else 1.
int bench_exit_of(const Error& error);
/// The worst record decides: 1 failed, 5 inconclusive, 0 passed.
int bench_exit_code(const std::vector<gates::GateRecord>& records);

/// Publishes the records and prints them, or the text. Returns 0, or 1 when that failed.
int bench_conclude(
    const std::string& command, const BenchCommon& common, std::vector<gates::GateRecord> records,
    std::string text, const Started& started);

} // namespace promtact::harness
