// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The second half of the damage table: payload blocks, files and names, SUPER.
#include <gtest/gtest.h>

#include "testing/damage_row.hpp"

namespace promtact::wal::testing {
namespace {

using Row = DamageRow;

void swap_blocks(Image& i, std::size_t a, std::size_t b, std::size_t count = 1) {
    for (std::size_t k = 0; k < count; ++k) {
        const Image::Block kept = i.block(newest, a + k);
        i.set_block(newest, a + k, i.block(newest, b + k));
        i.set_block(newest, b + k, kept);
    }
}
void zero_slots(Image& i, std::size_t from, std::size_t to) {
    for (std::size_t slot = from; slot < to; ++slot) {
        Image::Block bytes = i.read("SUPER", slot);
        bytes[100] ^= std::byte{1};
        i.write("SUPER", slot, bytes);
    }
}
std::size_t newest_slot(Image& i) {
    std::size_t best = 0;
    std::uint64_t generation = 0;
    i.edit_super([&](std::size_t slot, Super& super) {
        if (super.generation > generation) best = slot;
        generation = std::max(generation, super.generation);
    });
    return best;
}

/// SUPER as it was before the newest segment, whose header is gone: the file looks like a spare.
void forget_newest(Image& i) {
    i.edit_super([](std::size_t, Super& super) {
        super.highest_opened = 8;
        super.end = {};
    });
    i.zero(newest, 0);
}

std::vector<Row> payload_rows() {
    using R = Refusal;
    const auto record = [](Image& i, std::size_t byte, std::uint32_t add, bool crc) {
        // The only record of F(4) begins behind the header and a table of 64 bytes.
        auto b = i.block(newest, at(4));
        const auto r = std::span(b).subspan(128);
        store_le<std::uint32_t>(r, byte, load_le<std::uint32_t>(r, byte) + add);
        if (crc) b[128 + 9] ^= std::byte{1};
        i.set_block(newest, at(4), b);
        i.refit_frame(newest, at(4), 3);
    };
    return {
        {42, "one bit in F(2)", [](Image& i) { i.flip(newest, at(2) + 1, 77, 3); }, Verdict::refuse,
         R::corrupt},
        {43, "a block of F(2) zero", [](Image& i) { i.zero(newest, at(2) + 1); }, Verdict::refuse,
         R::corrupt},
        {44, "a block of F(2) of an earlier use",
         [](Image& i) { i.set_block(newest, at(2) + 1, i.block(8, at(2) + 1)); }, Verdict::refuse,
         R::corrupt},
        {45, "a sector of F(2) zero", [](Image& i) { i.copy_sector(10, newest, at(2) + 1, 3); },
         Verdict::refuse, R::corrupt},
        {46, "a sector of F(2) of an earlier use",
         [](Image& i) { i.copy_sector(8, newest, at(2) + 1, 3); }, Verdict::refuse, R::corrupt},
        {47, "blocks of F(2) swapped", [](Image& i) { swap_blocks(i, at(2), at(2) + 1); },
         Verdict::refuse, R::corrupt},
        {48, "body blocks of F(2) and F(3) swapped",
         [](Image& i) { swap_blocks(i, at(2) + 1, at(3) + 1); }, Verdict::refuse, R::corrupt},
        {49, "F(4) and F(5) swapped", [](Image& i) { swap_blocks(i, at(4), at(5), 3); },
         Verdict::refuse, R::misdirected},
        {50, "a padding byte set", [](Image& i) { i.flip(newest, at(4) + 2, 4095); },
         Verdict::refuse, R::corrupt},
        {50, "a padding byte set, checksums fixed",
         [](Image& i) {
             i.flip(newest, at(4) + 2, 4095);
             i.refit_frame(newest, at(4), 3);
         },
         Verdict::refuse, R::corrupt},
        {51, "record one longer, checksums fixed", [record](Image& i) { record(i, 0, 1, false); },
         Verdict::refuse, R::corrupt},
        {52, "record of 4 GiB, checksums fixed",
         [record](Image& i) { record(i, 0, 0xf0000000U, false); }, Verdict::refuse, R::corrupt},
        {53, "record checksum wrong, blocks fixed", [record](Image& i) { record(i, 0, 0, true); },
         Verdict::refuse, R::corrupt},
    };
}

std::vector<Row> file_rows() {
    using R = Refusal;
    const auto fence_at_eight = [](Image& i) {
        Lsn lsn = 0;
        SegmentHeader header;
        const auto b = i.block(8, 0);
        PROMTACT_ASSERT(
            decode(std::span<const std::byte, block_bytes>(b), header) == BlockContent::valid);
        lsn = header.first_lsn;
        i.edit_super([&](std::size_t, Super& super) {
            super.first_live_segment = 8;
            super.first_live_lsn = lsn;
        });
    };
    const auto grow = [](Image& i, std::byte fill) {
        disk::FileImage& file = i.segment(newest);
        file.set_size(file.size + (4U << 20), *i.pool);
        if (fill == std::byte{0}) return;
        Image::Block bytes;
        bytes.fill(fill);
        i.set_block(newest, 40, bytes);
    };
    return {
        {70, "zeros behind the segment", [grow](Image& i) { grow(i, std::byte{0}); }, Verdict::ok},
        {71, "bytes behind the segment", [grow](Image& i) { grow(i, std::byte{7}); }, Verdict::ok},
        {72, "segment 7 deleted", [](Image& i) { i.remove(segment_name(7)); }, Verdict::refuse,
         R::missing_segment},
        {72, "segment 8 deleted", [](Image& i) { i.remove(segment_name(8)); }, Verdict::refuse,
         R::missing_segment},
        {73, "the newest deleted", [](Image& i) { i.remove(segment_name(newest)); },
         Verdict::refuse, R::missing_segment},
        {74, "a released one deleted",
         [=](Image& i) {
             fence_at_eight(i);
             i.remove(segment_name(7));
         },
         Verdict::ok},
        {75, "a released one still there", fence_at_eight, Verdict::ok},
        {76, "the spare deleted", [](Image& i) { i.remove(segment_name(10)); }, Verdict::ok},
        {77, "an old segment under the next name", [](Image& i) { i.segment(10) = i.segment(7); },
         Verdict::refuse, R::misnamed},
        {77, "the same with its id patched",
         [](Image& i) {
             i.segment(10) = i.segment(7);
             i.edit_header(
                 10, [](auto b) { store_le<std::uint64_t>(b, SegmentLayout::segment, 10); });
         },
         Verdict::refuse, R::chain},
        {78, "segment 8 cut before its seal",
         [](Image& i) { i.segment(8).set_size(28 * block_bytes, *i.pool); }, Verdict::refuse,
         R::corrupt},
        {78, "segment 8 zero from a frame on",
         [](Image& i) {
             for (std::size_t b = 26; b < 32; ++b)
                 i.zero(8, b);
         },
         Verdict::refuse, R::corrupt},
        {80, "bytes in the middle of segment 8", [](Image& i) { i.flip(8, 12, 9); },
         Verdict::refuse, R::corrupt},
        {81, "foreign files",
         [](Image& i) {
             for (const char* name :
                  {"core", "wal-XYZ.seg", ".nfs0001", "wal-0000000000000009.seg.bak",
                   "wal-000000000000000A.seg", "x.tmp"})
                 i.add(name);
         },
         Verdict::ok},
    };
}

std::vector<Row> super_rows() {
    using R = Refusal;
    return {
        {82, "newest slot of SUPER torn",
         [](Image& i) {
             const std::size_t slot = newest_slot(i);
             zero_slots(i, slot, slot + 1);
         },
         Verdict::ok},
        {82, "all but the oldest slot bad",
         [](Image& i) {
             const std::size_t newest_one = newest_slot(i);
             for (std::size_t slot = 0; slot < super_slots; ++slot)
                 if (slot != (newest_one + 1) % super_slots) zero_slots(i, slot, slot + 1);
         },
         Verdict::ok},
        {82, "all slots bad", [](Image& i) { zero_slots(i, 0, super_slots); }, Verdict::refuse,
         R::super_lost},
        {82, "SUPER deleted", [](Image& i) { i.remove("SUPER"); }, Verdict::refuse, R::super_lost},
        {82, "an old SUPER restored, its segments gone",
         [](Image& i) {
             i.edit_super([](std::size_t, Super& super) {
                 super.first_live_segment = 5;
                 super.first_live_lsn = 1;
             });
         },
         Verdict::refuse, R::missing_segment},
        {82, "a first live segment that was never opened",
         [](Image& i) {
             i.edit_super([](std::size_t, Super& super) { super.first_live_segment = 12; });
         },
         Verdict::refuse, R::corrupt},
        {82, "LSN 0 live",
         [](Image& i) {
             i.edit_super([](std::size_t, Super& super) { super.first_live_lsn = 0; });
         },
         Verdict::refuse, R::corrupt},
        {82, "segments of a TiB, none opened",
         [](Image& i) {
             i.edit_super([](std::size_t, Super& super) {
                 super.segment_bytes = segment_bytes_max;
                 super.first_live_segment = 1;
                 super.highest_opened = 0;
             });
         },
         Verdict::refuse, R::geometry},
        {82, "an old SUPER restored, all there",
         [](Image& i) {
             i.edit_super([](std::size_t, Super& super) { super.highest_opened = 8; });
         },
         Verdict::ok},
        {82, "an old SUPER restored, the newest header gone", forget_newest, Verdict::refuse,
         R::corrupt},
    };
}

TEST(WalDamage, PayloadBlocksGetTheVerdictOfTheTable) {
    judge_all(payload_rows());
}
TEST(WalDamage, FilesAndNamesGetTheVerdictOfTheTable) {
    judge_all(file_rows());
}
TEST(WalDamage, SuperGetsTheVerdictOfTheTable) {
    judge_all(super_rows());
}

// While SUPER is whole, what it does not name is a spare by its beginning. A slot that is lost may
// have named it: then all of the file is looked at.
TEST(WalDamage, AfterALostSlotSparesAreReadToTheirEnd) {
    DamageBase& start = damage_base(4096);
    const auto judged = [&](bool slot_lost) {
        Image image(start.pool, start.quiet);
        forget_newest(image);
        for (std::size_t block = 1; block < at(4);
             ++block) // what vouches lies behind the first piece
            image.zero(newest, block);
        if (slot_lost) zero_slots(image, 0, 1);
        return scan_image(start.pool, image.image, {.chunk_bytes = 4 * block_bytes});
    };
    EXPECT_EQ(judged(false).verdict, Verdict::ok);
    const ScanReport report = judged(true);
    EXPECT_EQ(report.refusal, Refusal::corrupt) << report.text;
    EXPECT_EQ(report.segment, newest);
}

} // namespace
} // namespace promtact::wal::testing
