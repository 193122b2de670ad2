// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Changes fields of a valid image (or takes any bytes), mends every checksum, and decodes: what is
// accepted must be consistent, and nothing may cost more memory than the limit.
//
// Input: mode, payload size, metadata size, then changes of four bytes: part, offset, operation,
// value. With mode bit 0 the rest of the input is the image itself.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/wal/snapshot_decoder.hpp>

namespace promtact::wal {
namespace {

constexpr std::uint8_t raw_image = 1;
constexpr std::uint8_t mend = 2;
constexpr std::uint8_t announce_zstd = 4;
constexpr std::uint32_t chunk = 4096;
constexpr std::size_t changes_max = 32;

std::vector<std::byte>
make_image(std::size_t payload_bytes, std::size_t metadata_bytes, bool zstd) {
    SnapshotInfo info;
    info.generation = 1;
    info.index = 7;
    info.chunk_bytes = chunk;
    info.incompat = zstd && snapshot_zstd_available() ? snapshot_incompat_zstd : 0;
    info.metadata.assign(metadata_bytes, std::byte{5});
    std::vector<std::byte> image(snapshot_header_bytes(metadata_bytes));
    SnapshotProgress progress;
    progress.chain = encode_snapshot_header(info, image);
    progress.file_bytes = image.size();
    while (progress.payload_bytes < payload_bytes) {
        const auto size = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(chunk, payload_bytes - progress.payload_bytes));
        std::vector<std::byte> frame(snapshot_frame_bytes(size));
        for (std::uint32_t i = 0; i < size; ++i)
            frame[snapshot_chunk_header_bytes + i] = static_cast<std::byte>(i * 7 + size);
        const auto payload = std::span(frame).subspan(snapshot_chunk_header_bytes, size);
        progress.payload_crc = crc32c_extend(progress.payload_crc, payload);
        progress.chain = seal_snapshot_chunk(
            {.payload_offset = progress.payload_bytes,
             .payload_bytes = size,
             .stored_bytes = size,
             .number = static_cast<std::uint32_t>(progress.chunks)},
            progress.chain, frame);
        image.insert(image.end(), frame.begin(), frame.end());
        progress.file_bytes += frame.size();
        progress.payload_bytes += size;
        progress.chunks += 1;
    }
    std::array<std::byte, snapshot_block_bytes> trailer{};
    encode_snapshot_trailer(progress, info.generation, trailer);
    image.insert(image.end(), trailer.begin(), trailer.end());
    return image;
}

/// Continues the chain over [at, at + bytes) with the checksum field at `field`.
std::uint32_t reseal(
    std::span<std::byte> image, std::size_t at, std::size_t bytes, std::size_t field,
    std::uint32_t chain) {
    const auto part = image.subspan(at, bytes);
    store_le<std::uint32_t>(part, field, 0);
    const std::uint32_t crc = crc32c_extend(chain, part);
    store_le<std::uint32_t>(part, field, crc);
    return crc;
}

/// Gives every part that can be found a valid checksum, so that the checks behind it are reached.
void mend_checksums(std::span<std::byte> image) {
    const auto header_bytes = peek_snapshot_header(
        image.first(std::min<std::size_t>(image.size(), snapshot_block_bytes)));
    if (!header_bytes || *header_bytes > image.size()) return;
    std::uint32_t chain = reseal(image, 0, *header_bytes, SnapshotHeaderLayout::checksum, 0);
    std::size_t at = *header_bytes;
    while (image.size() - at >= snapshot_block_bytes) {
        if (is_snapshot_trailer(image.subspan(at))) {
            reseal(image, at, snapshot_block_bytes, SnapshotTrailerLayout::checksum, chain);
            return;
        }
        const auto stored =
            load_le<std::uint32_t>(image.subspan(at), SnapshotChunkLayout::stored_bytes);
        if (stored > (1U << 30)) return;
        const std::size_t frame = snapshot_frame_bytes(stored);
        if (frame > image.size() - at) return;
        const auto content = image.subspan(at, frame).subspan(snapshot_chunk_header_bytes);
        store_le<std::uint64_t>(
            image.subspan(at), SnapshotChunkLayout::sum, digest128(content).low);
        chain =
            reseal(image, at, snapshot_chunk_header_bytes, SnapshotChunkLayout::checksum, chain);
        at += frame;
    }
}

void decode_all(std::span<const std::byte> image) {
    SnapshotLimits limits;
    limits.chunk_bytes_max = 1 << 20;
    SnapshotDecoder decoder(image.size(), limits);
    std::uint64_t payload_bytes = 0;
    std::uint32_t payload_crc = 0;
    std::uint64_t steps = 0;
    bool ended = false;
    while (!decoder.done()) {
        const SnapshotWant want = decoder.want();
        PROMTACT_ASSERT(want.offset <= image.size());
        PROMTACT_ASSERT(want.bytes <= image.size() - want.offset);
        const auto event = decoder.accept(image.subspan(want.offset, want.bytes));
        ++steps;
        PROMTACT_ASSERT(steps <= image.size() / 1024 + 8);
        PROMTACT_ASSERT(decoder.memory_bytes() <= (std::size_t{2} << 20));
        if (!event) {
            PROMTACT_ASSERT(!event.error().context.empty());
            return;
        }
        if (*event == SnapshotDecoder::Event::chunk) {
            payload_bytes += decoder.payload().size();
            payload_crc = crc32c_extend(payload_crc, decoder.payload());
        }
        ended = *event == SnapshotDecoder::Event::end;
    }
    PROMTACT_ASSERT(ended);
    PROMTACT_ASSERT(decoder.progress().payload_bytes == payload_bytes);
    PROMTACT_ASSERT(decoder.progress().payload_crc == payload_crc);
    PROMTACT_ASSERT(decoder.progress().file_bytes == image.size());
    // What was accepted is what a writer would write: the header comes out the same.
    const SnapshotInfo& info = decoder.info();
    std::vector<std::byte> header(snapshot_header_bytes(info.metadata.size()));
    encode_snapshot_header(info, header);
    const auto minor = load_le<std::uint16_t>(image, SnapshotHeaderLayout::minor);
    if (minor == snapshot_minor)
        PROMTACT_ASSERT(std::memcmp(header.data(), image.data(), header.size()) == 0);
}

void change(std::span<std::byte> image, std::span<const std::uint8_t> what) {
    PROMTACT_ASSERT(what.size() == 4);
    const std::size_t block = what[0] % (image.size() / snapshot_block_bytes);
    const std::size_t at = block * snapshot_block_bytes + what[1];
    switch (what[2] % 4) {
    case 0:
        image[at] = static_cast<std::byte>(what[3]);
        return;
    case 1:
        image[at] ^= static_cast<std::byte>(what[3]);
        return;
    case 2: // a whole word
        std::memset(image.data() + at, what[3], 8);
        return;
    case 3: // one block over another
        std::memcpy(
            image.data() + block * snapshot_block_bytes,
            image.data() + what[3] % (image.size() / snapshot_block_bytes) * snapshot_block_bytes,
            snapshot_block_bytes);
        return;
    }
}

void run(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return;
    const std::uint8_t mode = data[0];
    std::vector<std::byte> image;
    std::span<const std::uint8_t> rest(data + 3, size - 3);
    if ((mode & raw_image) != 0) {
        const auto bytes = std::as_bytes(rest);
        image.assign(bytes.begin(), bytes.end());
    } else {
        const bool zstd = (mode & announce_zstd) != 0;
        image = make_image(std::size_t{data[1]} * 97, std::size_t{data[2]} * 40, zstd);
        decode_all(image);
        for (std::size_t n = 0; n < changes_max && rest.size() >= 4; ++n, rest = rest.subspan(4))
            change(image, rest.first(4));
        if (!rest.empty()) image.erase(image.end() - rest[0], image.end());
    }
    if ((mode & mend) != 0) mend_checksums(image);
    decode_all(image);
}

} // namespace
} // namespace promtact::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::wal::run(data, size);
    return 0;
}
