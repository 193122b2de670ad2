// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Builds a log image from the input (which blocks are whole, zero, damaged, out of order) and
// checks the scan against the rule stated over the whole image at once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/wal/recovery.hpp>

namespace promtact::wal {
namespace {

using Block = std::array<std::byte, block_bytes>;

constexpr std::size_t blocks_max = 24;

Block make_block(std::size_t number, std::uint8_t choice) {
    Block block{};
    if (choice % 8 == 1) return block; // zero
    const std::uint64_t skew = choice % 8 == 3 ? choice / 8U + 1U : 0U;
    encode_block({.sequence = number + 1 + skew, .index = choice}, block);
    if (choice % 8 == 2) block[choice % record_bytes] ^= std::byte{0x20};
    if (choice % 8 == 4) block[record_bytes + choice] = std::byte{1};
    return block;
}

void run(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return;
    const std::uint32_t window = 1U + data[0] % 8U;
    const std::span<const std::uint8_t> choices(data + 1, std::min(size - 1, blocks_max));
    RecoveryScan scan(DecodeMode::strict, window);
    std::uint64_t believed = 0;
    bool refused = false;
    bool hole = false;
    std::size_t hole_at = 0;
    for (std::size_t number = 0; number < choices.size() && !refused; ++number) {
        const Block block = make_block(number, choices[number]);
        const auto record = scan.feed(block);
        const DecodedBlock decoded = decode_block(block);
        const bool intact = decoded.state == BlockState::intact;
        const bool misplaced = intact && decoded.record.sequence != number + 1;
        const bool stray = intact && hole && number - hole_at >= window;
        refused = decoded.state == BlockState::foreign || misplaced || stray;
        PROMTACT_ASSERT(record.has_value() == !refused);
        if (refused) break;
        PROMTACT_ASSERT(record->has_value() == (intact && !hole));
        if (intact && !hole) ++believed;
        if (!intact && !hole) {
            hole = true;
            hole_at = number;
        }
    }
    if (refused) return;
    const Recovery recovery = scan.finish();
    PROMTACT_ASSERT(recovery.records == believed);
    PROMTACT_ASSERT(recovery.valid_bytes == believed * block_bytes);
    PROMTACT_ASSERT((recovery.tail == Tail::clean) == !hole);
}

} // namespace
} // namespace promtact::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::wal::run(data, size);
    return 0;
}
