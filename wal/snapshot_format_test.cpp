// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <sstream>

#include <gmock/gmock.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/base/read_file.hpp>

#include "snapshot_fixture_internal.hpp"

#include <test_paths.hpp>

namespace promtact::wal {
namespace {

using namespace test_support;
using ::testing::HasSubstr;
using H = SnapshotHeaderLayout;
using C = SnapshotChunkLayout;
using T = SnapshotTrailerLayout;

/// The image of SNAPSHOT_FORMAT.md: index 42, term 7, metadata "voters=7", payload "abc".
Content example_image() {
    MapStorage storage;
    SnapshotStoreOptions options;
    for (std::size_t i = 0; i < 16; ++i)
        options.cluster[i] = static_cast<std::byte>(0xc0 + i);
    SnapshotStore store = open_store(storage, options);
    SnapshotInfo info = small_info(42);
    info.term = 7;
    info.cluster = options.cluster;
    info.image[15] = std::byte{0x11};
    info.payload_bytes = 3;
    const auto metadata = bytes_of("voters=7");
    info.metadata.assign(metadata.begin(), metadata.end());
    EXPECT_TRUE(install(store, info, bytes_of("abc")));
    return *storage.files.at(snapshot_name(1));
}

/// Decodes an image held in memory; the payload.
Result<Content> decode_image(std::span<const std::byte> image, const SnapshotLimits& limits = {}) {
    SnapshotDecoder decoder(image.size(), limits);
    Content payload;
    while (!decoder.done()) {
        const SnapshotWant want = decoder.want();
        PROMTACT_TRY_ASSIGN(
            const auto event, decoder.accept(image.subspan(want.offset, want.bytes)));
        if (event == SnapshotDecoder::Event::chunk)
            payload.insert(payload.end(), decoder.payload().begin(), decoder.payload().end());
    }
    return payload;
}

/// The bytes of the "offset  hex…" lines of a document's worked example; the rest is zero.
Content image_in_document(std::size_t size) {
    const auto text = read_text_file(test_source_path("wal/SNAPSHOT_FORMAT.md"), Bytes{1 << 20});
    EXPECT_TRUE(text);
    Content image(size);
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        if (line.size() < 8 || line.substr(4, 2) != "  " ||
            line.find_first_not_of("0123456789abcdef") != 4) {
            continue;
        }
        std::size_t at = std::stoul(line.substr(0, 4), nullptr, 16);
        std::istringstream words(line.substr(6, 50));
        for (std::string word; words >> word && at < size; ++at)
            image[at] = static_cast<std::byte>(std::stoul(word, nullptr, 16));
    }
    return image;
}

/// Recomputes the checksum of a header after a field was changed.
void reseal_header(std::span<std::byte> header) {
    store_le<std::uint32_t>(header, H::checksum, 0);
    store_le<std::uint32_t>(header, H::checksum, crc32c(header));
}

TEST(SnapshotFormat, TheDocumentsWorkedExampleIsWhatTheWriterWrites) {
    const Content image = example_image();

    EXPECT_EQ(image_in_document(image.size()), image);
    EXPECT_EQ(text_of(decode_image(image_in_document(image.size())).value()), "abc");
}

TEST(SnapshotFormat, EveryFlippedByteAndEveryFlippedBitOfAFieldIsRefused) {
    Content image = example_image();
    for (std::size_t at = 0; at < image.size(); ++at) {
        for (int bit = 0; bit < (at % 4096 < 160 ? 8 : 1); ++bit) {
            image[at] ^= static_cast<std::byte>(1 << bit);
            const auto payload = decode_image(image);
            ASSERT_FALSE(payload) << at << "." << bit;
            ASSERT_NE(payload.error().code, Errc::io);
            image[at] ^= static_cast<std::byte>(1 << bit);
        }
    }
    EXPECT_TRUE(decode_image(image));
}

TEST(SnapshotFormat, EveryTruncationAndEveryExtensionIsRefused) {
    Content image = example_image();
    for (std::size_t size = 0; size < image.size(); ++size) {
        const auto payload = decode_image(std::span(image).first(size));
        ASSERT_FALSE(payload) << size;
        ASSERT_EQ(payload.error().code, Errc::corrupt);
    }
    for (const std::size_t more : {1U, 4095U, 4096U, 100000U}) {
        Content longer = image;
        longer.resize(image.size() + more);
        EXPECT_THAT(decode_image(longer).error().context, HasSubstr("behind the trailer"));
    }
}

TEST(SnapshotFormat, ReorderedOrRepeatedChunksAreRefused) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    ASSERT_TRUE(install(store, small_info(1), noise(3 * 4096)));
    const Content image = *storage.files[snapshot_name(1)];
    const auto chunk = [&image](std::size_t n) {
        return std::span(image).subspan(4096 + n * 8192, 8192);
    };
    for (const auto& order : std::vector<std::vector<std::size_t>>{{1, 0, 2}, {0, 0, 2}, {0, 2}}) {
        Content other(image.begin(), image.begin() + 4096);
        for (const std::size_t n : order)
            other.insert(other.end(), chunk(n).begin(), chunk(n).end());
        other.insert(other.end(), image.end() - 4096, image.end());
        EXPECT_EQ(decode_image(other).error().code, Errc::corrupt);
    }
}

TEST(SnapshotFormat, AChunkOfAnotherImageIsRefusedThoughItsFieldsFit) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    ASSERT_TRUE(install(store, small_info(1), noise(4096, 1)));
    ASSERT_TRUE(install(store, small_info(1), noise(4096, 2)));
    Content image = *storage.files[snapshot_name(1)];
    const Content& other = *storage.files[snapshot_name(2)];

    std::copy_n(other.begin() + 4096, 8192, image.begin() + 4096);

    EXPECT_THAT(decode_image(image).error().context, HasSubstr("or what comes before it"));
}

