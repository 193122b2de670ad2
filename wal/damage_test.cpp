// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The damage table: every row names a mutation of a log and the verdict it must get. Numbers are
// those of wal/FORMAT.md. Not here: 79 (names that are not regular files) and 55 (unreadable
// blocks) need a storage and follow below; 82's second process is turned away by the storage's
// lock.
#include <gtest/gtest.h>

#include "testing/damage_row.hpp"

namespace promtact::wal::testing {
namespace {

using Row = DamageRow;

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

TEST(WalDamage, SegmentHeadersGetTheVerdictOfTheTable) {
    judge_all(header_rows());
}
TEST(WalDamage, FrameHeadersGetTheVerdictOfTheTable) {
    judge_all(frame_rows());
}

} // namespace
} // namespace promtact::wal::testing
