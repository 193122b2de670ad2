// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the suite does not reach of the storage over four calls: its journal on a torn, damaged,
// full or failing device.
#include <cerrno>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/wal/device_storage.hpp>

#include "places_internal.hpp"
#include "suite_internal.hpp"

namespace promtact::wal_testing {
namespace {

using ::testing::HasSubstr;
using wal::DeviceStorage;

/// Fails append or sync when told to.
class FailingDevice final : public MemoryDevice {
  public:
    using MemoryDevice::MemoryDevice;
    Result<void> append(std::span<const std::byte> bytes) override {
        ++appends;
        if (append_errno != 0) return Error::from_errno(append_errno, "append");
        return MemoryDevice::append(bytes);
    }
    Result<void> sync() override {
        if (sync_errno != 0) return Error::from_errno(sync_errno, "sync");
        return MemoryDevice::sync();
    }
    Result<std::vector<std::byte>> durable_bytes() override {
        if (read_errno != 0) return Error::from_errno(read_errno, "read");
        return MemoryDevice::durable_bytes();
    }
    int append_errno = 0;
    int sync_errno = 0;
    int read_errno = 0;
    int appends = 0;
};

struct Opened {
    FailingDevice* device = nullptr;
    std::unique_ptr<DeviceStorage> storage{};
};

Opened open_on(MemoryMedium& medium) {
    auto device = std::make_unique<FailingDevice>(medium);
    FailingDevice* const raw = device.get();
    auto storage = DeviceStorage::open(std::move(device));
    if (!storage) return {};
    return {raw, std::move(*storage)};
}

/// Two files, three synced states; returns the medium after each.
std::vector<std::vector<std::byte>> write_history(MemoryMedium& medium) {
    std::vector<std::vector<std::byte>> states;
    const Opened opened = open_on(medium);
    Hand hand(*opened.storage);
    for (std::uint32_t file = 1; file <= 3; ++file) {
        EXPECT_TRUE(hand.create(file, "file-" + std::to_string(file)));
        EXPECT_TRUE(hand.write(file, 0, pattern(file, suite_block)));
        EXPECT_TRUE(hand.sync(file));
        states.push_back(medium.durable);
    }
    return states;
}

std::uint32_t files_found(DeviceStorage& storage) {
    Hand hand(storage);
    std::uint32_t found = 0;
    for (std::uint32_t file = 1; file <= 3; ++file) {
        const std::string name = "file-" + std::to_string(file);
        const auto size = hand.ask({.kind = IoKind::open, .file = file, .name = name});
        if (!size || *size < 0) break;
        EXPECT_TRUE(*size == 0 || *size == 4096);
        const auto content = hand.read(file, 0, suite_block);
        if (content && same(*content, pattern(file, suite_block))) ++found;
    }
    return found;
}

TEST(DeviceStorage, EveryCutOfTheJournalRecoversAPrefixAndGoesOn) {
    MemoryMedium whole;
    const auto states = write_history(whole);
    for (std::size_t cut = 0; cut <= whole.durable.size(); ++cut) {
        MemoryMedium medium;
        medium.durable.assign(
            whole.durable.begin(), whole.durable.begin() + static_cast<std::ptrdiff_t>(cut));
        const Opened opened = open_on(medium);
        ASSERT_NE(opened.storage, nullptr) << cut;
        const auto at_least = std::count_if(
            states.begin(), states.end(), [&](const auto& state) { return state.size() <= cut; });
        ASSERT_EQ(files_found(*opened.storage), static_cast<std::uint32_t>(at_least)) << cut;
        ASSERT_EQ(medium.durable.size() + opened.storage->cut_bytes(), cut);
        Hand hand(*opened.storage);
        ASSERT_TRUE(hand.create(7, "after")) << cut;
        ASSERT_TRUE(hand.sync(7));
        ASSERT_NE(open_on(medium).storage, nullptr) << cut;
    }
}

TEST(DeviceStorage, DamageInFrontOfDurableBytesIsRefusedAndNamed) {
    MemoryMedium whole;
    const auto states = write_history(whole);
    for (std::size_t at = 0; at < states[1].size(); at += 37) {
        MemoryMedium medium = whole;
        medium.durable[at] ^= std::byte{4};
        const auto before = medium.durable;
        const auto opened = DeviceStorage::open(std::make_unique<MemoryDevice>(medium));
        ASSERT_FALSE(opened) << at;
        EXPECT_EQ(opened.error().code, Errc::corrupt);
        EXPECT_THAT(opened.error().context, HasSubstr("were durable"));
        EXPECT_EQ(medium.durable, before) << "nothing is changed";
    }
}

TEST(DeviceStorage, DamageOfWhatNothingVouchesForIsATornTail) {
    MemoryMedium medium;
    write_history(medium);
    medium.durable[medium.durable.size() - 1] ^= std::byte{1};

    const Opened opened = open_on(medium);

    ASSERT_NE(opened.storage, nullptr);
    EXPECT_GT(opened.storage->cut_bytes(), suite_block);
    EXPECT_EQ(files_found(*opened.storage), 2U);
}

TEST(DeviceStorage, AFullDeviceIsNoSpaceAndNotTheEnd) {
    MemoryMedium medium;
    const Opened opened = open_on(medium);
    Hand hand(*opened.storage);
    ASSERT_TRUE(hand.create(1, "full"));
    opened.device->append_errno = ENOSPC;
    wal::AlignedBytes memory(suite_block, suite_block);
    memory.span()[0] = std::byte{1};
    const IoOp write{.kind = IoKind::write, .file = 1, .data = memory.span()};
    EXPECT_TRUE(hand.expect(write, -ENOSPC));
    EXPECT_TRUE(hand.expect({.kind = IoKind::sync_data, .file = 1}, 0));
    opened.device->append_errno = 0;
    EXPECT_TRUE(hand.expect(write, 4096));
    EXPECT_TRUE(hand.sync(1));
    EXPECT_NE(open_on(medium).storage, nullptr);
}

TEST(DeviceStorage, AnyOtherFailureIsTheEndOfChangesButNotOfReads) {
    for (const bool at_sync : {false, true}) {
        MemoryMedium medium;
        const Opened opened = open_on(medium);
        Hand hand(*opened.storage);
        const Bytes content = pattern(1, suite_block);
        ASSERT_TRUE(hand.create(1, "file"));
        ASSERT_TRUE(hand.write(1, 0, content));
        (at_sync ? opened.device->sync_errno : opened.device->append_errno) = EIO;
        const IoOp failing = at_sync ? IoOp{.kind = IoKind::sync_data, .file = 1}
                                     : IoOp{.kind = IoKind::create, .file = 2, .name = "other"};
        EXPECT_TRUE(hand.expect(failing, -EIO));
        opened.device->sync_errno = opened.device->append_errno = 0;
        const int appends = opened.device->appends;
        EXPECT_TRUE(hand.expect(failing, -EIO)) << "it is not asked again";
        EXPECT_TRUE(hand.expect({.kind = IoKind::sync_dir}, -EIO));
        EXPECT_TRUE(hand.expect({.kind = IoKind::unlink, .name = "file"}, -EIO));
        EXPECT_EQ(opened.device->appends, appends);
        const auto got = hand.read(1, 0, suite_block);
        ASSERT_TRUE(got);
        EXPECT_EQ(*got, content);
    }
}

TEST(DeviceStorage, WhatCannotBeReadIsNoEmptyDirectory) {
    MemoryMedium medium;
    auto device = std::make_unique<FailingDevice>(medium);
    device->read_errno = EIO;
    const auto opened = DeviceStorage::open(std::move(device));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().sys_errno, EIO);
}

TEST(DeviceStorage, ZerosTakeNoRoomOnTheDevice) {
    MemoryMedium medium;
    const Opened opened = open_on(medium);
    Hand hand(*opened.storage);
    ASSERT_TRUE(hand.create(1, "zeros"));
    ASSERT_TRUE(hand.write(1, 0, pattern(1, suite_block)));
    const std::size_t before = medium.durable.size();
    ASSERT_TRUE(hand.write(1, 0, Bytes(256 * suite_block)));
    ASSERT_TRUE(hand.sync(1));
    EXPECT_LT(medium.durable.size() - before, 2 * suite_block);
    const auto got = hand.read(1, 0, 300 * suite_block);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->size(), 256 * suite_block);
    EXPECT_TRUE(all_are(*got, std::byte{0}));
}