TEST(SnapshotFormat, PagesThatEndInTheirOwnChecksumCannotStandForEachOther) {
    Content payload = noise(8192);
    for (const std::size_t page : {0U, 4096U}) {
        store_le<std::uint32_t>(
            payload, page + 4092, crc32c(std::span(payload).subspan(page, 4092)));
    }
    Content swapped(payload.begin() + 4096, payload.end());
    swapped.insert(swapped.end(), payload.begin(), payload.begin() + 4096);
    ASSERT_EQ(crc32c(payload), crc32c(swapped)) << "a CRC over both does not see it";
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    ASSERT_TRUE(install(store, small_info(1, 8192), payload));
    Content image = *storage.files[snapshot_name(1)];

    std::copy(swapped.begin(), swapped.end(), image.begin() + 4096 + snapshot_chunk_header_bytes);

    EXPECT_THAT(decode_image(image).error().context, HasSubstr("chunk 0 sum"));
}

TEST(SnapshotFormat, ErrorsNameOffsetAndFieldOfAResealedHeader) {
    struct Row {
        std::size_t at;
        std::uint32_t value;
        Errc code;
        const char* words;
    };
    for (const Row& row :
         {Row{H::major, 2, Errc::format, "byte 8, version: major 2"},
          Row{H::incompat, 0x80, Errc::unsupported, "byte 24, incompat features: bits 128"},
          Row{H::chunk_bytes, 4097, Errc::corrupt, "byte 36, chunk bytes: 4097"},
          Row{H::chunk_bytes, 0, Errc::corrupt, "byte 36, chunk bytes: 0"},
          Row{H::metadata_bytes, 0xffffffff, Errc::corrupt, "byte 20, metadata bytes: 4294967295"},
          Row{H::metadata_bytes, 7, Errc::corrupt, "byte 135, header padding"},
          Row{H::reserved, 1, Errc::corrupt, "byte 120, reserved"},
          Row{H::payload_bytes, 4, Errc::corrupt, "checksum: does not match"}}) {
        Content image = example_image();
        store_le<std::uint32_t>(image, row.at, row.value);
        reseal_header(std::span(image).first(4096));
        const auto payload = decode_image(image);
        ASSERT_FALSE(payload) << row.words;
        EXPECT_EQ(payload.error().code, row.code) << row.words;
        EXPECT_THAT(payload.error().context, HasSubstr(row.words));
    }
}

TEST(SnapshotFormat, UnknownCompatAndMinorAreRead) {
    SnapshotInfo info = small_info(1);
    info.generation = 1;
    info.compat = 0x40;
    Content header(4096);
    encode_snapshot_header(info, header);
    store_le<std::uint16_t>(header, H::minor, 9);
    reseal_header(header);

    EXPECT_EQ(decode_snapshot_header(header).value(), info);
}

TEST(SnapshotFormat, ABuildWithoutZstdRefusesSuchAnImageByName) {
    SnapshotInfo info = small_info(1);
    info.incompat = snapshot_incompat_zstd;
    Content header(4096);
    encode_snapshot_header(info, header);
    SnapshotLimits without;
    without.incompat_known = 0;

    const auto decoded = decode_snapshot_header(header, without);

    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, Errc::unsupported);
    EXPECT_THAT(decoded.error().context, HasSubstr("zstd"));
}

TEST(SnapshotFormat, CompressedImagesAreSmallerAndEveryFlippedByteIsRefused) {
    if (!snapshot_zstd_available()) GTEST_SKIP() << "needs zstd (libzstd-dev)";
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    SnapshotInfo info = small_info(1, 16384);
    info.incompat = snapshot_incompat_zstd;
    Content payload = noise(16384, 3); // the first chunk does not shrink and is stored plain
    payload.resize(40000, std::byte{9});
    ASSERT_TRUE(install(store, info, payload));
    Content image = *storage.files[snapshot_name(1)];

    EXPECT_EQ(image.size(), 4096U + 20480U + 4096U + 4096U + 4096U);
    EXPECT_EQ(decode_image(image).value(), payload);
    for (std::size_t at = 0; at < image.size(); at += 7) {
        image[at] ^= std::byte{0x21};
        ASSERT_FALSE(decode_image(image)) << at;
        image[at] ^= std::byte{0x21};
    }
}

TEST(SnapshotFormat, WriterRefusesWhatItCannotExpress) {
    SnapshotInfo info = small_info(1);
    info.metadata.resize(snapshot_metadata_bytes_max + 1);
    EXPECT_EQ(check_snapshot_info(info).error().code, Errc::invalid_argument);
    info.metadata.resize(snapshot_metadata_bytes_max);
    EXPECT_TRUE(check_snapshot_info(info));
    info.chunk_bytes = 5000;
    EXPECT_THAT(check_snapshot_info(info).error().context, HasSubstr("chunk_bytes 5000"));
    info = small_info(1);
    info.compat = 1;
    EXPECT_EQ(check_snapshot_info(info).error().code, Errc::invalid_argument);
}

TEST(SnapshotFormat, LargestMetadataComesBack) {
    MapStorage storage({.align_offset = 4096});
    SnapshotStore store = open_store(storage);
    SnapshotInfo info = small_info(1);
    info.metadata = noise(snapshot_metadata_bytes_max);
    ASSERT_TRUE(install(store, info, noise(10)));

    EXPECT_EQ(open_store(storage).verdict().newest->metadata, info.metadata);
}

} // namespace
} // namespace promtact::wal
