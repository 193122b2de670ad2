// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// CRC32C (Castagnoli), the checksum of every record and frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace promtact {

/// The CRC32C of bytes: 0xE3069283 for the text "123456789", 0 for no bytes.
/// Source: RFC 3720 appendix B.4.
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// Continues: crc32c_extend(crc32c(a), b) is crc32c of a followed by b.
std::uint32_t crc32c_extend(std::uint32_t crc, std::span<const std::byte> bytes) noexcept;

/// The portable version, used where ISA-L is absent and under sanitizers (assembly is invisible to
/// them). Same values as crc32c_extend.
std::uint32_t crc32c_extend_table(std::uint32_t crc, std::span<const std::byte> bytes) noexcept;

/// True when crc32c() runs ISA-L's instructions rather than the table.
bool crc32c_is_accelerated() noexcept;

} // namespace promtact
