// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A log at rest, in flight and rotating, as images that a test may damage at named places.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>

#include "log_driver.hpp"

namespace promtact::wal::testing {

/// An image with an editor for its blocks.
class DamagedImage {
  public:
    DamagedImage(disk::Pool& disk_pool, disk::Image start)
        : pool(&disk_pool), image(std::move(start)) {}

    using Block = std::array<std::byte, block_bytes>;

    [[nodiscard]] bool has(const std::string& name) const {
        return image.find(pool->name(name)) != nullptr;
    }
    [[nodiscard]] disk::FileImage& file(const std::string& name) {
        const disk::Image::Link* link = image.find(pool->name(name));
        PROMTACT_ASSERT(link != nullptr);
        return image.files[link->inode];
    }
    [[nodiscard]] disk::FileImage& segment(std::uint64_t id) { return file(segment_name(id)); }
    Block read(const std::string& name, std::size_t block) {
        Block bytes{};
        const std::size_t unit = pool->atom_bytes();
        for (std::size_t i = 0; i < block_bytes / unit; ++i) {
            const auto atom = pool->bytes(file(name).atom(block * (block_bytes / unit) + i));
            std::memcpy(bytes.data() + i * unit, atom.data(), unit);
        }
        return bytes;
    }
    void write(const std::string& name, std::size_t block, const Block& bytes) {
        const std::size_t unit = pool->atom_bytes();
        for (std::size_t i = 0; i < block_bytes / unit; ++i) {
            file(name).set_atom(
                block * (block_bytes / unit) + i,
                pool->intern(std::span(bytes).subspan(i * unit, unit)));
        }
    }
    Block block(std::uint64_t id, std::size_t at) { return read(segment_name(id), at); }
    void set_block(std::uint64_t id, std::size_t at, const Block& bytes) {
        write(segment_name(id), at, bytes);
    }
    void flip(std::uint64_t id, std::size_t at, std::size_t byte, unsigned bit = 0) {
        Block bytes = block(id, at);
        bytes[byte] ^= static_cast<std::byte>(1U << bit);
        set_block(id, at, bytes);
    }
    void zero(std::uint64_t id, std::size_t at) { set_block(id, at, Block{}); }
    void copy_sector(std::uint64_t from, std::uint64_t to, std::size_t at, std::size_t sector) {
        Block bytes = block(to, at);
        const Block old = block(from, at);
        std::memcpy(bytes.data() + sector * 512, old.data() + sector * 512, 512);
        set_block(to, at, bytes);
    }
    void remove(const std::string& name) { image.remove_link(pool->name(name)); }
    void add(const std::string& name) {
        image.files.push_back({});
        image.set_link(pool->name(name), static_cast<std::uint32_t>(image.files.size() - 1));
    }

    /// Changes a segment header and makes its checksum hold again.
    template <class Change>
    void edit_header(std::uint64_t id, Change&& change) {
        Block bytes = block(id, 0);
        change(std::span(bytes));
        store_le<std::uint32_t>(bytes, SegmentLayout::crc, 0);
        store_le<std::uint32_t>(bytes, SegmentLayout::crc, crc32c(bytes));
        set_block(id, 0, bytes);
    }
    /// Changes the first block of a frame and makes its header's checksum hold again.
    template <class Change>
    void edit_frame(std::uint64_t id, std::size_t at, Change&& change) {
        Block bytes = block(id, at);
        change(std::span(bytes));
        refit_header(bytes);
        set_block(id, at, bytes);
    }
    /// Makes the table and the header of a frame hold for its present blocks.
    void refit_frame(std::uint64_t id, std::size_t at, std::uint32_t blocks) {
        Block first = block(id, at);
        const std::size_t body =
            frame_header_bytes + load_le<std::uint32_t>(first, FrameLayout::table_bytes);
        for (std::uint32_t i = 0; i < blocks; ++i) {
            const Block bytes = i == 0 ? first : block(id, at + i);
            const auto covered = std::span(bytes).subspan(i == 0 ? body : 0);
            store_le<std::uint32_t>(
                first, FrameLayout::table + 4 * std::size_t{i}, block_checksum(covered));
        }
        refit_header(first);
        set_block(id, at, first);
    }
    /// The same in layout fixed: one block, whose checksum stands in place of the table's length.
    void refit_fixed(std::uint64_t id, std::size_t at) {
        Block bytes = block(id, at);
        store_le<std::uint32_t>(
            bytes, FrameLayout::table_bytes,
            block_checksum(std::span(bytes).subspan(frame_header_bytes)));
        std::array<std::byte, 8> salt{};
        store_le<std::uint64_t>(salt, 0, load_le<std::uint64_t>(bytes, FrameLayout::salt));
        store_le<std::uint32_t>(
            bytes, FrameLayout::crc,
            crc32c_extend(crc32c(salt), std::span(bytes).subspan(8, frame_header_bytes - 8)));
        set_block(id, at, bytes);
    }
    template <class Change>
    void edit_super(Change&& change) {
        for (std::size_t slot = 0; slot < super_slots; ++slot) {
            Block bytes = read("SUPER", slot);
            Super super;
            if (decode(std::span<const std::byte, block_bytes>(bytes), super) !=
                BlockContent::valid) {
                continue;
            }
            change(slot, super);
            encode(super, std::span<std::byte, block_bytes>(bytes));
            write("SUPER", slot, bytes);
        }
    }

