// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What this kernel offers to this process, found by attempting each thing, never by version number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace promtact::uring {

enum class Support : std::uint8_t { no, yes, unknown };
std::string_view to_string(Support support) noexcept;

enum class FeatureGroup : std::uint8_t {
    setup,        // io_uring_setup flags
    mask,         // IORING_FEAT_* bits
    opcode,       // IORING_REGISTER_PROBE
    registration, // buffers, files, ring descriptor
    operation,    // a real request on a real file
};
std::string_view to_string(FeatureGroup group) noexcept;

struct Feature {
    FeatureGroup group = FeatureGroup::setup;
    std::string name{}; // IORING_SETUP_IOPOLL, RWF_ATOMIC, linked_write_fsync
    Support support = Support::unknown;
    int sys_errno = 0;    // of the refusal, 0 when none
    std::string reason{}; // why not, and what a person can do; empty when yes
};

struct FeatureReport {
    Support io_uring = Support::unknown;
    int sys_errno = 0;    // of io_uring_setup when io_uring is not yes
    std::string reason{}; // names the sysctl, seccomp filter or limit to change
    std::uint32_t features_mask = 0;
    std::uint32_t last_opcode = 0;
    std::string filesystem{}; // where the operations were tried
    std::vector<Feature> features{};

    /// nullptr when no feature has this name.
    [[nodiscard]] const Feature* find(std::string_view name) const noexcept;
    [[nodiscard]] bool has(std::string_view name) const noexcept;
};

/// Attempts everything. The operations run on a nameless scratch file in `directory`; when that
/// cannot be made they are `unknown` with the reason. Leaves nothing behind.
FeatureReport probe_features(const std::filesystem::path& directory);

} // namespace promtact::uring
