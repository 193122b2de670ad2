// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The damage table: every row names a mutation of a log and the verdict it must get. Numbers are
// those of wal/FORMAT.md. Not here: 79 (names that are not regular files) and 55 (unreadable
// blocks) need a storage and follow below; 82's second process is turned away by the storage's
// lock.
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "testing/damage.hpp"

namespace promtact::wal::testing {
namespace {

using Image = DamagedImage;
using Span = std::span<std::byte, block_bytes>;
constexpr std::uint64_t newest = DamageBase::newest;
constexpr auto at = DamageBase::block_of;

enum class From : std::uint8_t { quiet, just_acked };

struct Row {
    int number = 0;
    const char* name = "";
    std::function<void(Image&)> mutate{};
    Verdict verdict = Verdict::refuse;
    Refusal refusal = Refusal::none;
    From from = From::quiet;
    std::uint32_t atom = 4096;
    bool strict = false;
    bool ambiguous = false;
};

void put32(Image& i, std::size_t frame, std::size_t field, std::uint32_t value) {
    i.edit_frame(newest, frame, [&](auto b) { store_le<std::uint32_t>(b, field, value); });
}
void add64(Image& i, std::size_t frame, std::size_t field, std::uint64_t delta) {
    i.edit_frame(newest, frame, [&](auto b) {
        store_le<std::uint64_t>(b, field, load_le<std::uint64_t>(b, field) + delta);
    });
}
void head32(Image& i, std::size_t field, std::uint32_t value) {
    i.edit_header(newest, [&](auto b) { store_le<std::uint32_t>(b, field, value); });
}
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

std::vector<Row> header_rows() {
    using L = SegmentLayout;
    using R = Refusal;
    return {
        {1, "magic zeroed",
         [](Image& i) {
             auto b = i.block(newest, 0);
             std::fill_n(b.begin(), 8, std::byte{0});
             i.set_block(newest, 0, b);
         },
         Verdict::refuse, R::corrupt},
        {2, "header zero, frames valid", [](Image& i) { i.zero(newest, 0); }, Verdict::refuse,
         R::corrupt},
        {3, "spare all zero", [](Image&) {}, Verdict::ok},
        {5, "newest cut to 100 bytes", [](Image& i) { i.segment(newest).set_size(100, *i.pool); },
         Verdict::refuse, R::corrupt},
        {5, "spare cut to 100 bytes", [](Image& i) { i.segment(10).set_size(100, *i.pool); },
         Verdict::ok},
        {6, "newest empty", [](Image& i) { i.segment(newest).set_size(0, *i.pool); },
         Verdict::refuse, R::corrupt},
        {7, "version flipped", [](Image& i) { i.flip(newest, 0, L::major); }, Verdict::refuse,
         R::corrupt},
        {8, "later version, checksum fixed",
         [](Image& i) {
             i.edit_header(newest, [](auto b) { store_le<std::uint16_t>(b, L::major, 5); });
         },
         Verdict::refuse, R::unsupported_feature},
        {9, "unknown incompat bit", [](Image& i) { head32(i, L::incompat, 1); }, Verdict::refuse,
         R::unsupported_feature},
        {10, "unknown ro-compat bit", [](Image& i) { head32(i, L::ro_compat, 1); }, Verdict::ok},
        {11, "unknown compat bit", [](Image& i) { head32(i, L::compat, 1); }, Verdict::ok},
        {12, "identity of another log",
         [](Image& i) { i.edit_header(newest, [](auto b) { b[L::uuid] ^= std::byte{1}; }); },
         Verdict::refuse, R::foreign},
        {13, "segment id is not the name",
         [](Image& i) {
             i.edit_header(newest, [](auto b) { store_le<std::uint64_t>(b, L::segment, 12); });
         },
         Verdict::refuse, R::misnamed},
        {14, "block size 512", [](Image& i) { head32(i, L::block_bytes, 512); }, Verdict::refuse,
         R::geometry},
        {15, "block size 2 GiB", [](Image& i) { head32(i, L::block_bytes, 0x80000000U); },
         Verdict::refuse, R::geometry},
        {16, "segment size 2^60",
         [](Image& i) {
             i.edit_header(newest, [](auto b) {
                 store_le<std::uint64_t>(b, L::segment_bytes, std::uint64_t{1} << 60);
             });
         },
         Verdict::refuse, R::geometry},
        {17, "chain of the segment before flipped",
         [](Image& i) {
             i.edit_header(newest, [](auto b) { b[L::prev_end_chain] ^= std::byte{1}; });
         },
         Verdict::refuse, R::chain},
        {18, "salt changed",
         [](Image& i) { i.edit_header(newest, [](auto b) { b[L::salt] ^= std::byte{1}; }); },
         Verdict::refuse, R::corrupt},
        {19, "reserved byte set", [](Image& i) { i.flip(newest, 0, 4095); }, Verdict::refuse,
         R::corrupt},
    };
}

std::vector<Row> frame_rows() {
    using L = FrameLayout;
    using R = Refusal;
    return {
        {23, "magic of F(3) flipped", [](Image& i) { i.flip(newest, at(3), 0); }, Verdict::refuse,
         R::corrupt},
        {24, "checksum of F(3) flipped", [](Image& i) { i.flip(newest, at(3), L::crc); },
         Verdict::refuse, R::corrupt},
        {25, "magic of the last frame flipped, no watermark",
         [](Image& i) { i.flip(newest, at(6), 0); }, Verdict::refuse, R::corrupt_tail,
         From::just_acked},
        {26, "the same where 512 bytes are atomic", [](Image& i) { i.flip(newest, at(6), 0); },
         Verdict::prefix, R::none, From::just_acked, 512, false, true},
        {26, "the same, strict", [](Image& i) { i.flip(newest, at(6), 0); }, Verdict::refuse,
         R::corrupt_tail, From::just_acked, 512, true, true},
        {25, "with a watermark it is damage anywhere", [](Image& i) { i.flip(newest, at(6), 0); },
         Verdict::refuse, R::corrupt, From::quiet, 512},
        {27, "no blocks", [](Image& i) { put32(i, at(4), L::blocks, 0); }, Verdict::refuse,
         R::corrupt},
        {28, "2^31 blocks", [](Image& i) { put32(i, at(4), L::blocks, 0x80000000U); },
         Verdict::refuse, R::corrupt},
        {29, "body of 4 GiB", [](Image& i) { put32(i, at(4), L::body_bytes, 0xfffffff0U); },
         Verdict::refuse, R::corrupt},
        {30, "body 8 bytes longer",
         [](Image& i) {
             const auto b = i.block(newest, at(4));
             put32(i, at(4), L::body_bytes, load_le<std::uint32_t>(b, L::body_bytes) + 8);
         },
         Verdict::refuse, R::corrupt},
        {31, "one record fewer", [](Image& i) { put32(i, at(4), L::records, 0); }, Verdict::refuse,
         R::corrupt},
        {32, "2^31 records", [](Image& i) { put32(i, at(4), L::records, 0x7fffffffU); },
         Verdict::refuse, R::corrupt},
        {33, "chain flipped", [](Image& i) { add64(i, at(4), L::prev_chain, 1); }, Verdict::refuse,
         R::chain},
        {34, "LSN one more", [](Image& i) { add64(i, at(4), L::first_lsn, 1); }, Verdict::refuse,
         R::sequence},
        {35, "LSN one less",
         [](Image& i) {
             i.edit_frame(newest, at(4), [](auto b) {
                 store_le<std::uint64_t>(
                     b, L::first_lsn, load_le<std::uint64_t>(b, L::first_lsn) - 1);
                 store_le<std::uint64_t>(
                     b, L::durable_lsn, load_le<std::uint64_t>(b, L::durable_lsn) - 1);
             });
         },
         Verdict::refuse, R::sequence},
        {36, "LSN 2^64 - 1",
         [](Image& i) {
             i.edit_frame(newest, at(4), [](auto b) {
                 store_le<std::uint64_t>(b, L::first_lsn, ~std::uint64_t{0});
             });
         },
         Verdict::refuse, R::corrupt},
        {37, "vouches for less than before",
         [](Image& i) { add64(i, at(4), L::durable_lsn, ~std::uint64_t{1}); }, Verdict::refuse,
         R::corrupt},
        {38, "salt of an earlier use", [](Image& i) { add64(i, at(4), L::salt, 77); },
         Verdict::refuse, R::corrupt},
        {39, "unknown kind", [](Image& i) { put32(i, at(4), L::kind, 9); }, Verdict::refuse,
         R::unsupported_feature},
        {40, "unknown flag", [](Image& i) { put32(i, at(4), L::kind, 0x101); }, Verdict::refuse,
         R::unsupported_feature},
    };
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
        {82, "an old SUPER restored, all there",
         [](Image& i) {
             i.edit_super([](std::size_t, Super& super) { super.highest_opened = 8; });
         },
         Verdict::ok},
    };
}

class WalDamage : public ::testing::Test {
  protected:
    static DamageBase& base(std::uint32_t atom) {
        static DamageBase whole(4096);
        static DamageBase sectors(512);
        return atom == 4096 ? whole : sectors;
    }
    static void judge(const Row& row) {
        SCOPED_TRACE(std::to_string(row.number) + " " + row.name);
        DamageBase& start = base(row.atom);
        Image image(start.pool, row.from == From::quiet ? start.quiet : start.just_acked);
        row.mutate(image);

        const ScanReport report = scan_image(start.pool, image.image, {.strict = row.strict});

        EXPECT_EQ(to_string(report.verdict), to_string(row.verdict)) << report.text;
        EXPECT_EQ(to_string(report.refusal), to_string(row.refusal)) << report.text;
        EXPECT_EQ(report.ambiguous_tail, row.ambiguous);
        EXPECT_FALSE(report.text.empty());
        if (row.verdict == Verdict::ok) {
            EXPECT_EQ(report.end.next_lsn, start.lsn_next) << "all records";
        }
    }
    static void judge_all(const std::vector<Row>& rows) {
        for (const Row& row : rows)
            judge(row);
    }
};

TEST_F(WalDamage, SegmentHeadersGetTheVerdictOfTheTable) {
    judge_all(header_rows());
}
TEST_F(WalDamage, FrameHeadersGetTheVerdictOfTheTable) {
    judge_all(frame_rows());
}
TEST_F(WalDamage, PayloadBlocksGetTheVerdictOfTheTable) {
    judge_all(payload_rows());
}
TEST_F(WalDamage, FilesAndNamesGetTheVerdictOfTheTable) {
    judge_all(file_rows());
}

} // namespace
} // namespace promtact::wal::testing
