// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstring>
#include <string>

#include <promtact/base/assert.hpp>
#include <promtact/wal/block.hpp>

namespace promtact::wal {
namespace {

/// Index of the first byte that is not zero, bytes.size() when there is none.
std::size_t first_nonzero(std::span<const std::byte> bytes) {
    const auto found =
        std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
    return static_cast<std::size_t>(found - bytes.begin());
}

} // namespace

void encode_block(const Record& record, std::span<std::byte, block_bytes> out) noexcept {
    encode(record, out.first<record_bytes>());
    std::memset(out.data() + record_bytes, 0, block_bytes - record_bytes);
}

DecodedBlock decode_block(std::span<const std::byte, block_bytes> block, DecodeMode mode) {
    const std::span<const std::byte> head = block.first<record_bytes>();
    auto record = decode(head, mode);
    if (!record) {
        if (first_nonzero(block) == block_bytes) return {.state = BlockState::zero};
        // A record whose checksum holds was written whole: no crash explains what is wrong with it.
        const BlockState state = checksum_matches(head) ? BlockState::foreign : BlockState::damaged;
        return {.state = state, .why = std::move(record).error()};
    }
    const std::size_t at = first_nonzero(block.subspan<record_bytes>());
    if (at < block_bytes - record_bytes) {
        return {
            .state = BlockState::foreign,
            .why = {
                Errc::corrupt, 0,
                "padding byte " + std::to_string(record_bytes + at) +
                    " behind an intact record is not zero"}};
    }
    return {.state = BlockState::intact, .record = *record};
}

} // namespace promtact::wal
