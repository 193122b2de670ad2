// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// zstd for single chunks. The only face of the library; a build without it answers `unsupported`.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <promtact/base/result.hpp>

namespace promtact::wal {

/// Compresses and decompresses one chunk at a time with contexts it keeps.
class ZstdChunk {
  public:
    ZstdChunk();
    ZstdChunk(ZstdChunk&&) noexcept;
    ZstdChunk& operator=(ZstdChunk&&) noexcept;
    ~ZstdChunk();

    /// Bytes written to out, or 0 when the result would not fit: the caller stores the chunk plain.
    [[nodiscard]] std::size_t compress(std::span<const std::byte> plain, std::span<std::byte> out);

    /// Errors: corrupt when stored is not one frame that yields exactly out.size() bytes;
    /// unsupported without zstd.
    Result<void> decompress(std::span<const std::byte> stored, std::span<std::byte> out);

    /// Memory the contexts hold now. Units: bytes
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace promtact::wal