    disk::Pool* pool;
    disk::Image image;

  private:
    static void refit_header(std::span<std::byte> block) {
        std::array<std::byte, 8> salt{};
        store_le<std::uint64_t>(salt, 0, load_le<std::uint64_t>(block, FrameLayout::salt));
        const std::size_t end =
            frame_header_bytes + load_le<std::uint32_t>(block, FrameLayout::table_bytes);
        store_le<std::uint32_t>(
            block, FrameLayout::crc, crc32c_extend(crc32c(salt), block.subspan(8, end - 8)));
    }
};

/// Segments 7 and 8 sealed, 9 the newest with six acknowledged frames of three blocks, 10 and 11
/// spares. F(k) of segment 9 begins at block 1 + 3 (k - 1).
struct DamageBase {
    static constexpr std::uint64_t newest = 9;
    static constexpr std::size_t block_of(std::size_t k) { return 1 + 3 * (k - 1); }

    explicit DamageBase(std::uint32_t atom) : pool(atom), driver(pool, {}, options()) {
        PROMTACT_ASSERT(driver.open());
        while (driver.log->segments().back().segment < newest ||
               driver.log->segments().back().frames < 6) {
            commit();
            const SegmentFacts& last = driver.log->segments().back();
            if (last.segment == 8 && last.frames == 1) {
                driver.pump(50);
                const Lsn live =
                    driver.log->segments()[driver.log->segments().size() - 2].first_lsn;
                PROMTACT_ASSERT(driver.log->release_prefix(live).has_value());
                driver.pump(100);
            }
        }
        driver.pump(100);
        PROMTACT_ASSERT(driver.log->segments().front().segment == 7);
        lsn_next = driver.log->last() + 1;
        just_acked = driver.crash();
        driver.rest();
        quiet = driver.crash(true);
    }
    static LogOptions options() {
        LogOptions made = small_options();
        made.segment_bytes = 32 * block_bytes;
        made.recycle = false;
        return made;
    }
    void commit() { PROMTACT_ASSERT(driver.commit(9000) != 0); }
    void append_in_flight() {
        PROMTACT_ASSERT(driver.append(payload_of(driver.log->last() + 1, 9000)) != 0);
        driver.pump();
    }
    /// F(7) and F(8), three blocks each behind the watermark, in flight; kept(k, block) says which
    /// of their blocks have persisted. Their first blocks are 20 and 23.
    static constexpr std::size_t seven = 20;
    static constexpr std::size_t eight = 23;
    template <class Kept>
    disk::Image in_flight(Kept&& kept) {
        if (driver.log->last() < lsn_next) {
            append_in_flight();
            append_in_flight();
        }
        const std::size_t per_block = block_bytes / pool.atom_bytes();
        const auto pending = driver.memory.model().pending();
        disk::Image image;
        driver.memory.model().crash(image, [&](std::size_t i) {
            const std::size_t block = static_cast<std::size_t>(pending[i].where) / per_block;
            return block < seven ||
                   kept(block, static_cast<std::size_t>(pending[i].where) % per_block);
        });
        return image;
    }
    /// The first write to segment 10, header and frame, in flight; the newer SUPER has persisted.
    template <class Kept>
    disk::Image rotating(Kept&& kept) {
        while (driver.log->segments().back().segment == newest) {
            PROMTACT_ASSERT(driver.append(payload_of(driver.log->last() + 1, 9000)) != 0);
            if (driver.log->segments().back().segment == newest) driver.make_durable();
        }
        const std::uint32_t ten = driver.memory.model().lookup(segment_name(10));
        const auto writes_ten = [&] {
            return std::any_of(
                driver.memory.model().pending().begin(), driver.memory.model().pending().end(),
                [&](const disk::Change& change) { return change.inode == ten; });
        };
        for (int i = 0; i < 50 && !writes_ten(); ++i)
            driver.pump();
        const std::size_t per_block = block_bytes / pool.atom_bytes();
        const auto pending = driver.memory.model().pending();
        disk::Image image;
        driver.memory.model().crash(image, [&](std::size_t i) {
            return pending[i].inode != ten ||
                   kept(static_cast<std::size_t>(pending[i].where) / per_block);
        });
        return image;
    }

    disk::Pool pool;
    LogDriver driver;
    Lsn lsn_next = 0; // of F(7)
    disk::Image just_acked{};
    disk::Image quiet{};
};

} // namespace promtact::wal::testing
