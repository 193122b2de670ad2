// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The one place that reads environment variables. A variable of ours that nobody reads is an error
// with a remedy, never silently ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace promtact {

/// What becomes of a variable.
enum class EnvStatus : std::uint8_t {
    read,     // changes what a program does
    accepted, // harmless: what it asked for always happens
    reserved, // read by campaigns of the engine or scripts of verification/
    refused,  // a name of the past; the meaning says what to use now
};

struct EnvVariable {
    std::string_view name{};
    EnvStatus status = EnvStatus::read;
    std::string_view meaning{}; // for refused: the remedy
};

/// Every variable the project knows, sorted by name.
std::span<const EnvVariable> known_environment() noexcept;

/// What is wrong with the environment, one sentence each: refused variables with their successor,
/// and PROMTACT_* names nobody knows, with the nearest known one. Empty: all is well.
std::vector<std::string> check_environment();
/// The same for a given environment ("NAME=value" each).
std::vector<std::string> check_environment(std::span<const std::string_view> environment);

/// The value of a known variable that programs read; nothing when unset.
/// Requires: name is in known_environment() and its status is read or reserved
std::optional<std::string> environment_value(std::string_view name);

} // namespace promtact
