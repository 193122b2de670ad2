// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The payload of a configuration entry: the whole configuration that holds from this entry on, and
// the owner's context (for example addresses). The result and not the change is written, so that
// reading it needs nothing that came before.
//
// Shape: u32 bytes of the configuration | the configuration | the context. Little-endian.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/raft/configuration.hpp>

namespace promtact::raft {

/// What a configuration entry says. Lifetime: context is that of the entry.
struct ConfigurationEntry {
    Configuration configuration{};
    std::span<const std::byte> context{};
};

/// Replaces out. Requires: validate(configuration)
void encode_configuration_entry(
    const Configuration& configuration, std::span<const std::byte> context,
    std::vector<std::byte>& out);

/// Errors: corrupt or format (not written by the above); a configuration nobody votes in is corrupt
Result<ConfigurationEntry> decode_configuration_entry(std::span<const std::byte> data);

} // namespace promtact::raft
