// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/import_snapshot.hpp>

namespace promtact::wal {
namespace {

using ::testing::HasSubstr;
using Content = std::vector<std::byte>;

Content unhex(const std::string& hex) {
    Content bytes;
    for (std::size_t at = 0; at < hex.size(); at += 2)
        bytes.push_back(static_cast<std::byte>(std::stoul(hex.substr(at, 2), nullptr, 16)));
    return bytes;
}

// Written by the Go reference: index 42, term 7, old voters 7, state "abc".
const Content snapshot_vector =
    unhex("485950534e4150322a0000000000000007000000000000000700000000000000000000000000000003000000"
          "0000000004ba340b616263");
// Written by the Go reference: client 7, request 1, put key 9 = 42.
const Content machine_vector =
    unhex("4859534d01000000010000000100000009000000000000002a00000000000000070000000000000001000000"
          "000000002a000000000000000100000000000000d8b8b72e");

void reseal(Content& machine) {
    const std::size_t at = machine.size() - 4;
    store_le<std::uint32_t>(machine, at, crc32c(std::span(machine).first(at)));
}

TEST(ImportSnapshot, ReadsTheReferencesVector) {
    const auto snapshot = import_snapshot(snapshot_vector);

    ASSERT_TRUE(snapshot);
    EXPECT_EQ(snapshot->last_index, 42U);
    EXPECT_EQ(snapshot->last_term, 7U);
    EXPECT_EQ(snapshot->old_voters, 7U);
    EXPECT_EQ(snapshot->new_voters, 0U);
    EXPECT_EQ(text_of(snapshot->state), "abc");
}

TEST(ImportSnapshot, CarriesBothVoterSets) {
    Content bytes = snapshot_vector;
    store_le<std::uint64_t>(bytes, 32, 0x1f);
    const std::uint32_t crc =
        crc32c_extend(crc32c(std::span(bytes).first(48)), std::span(bytes).subspan(52));
    store_le<std::uint32_t>(bytes, 48, crc);

    EXPECT_EQ(import_snapshot(bytes).value().new_voters, 0x1fU);
}

TEST(ImportSnapshot, EveryFlippedByteEveryPrefixAndEveryExtensionIsRefused) {
    Content bytes = snapshot_vector;
    for (std::byte& byte : bytes) {
        for (int bit = 0; bit < 8; ++bit) {
            byte ^= static_cast<std::byte>(1 << bit);
            EXPECT_FALSE(import_snapshot(bytes));
            byte ^= static_cast<std::byte>(1 << bit);
        }
    }
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(import_snapshot(std::span(bytes).first(size))) << size;
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(import_snapshot(bytes));
}

TEST(ImportSnapshot, ErrorsNameOffsetAndField) {
    Content bytes = snapshot_vector;
    EXPECT_THAT(
        import_snapshot(std::span(bytes).first(20)).error().context,
        HasSubstr("byte 20, header: ends before 52"));
    EXPECT_THAT(
        import_snapshot(std::span(bytes).first(53)).error().context,
        HasSubstr("byte 40, state length: 3, but 1 bytes follow"));
    store_le<std::uint64_t>(bytes, 40, UINT64_MAX);
    EXPECT_EQ(import_snapshot(bytes).error().code, Errc::corrupt);
    bytes = snapshot_vector;
    bytes[60 - 8] ^= std::byte{1};
    EXPECT_THAT(import_snapshot(bytes).error().context, HasSubstr("byte 48, checksum"));
    bytes[0] = std::byte{0};
    EXPECT_EQ(import_snapshot(bytes).error().code, Errc::format);
}

TEST(ImportMachine, ReadsTheReferencesVector) {
    const auto machine = import_machine(machine_vector);

    ASSERT_TRUE(machine);
    EXPECT_THAT(machine->keys, ::testing::ElementsAre(ReferenceKey{.key = 9, .value = 42}));
    EXPECT_THAT(
        machine->clients, ::testing::ElementsAre(ReferenceClient{
                              .client = 7, .request = 1, .value = 42, .found = true}));
}

TEST(ImportMachine, EveryFlippedByteEveryPrefixAndEveryExtensionIsRefused) {
    Content bytes = machine_vector;
    for (std::byte& byte : bytes) {
        for (int bit = 0; bit < 8; ++bit) {
            byte ^= static_cast<std::byte>(1 << bit);
            EXPECT_FALSE(import_machine(bytes));
            byte ^= static_cast<std::byte>(1 << bit);
        }
    }
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(import_machine(std::span(bytes).first(size))) << size;
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(import_machine(bytes));
}

TEST(ImportMachine, CountsAreBoundedByTheLengthBeforeAnythingIsAllocated) {
    for (const std::size_t at : {8U, 12U}) {
        Content bytes = machine_vector;
        store_le<std::uint32_t>(bytes, at, 0x7fffffff);
        reseal(bytes);
        const auto machine = import_machine(bytes);
        ASSERT_FALSE(machine);
        EXPECT_EQ(machine.error().code, Errc::corrupt);
        EXPECT_THAT(machine.error().context, HasSubstr("byte 8, counts"));
        EXPECT_THAT(machine.error().context, HasSubstr("2147483647"));
    }
}

TEST(ImportMachine, WhatNoWriterWritesIsRefusedThoughTheChecksumHolds) {
    struct Row {
        std::size_t at;
        std::uint8_t value;
        Errc code;
        const char* words;
    };
    for (const Row& row :
         {Row{4, 2, Errc::format, "byte 4, version: 2 is not 1"},
          Row{6, 1, Errc::corrupt, "byte 6, reserved"},
          Row{56, 2, Errc::corrupt, "byte 56, found: 2"},
          Row{63, 1, Errc::corrupt, "byte 63, client padding"}}) {
        Content bytes = machine_vector;
        bytes[row.at] = static_cast<std::byte>(row.value);
        reseal(bytes);
        const auto machine = import_machine(bytes);
        ASSERT_FALSE(machine) << row.words;
        EXPECT_EQ(machine.error().code, row.code);
        EXPECT_THAT(machine.error().context, HasSubstr(row.words));
    }
}

TEST(ImportMachine, KeysAndClientsMustAscend) {
    Content bytes(16 + 2 * 16 + 4);
    std::copy_n(machine_vector.begin(), 16, bytes.begin());
    store_le<std::uint32_t>(bytes, 8, 2);
    store_le<std::uint32_t>(bytes, 12, 0);
    store_le<std::uint64_t>(bytes, 16, 5);
    store_le<std::uint64_t>(bytes, 32, 5);
    reseal(bytes);
    EXPECT_THAT(import_machine(bytes).error().context, HasSubstr("byte 32, key: 5"));
    store_le<std::uint64_t>(bytes, 32, 6);
    reseal(bytes);
    EXPECT_EQ(import_machine(bytes).value().keys.size(), 2U);
}

} // namespace
} // namespace promtact::wal
