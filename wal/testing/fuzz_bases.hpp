// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The sound logs that the fuzzer of whole directories damages, and mending of checksums.
#pragma once

#include <memory>

#include "allocation_peak.hpp"
#include "damage.hpp"

namespace promtact::wal::testing {

/// What a pool is given while this lives is forgotten afterwards.
class PoolMark {
  public:
    explicit PoolMark(disk::Pool& pool) : pool_(&pool), atoms_(pool.atoms()) {}
    PoolMark(const PoolMark&) = delete;
    PoolMark& operator=(const PoolMark&) = delete;
    ~PoolMark() { pool_->rollback(atoms_); }

  private:
    disk::Pool* pool_;
    std::size_t atoms_;
};

struct FuzzBase {
    explicit FuzzBase(std::uint32_t atom) : pool(atom) {}
    disk::Pool pool;
    disk::Image image{};
};

inline MemoryStorageOptions storage_options(const disk::Pool& pool) {
    MemoryStorageOptions options;
    options.limits.atomic_bytes = pool.atom_bytes();
    return options;
}

inline Lsn commit_one(LogDriver& driver) {
    const std::size_t bytes = driver.log->layout() == Layout::fixed ? record_bytes : 500;
    return driver.commit(bytes);
}

/// A log that rotated, was truncated, let go of segments and made spares of them.
inline void fill_fuzz_base(FuzzBase& base, Layout layout, bool recycle, bool clean) {
    LogOptions options = small_options();
    options.segment_bytes = 8 * block_bytes;
    options.layout = layout;
    options.recycle = recycle;
    LogDriver driver(base.pool, {}, options);
    PROMTACT_ASSERT(driver.open());
    for (int i = 0; i < 40; ++i) {
        const std::size_t bytes =
            layout == Layout::fixed ? record_bytes : static_cast<std::size_t>(i * 397) % 9000;
        PROMTACT_ASSERT(driver.commit(bytes, layout == Layout::fixed ? 20 : 1) != 0);
        if (i == 20 || i == 38)
            PROMTACT_ASSERT(driver.log->truncate_suffix(driver.log->last() - 2).has_value());
        if (i % 8 == 5) {
            PROMTACT_ASSERT(
                driver.log->release_prefix(driver.log->segments().back().first_lsn).has_value());
        }
        driver.pump(10);
    }
    if (clean) {
        PROMTACT_ASSERT(driver.close());
    } else {
        driver.rest();
        driver.append(payload_of(1, layout == Layout::fixed ? record_bytes : 9000));
        driver.pump();
    }
    base.image = driver.crash(true);
}

inline FuzzBase& fuzz_base(std::uint8_t number) {
    static std::array<std::unique_ptr<FuzzBase>, 8> bases;
    const std::size_t index = number % bases.size();
    if (bases[index] != nullptr) return *bases[index];
    auto base = std::make_unique<FuzzBase>(index % 2 == 0 ? 4096U : 512U);
    const Layout layout = index / 2 == 1 ? Layout::fixed : Layout::variable;
    if (index / 2 == 3) {
        LogDriver driver(base->pool); // only just made
        PROMTACT_ASSERT(driver.open());
        base->image = driver.crash(true);
    } else {
        fill_fuzz_base(*base, layout, index / 2 != 2, index / 2 == 0);
    }
    bases[index] = std::move(base);
    return *bases[index];
}

/// Makes the checksum of a SUPER slot or segment header hold.
inline void mend_block(DamagedImage::Block& bytes) {
    static_assert(SuperLayout::crc == SegmentLayout::crc);
    store_le<std::uint32_t>(bytes, SuperLayout::crc, 0);
    store_le<std::uint32_t>(bytes, SuperLayout::crc, crc32c(bytes));
}

/// Makes the checksums hold of the frame that has this block, if the blocks before it show one.
inline void mend_frame(DamagedImage& image, std::uint64_t segment, std::size_t block) {
    const disk::FileImage& file = image.segment(segment);
    const std::size_t blocks = static_cast<std::size_t>(file.size / block_bytes);
    SegmentHeader header;
    const DamagedImage::Block zero = image.block(segment, 0);
    const bool fixed =
        decode(std::span<const std::byte, block_bytes>(zero), header) == BlockContent::valid &&
        header.layout == Layout::fixed;
    for (std::size_t at = block; at > 0 && block - at < 8; --at) {
        DamagedImage::Block first = image.block(segment, at);
        if (text_of(std::span(first).first(4)) != "PFRM") continue;
        const auto count = load_le<std::uint32_t>(first, FrameLayout::blocks);
        if (fixed) {
            image.refit_fixed(segment, at);
            return;
        }
        const auto table = load_le<std::uint32_t>(first, FrameLayout::table_bytes);
        if (table > 1024 || count > 16 || count * 4 > table || at + count > blocks) return;
        image.refit_frame(segment, at, count);
        return;
    }
}

/// Makes every frame of a segment continue the one before it, and the next header the last frame.
inline void rechain(DamagedImage& image) {
    std::vector<std::uint64_t> segments;
    for (const disk::Image::Link& link : image.image.links) {
        if (const std::uint64_t id = parse_segment_name(image.pool->name(link.name)); id != 0)
            segments.push_back(id);
    }
    std::sort(segments.begin(), segments.end());
    Chain chain = 0;
    for (const std::uint64_t id : segments) {
        SegmentHeader header;
        DamagedImage::Block bytes = image.block(id, 0);
        if (decode(std::span<const std::byte, block_bytes>(bytes), header) != BlockContent::valid)
            continue;
        if (chain == 0) chain = header.previous.chain;
        store_le<std::uint64_t>(bytes, SegmentLayout::prev_end_chain, chain);
        mend_block(bytes);
        image.set_block(id, 0, bytes);
        const std::size_t blocks = static_cast<std::size_t>(image.segment(id).size / block_bytes);
        for (std::size_t at = 1; at < blocks; ++at) {
            const auto is_frame = [&](FrameHeader& frame) {
                bytes = image.block(id, at);
                return decode_frame(
                           std::span<const std::byte, block_bytes>(bytes), header.layout, frame) ==
                           BlockContent::valid &&
                       frame.salt == header.salt;
            };
            FrameHeader frame;
            if (!is_frame(frame)) continue;
            store_le<std::uint64_t>(bytes, FrameLayout::prev_chain, chain);
            image.set_block(id, at, bytes);
            mend_frame(image, id, at);
            if (is_frame(frame)) chain = frame.chain;
        }
    }
}

} // namespace promtact::wal::testing
