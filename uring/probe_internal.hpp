// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The parts of probe_features(). Each appends what it found.
#pragma once

#include <filesystem>
#include <string>

#include <promtact/uring/features.hpp>

namespace promtact::uring {

/// io_uring_setup with nothing asked: fills io_uring, sys_errno, reason, features_mask. True when
/// the rest is worth trying.
bool probe_plain_setup(FeatureReport& report);
void probe_setup_flags(FeatureReport& report);
void probe_mask(FeatureReport& report);
void probe_opcodes(FeatureReport& report);
void probe_registrations(FeatureReport& report);
void probe_operations(FeatureReport& report, const std::filesystem::path& directory);

Feature supported(FeatureGroup group, std::string name);
Feature refused(FeatureGroup group, std::string name, int sys_errno, std::string reason);

} // namespace promtact::uring
