// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <malloc.h>

#include <gmock/gmock.h>

#include <promtact/base/crc32c.hpp>
#include <promtact/base/file_storage.hpp>

#include "snapshot_fixture_internal.hpp"

#include <temporary_directory.hpp>

namespace promtact::wal {
namespace {

using namespace test_support;

constexpr std::uint32_t chunk = 64 << 10;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool heap_is_counted = false;
#elif defined(__has_feature)
constexpr bool heap_is_counted = !__has_feature(address_sanitizer);
#else
constexpr bool heap_is_counted = true;
#endif

// Under a sanitizer a smaller one: the heap is not counted there.
constexpr std::uint64_t image_bytes = heap_is_counted ? 48 << 20 : 4 << 20;

/// Bytes the allocator has handed out. Source: mallinfo2(3)
std::size_t heap_bytes() {
    const struct mallinfo2 facts = ::mallinfo2();
    return facts.uordblks + facts.hblkhd;
}

class SnapshotStream : public ::testing::Test {
  protected:
    SnapshotStore open() { return SnapshotStore::open(*storage, {}).value(); }
    void watch() { peak = std::max(peak, heap_bytes()); }

    promtact::test_support::TemporaryDirectory directory{};
    std::unique_ptr<FileStorage> storage =
        FileStorage::open(directory.path(), {.direct = FileStorageOptions::Direct::off}).value();
    std::size_t peak = 0;
};

/// Bytes that change from piece to piece and compress by about half.
void fill(Content& piece, std::uint64_t number) {
    for (std::size_t i = 0; i < piece.size(); ++i)
        piece[i] = static_cast<std::byte>((i % 2 == 0 ? 0 : i * 31 + number * 7) >> (i % 3));
}

TEST_F(SnapshotStream, AnImageLargerThanTheMemoryBoundIsWrittenAndReadInChunks) {
    for (const std::uint32_t incompat : {0U, snapshot_incompat_zstd}) {
        if (incompat != 0 && !snapshot_zstd_available()) continue;
        // One frame, and with zstd one plain chunk and its contexts; the rest is small change.
        const std::size_t bound =
            2 * chunk + (64U << 10) + (incompat != 0 ? std::size_t{4} << 20 : 0U);
        static_assert(!heap_is_counted || image_bytes > 8 * ((4U << 20) + 3 * chunk));
        SnapshotStore store = open();
        SnapshotInfo info = small_info(1, chunk);
        info.incompat = incompat;
        Content piece(10'000);
        const std::size_t before = heap_bytes();
        peak = before;
        std::uint32_t crc = 0;
        std::uint64_t sent = 0;
        {
            SnapshotWriter writer = store.write(info).value();
            const std::size_t held = writer.memory_bytes();
            for (; sent < image_bytes; sent += piece.size()) {
                fill(piece, sent);
                crc = crc32c_extend(crc, piece);
                ASSERT_TRUE(writer.append(piece));
                watch();
            }
            EXPECT_LE(writer.memory_bytes(), bound);
            if (incompat == 0) {
                EXPECT_EQ(writer.memory_bytes(), held);
            }
            const auto committed = writer.commit();
            ASSERT_TRUE(committed);
            EXPECT_EQ(committed->progress.payload_crc, crc);
            if (incompat != 0) {
                EXPECT_LT(committed->progress.file_bytes, image_bytes * 3 / 4);
            }
        }
        std::uint32_t read_crc = 0;
        std::uint64_t received = 0;
        SnapshotStore reopened = open();
        SnapshotReader reader = reopened.read().value();
        for (auto got = reader.next().value(); got; got = reader.next().value()) {
            read_crc = crc32c_extend(read_crc, *got);
            received += got->size();
            watch();
        }
        EXPECT_EQ(received, sent);
        EXPECT_EQ(read_crc, crc);
        EXPECT_LE(reader.memory_bytes(), bound);
        if (heap_is_counted) {
            EXPECT_LE(peak - before, bound) << "incompat " << incompat;
        }
    }
}

TEST_F(SnapshotStream, AWriterAllocatesNothingPerChunk) {
    if (!heap_is_counted) GTEST_SKIP() << "needs the allocator's own counters (no sanitizer)";
    SnapshotStore store = open();
    SnapshotWriter writer = store.write(small_info(1, chunk)).value();
    const Content piece = noise(chunk);
    ASSERT_TRUE(writer.append(piece));
    const std::size_t before = heap_bytes();

    for (int i = 0; i < 64; ++i)
        ASSERT_TRUE(writer.append(piece));

    EXPECT_EQ(heap_bytes(), before);
}

TEST_F(SnapshotStream, HugeClaimsOfAnImageAreNotBelieved) {
    // An intact header that asks for chunks of a gibibyte.
    SnapshotInfo info = small_info(1, 1U << 30);
    info.generation = 1;
    Content header(4096);
    encode_snapshot_header(info, header);
    SnapshotDecoder decoder(std::uint64_t{1} << 40);

    const auto event = decoder.accept(header);

    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().code, Errc::unsupported);
    EXPECT_THAT(event.error().context, ::testing::HasSubstr("byte 36, chunk bytes: 1073741824"));
}

} // namespace
} // namespace promtact::wal