TEST(DeviceStorage, AnUnlinkedFileStaysUsableUntilItsNumberIsReused) {
    MemoryMedium medium;
    const Opened opened = open_on(medium);
    Hand hand(*opened.storage);
    const Bytes content = pattern(1, suite_block);
    ASSERT_TRUE(hand.create(1, "gone"));
    ASSERT_TRUE(hand.write(1, 0, content));
    ASSERT_TRUE(hand.expect({.kind = IoKind::unlink, .name = "gone"}, 0));
    EXPECT_EQ(*hand.read(1, 0, suite_block), content);
    ASSERT_TRUE(hand.write(1, 0, pattern(2, suite_block)));
    ASSERT_TRUE(hand.sync(1));

    const Opened again = open_on(medium);

    Hand other(*again.storage);
    EXPECT_TRUE(other.expect({.kind = IoKind::open, .file = 1, .name = "gone"}, -ENOENT));
}

TEST(DeviceStorage, WithoutItsDeviceEverythingIsRefused) {
    MemoryMedium medium;
    const Opened opened = open_on(medium);
    Hand hand(*opened.storage);
    ASSERT_TRUE(hand.create(1, "file"));
    const auto device = opened.storage->release();
    EXPECT_NE(device, nullptr);
    EXPECT_TRUE(hand.expect({.kind = IoKind::sync_dir}, -EBADF));
}

} // namespace
} // namespace promtact::wal_testing
