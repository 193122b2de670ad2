// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/assert.hpp>
#include <promtact/wal/snapshot_format.hpp>

#include "snapshot_zstd_internal.hpp"

#ifdef PROMTACT_HAVE_ZSTD
#include <zstd.h>

namespace promtact::wal {
namespace {

constexpr int level = 3; // zstd's own default

struct FreeCompressor {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

} // namespace

struct ZstdChunk::State {
    std::unique_ptr<ZSTD_CCtx, FreeCompressor> compressor{};
    std::unique_ptr<ZSTD_DCtx, FreeDecompressor> decompressor{};
};

bool snapshot_zstd_available() noexcept {
    return true;
}

std::size_t ZstdChunk::compress(std::span<const std::byte> plain, std::span<std::byte> out) {
    if (!state_->compressor) state_->compressor.reset(ZSTD_createCCtx());
    PROMTACT_ASSERT(state_->compressor != nullptr);
    PROMTACT_ASSERT(!plain.empty());
    const std::size_t bytes = ZSTD_compressCCtx(
        state_->compressor.get(), out.data(), out.size(), plain.data(), plain.size(), level);
    return ZSTD_isError(bytes) != 0 ? 0 : bytes;
}

Result<void> ZstdChunk::decompress(std::span<const std::byte> stored, std::span<std::byte> out) {
    if (!state_->decompressor) state_->decompressor.reset(ZSTD_createDCtx());
    PROMTACT_ASSERT(state_->decompressor != nullptr);
    const std::size_t frame = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
    if (ZSTD_isError(frame) != 0 || frame != stored.size())
        return Error{Errc::corrupt, 0, "zstd: the stored bytes are not one frame"};
    const std::size_t bytes = ZSTD_decompressDCtx(
        state_->decompressor.get(), out.data(), out.size(), stored.data(), stored.size());
    if (ZSTD_isError(bytes) != 0)
        return Error{Errc::corrupt, 0, std::string("zstd: ") + ZSTD_getErrorName(bytes)};
    if (bytes != out.size())
        return Error{Errc::corrupt, 0, "zstd: the frame is shorter than the chunk says"};
    return {};
}

std::size_t ZstdChunk::memory_bytes() const noexcept {
    if (!state_) return 0;
    return ZSTD_sizeof_CCtx(state_->compressor.get()) +
           ZSTD_sizeof_DCtx(state_->decompressor.get());
}

} // namespace promtact::wal

#else

namespace promtact::wal {

struct ZstdChunk::State {};

bool snapshot_zstd_available() noexcept {
    return false;
}

std::size_t ZstdChunk::compress(std::span<const std::byte>, std::span<std::byte>) {
    PROMTACT_UNREACHABLE(); // check_snapshot_info() refuses the feature bit
}

Result<void> ZstdChunk::decompress(std::span<const std::byte>, std::span<std::byte>) {
    return Error{Errc::unsupported, 0, "zstd: this build has none (libzstd-dev)"};
}

std::size_t ZstdChunk::memory_bytes() const noexcept {
    return 0;
}

} // namespace promtact::wal

#endif

namespace promtact::wal {

ZstdChunk::ZstdChunk() : state_(std::make_unique<State>()) {}
ZstdChunk::ZstdChunk(ZstdChunk&&) noexcept = default;
ZstdChunk& ZstdChunk::operator=(ZstdChunk&&) noexcept = default;
ZstdChunk::~ZstdChunk() = default;

} // namespace promtact::wal
