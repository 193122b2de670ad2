// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <optional>

#include <promtact/wal/log.hpp>

namespace promtact::wal::testing {

/// Small segments and frames, so that a test sees rotations.
inline LogConfig small_config(std::optional<Engine> only = std::nullopt) {
    LogConfig config;
    config.only = only;
    config.log.open = LogOptions::Open::either;
    config.log.segment_bytes = 64 * block_bytes;
    config.log.frame_bytes_max = 8 * block_bytes;
    config.log.zero_chunk_bytes = 16 * block_bytes;
    return config;
}

} // namespace promtact::wal::testing
