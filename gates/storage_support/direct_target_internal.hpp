// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the storage gates share: a place to write that leaves nothing behind, content that cannot be
// there by accident, and reading it back past every cache of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include <promtact/base/result.hpp>
#include <promtact/base/scratch_file.hpp>
#include <promtact/gates/gate.hpp>
#include <promtact/uring/aligned_buffer.hpp>

namespace promtact::gates {

/// GateOptions::directory, or the current directory when none was given.
std::filesystem::path target_directory(const GateContext& context);

/// A nameless O_DIRECT file in target_directory().
/// Errors: unsupported for filesystems that keep files in memory (tmpfs) or refuse O_DIRECT.
Result<ScratchFile> direct_scratch(const GateContext& context);

/// Fills a block with words that depend on seed, block number and position.
void fill_pattern(std::span<std::byte> block, std::uint64_t seed, std::uint64_t number) noexcept;

/// Reads `blocks` blocks from first_byte through fd (opened with O_DIRECT) and compares them with
/// fill_pattern(). Returns the number of the first block that differs.
/// Errors: io; short_write never; out_of_range when the target ends early.
Result<std::optional<std::uint64_t>>
first_difference(int fd, std::uint64_t first_byte, std::uint64_t blocks, std::uint64_t seed);

/// Flips one bit of the byte at `at` through its own O_DIRECT descriptor of the same file, and
/// syncs it: the sabotage of gates that must notice a damaged byte.
Result<void> flip_bit(int fd, std::uint64_t at);

} // namespace promtact::gates
