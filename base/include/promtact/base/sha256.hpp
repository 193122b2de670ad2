// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// SHA-256 of buffers and files, for checksums of evidence and backups.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>

namespace promtact {

using Sha256Digest = std::array<std::byte, 32>;

/// Hashes piece by piece. Source: FIPS 180-4, through OpenSSL.
class Sha256 {
  public:
    Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    ~Sha256();

    /// Requires: finish() was not called yet
    void update(std::span<const std::byte> bytes) noexcept;
    /// Requires: called once
    [[nodiscard]] Sha256Digest finish() noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The digest of bytes in memory, in one call.
[[nodiscard]] Sha256Digest sha256(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] Sha256Digest sha256(std::string_view text) noexcept;

/// Reads the whole file, however large, in pieces. Errors: those of open and read.
Result<Sha256Digest> sha256_file(const std::filesystem::path& path);

/// 64 lower-case hexadecimal digits, as in SHA256SUMS.
[[nodiscard]] std::string to_hex(const Sha256Digest& digest);

/// Errors: invalid_argument unless text is exactly 64 hexadecimal digits.
Result<Sha256Digest> parse_sha256(std::string_view text);

} // namespace promtact
