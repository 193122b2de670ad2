// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/destroy_guard.hpp>

#include "fake_system_internal.hpp"

namespace promtact {
namespace {

using ::testing::HasSubstr;

constexpr DeviceNumber target{.major = 8, .minor = 16};
constexpr std::uint64_t target_bytes = 1 << 20;

DestroyRequest good_request() {
    return {
        .device = "/dev/sdb",
        .confirmation = "ERASE:/dev/sdb",
        .expected_size = target_bytes,
        .start_block = 16,
        .blocks = 10};
}

struct RequestRow {
    const char* name;
    std::function<void(DestroyRequest&)> change;
    const char* canonical;
    const char* says;
};

class RequestRefusal : public ::testing::TestWithParam<RequestRow> {};

TEST_P(RequestRefusal, IsOneClearSentence) {
    DestroyRequest request = good_request();
    GetParam().change(request);

    const auto result = check_request(request, GetParam().canonical);

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::refused);
    EXPECT_THAT(result.error().context, HasSubstr(GetParam().says));
}

const RequestRow request_rows[] = {
    {"sda", [](DestroyRequest& r) { r.confirmation = "ERASE:/dev/sda"; }, "/dev/sda",
     "refused by name"},
    {"outside_dev", [](DestroyRequest&) {}, "/tmp/image", "not below /dev/"},
    {"dev_itself", [](DestroyRequest&) {}, "/dev", "not below /dev/"},
    {"lookalike", [](DestroyRequest&) {}, "/devious/sdb", "not below /dev/"},
    {"no_confirmation", [](DestroyRequest& r) { r.confirmation.clear(); }, "/dev/sdb",
     "must be exactly ERASE:/dev/sdb"},
    {"other_device", [](DestroyRequest& r) { r.confirmation = "ERASE:/dev/sdc"; }, "/dev/sdb",
     "must be exactly"},
    {"lower_case", [](DestroyRequest& r) { r.confirmation = "erase:/dev/sdb"; }, "/dev/sdb",
     "must be exactly"},
    {"trailing_space", [](DestroyRequest& r) { r.confirmation += " "; }, "/dev/sdb",
     "must be exactly"},
    {"prefix_only", [](DestroyRequest& r) { r.confirmation = "ERASE:/dev/sd"; }, "/dev/sdb",
     "must be exactly"},
    {"link_name", [](DestroyRequest& r) { r.confirmation = "ERASE:/dev/disk/by-id/x"; }, "/dev/sdb",
     "must be exactly"},
    {"no_size", [](DestroyRequest& r) { r.expected_size = 0; }, "/dev/sdb", "size in bytes"},
    {"no_blocks", [](DestroyRequest& r) { r.blocks = 0; }, "/dev/sdb", "1 to 1000000"},
    {"too_many_blocks", [](DestroyRequest& r) { r.blocks = 1'000'001; }, "/dev/sdb",
     "1 to 1000000"},
};

INSTANTIATE_TEST_SUITE_P(
    DestroyGuard, RequestRefusal, ::testing::ValuesIn(request_rows),
    [](const auto& row) { return std::string(row.param.name); });

struct DeviceRow {
    const char* name;
    std::function<void(const testing::FakeSystem&, DestroyRequest&)> change;
    const char* says;
};

class DeviceRefusal : public ::testing::TestWithParam<DeviceRow> {};

TEST_P(DeviceRefusal, IsOneClearSentence) {
    const testing::FakeSystem system;
    system.disk("sdb", "8:16", target_bytes);
    DestroyRequest request = good_request();
    // The control: without the row's change the same device is accepted.
    ASSERT_TRUE(check_unused(request, "/dev/sdb", target, system.roots()));

    GetParam().change(system, request);
    const auto result = check_unused(request, "/dev/sdb", target, system.roots());

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::refused);
    EXPECT_THAT(result.error().context, HasSubstr(GetParam().says));
}

constexpr const char* root_line = "26 1 254:0 / / rw - ext4 /dev/vda rw\n";
using System = testing::FakeSystem;

const DeviceRow device_rows[] = {
    {"root_disk",
     [](const System& s, DestroyRequest&) { s.mounts("26 1 8:16 / / rw - ext4 /dev/sdb rw\n"); },
     "carries /"},
    {"root_on_partition",
     [](const System& s, DestroyRequest&) {
         s.partition("sdb", "sdb2", "8:18");
         s.mounts("26 1 8:18 / / rw - ext4 /dev/sdb2 rw\n");
     },
     "carries /"},
    {"root_on_dm_on_partition",
     [](const System& s, DestroyRequest&) {
         s.partition("sdb", "sdb2", "8:18");
         s.disk("dm-0", "253:0", 4096);
         s.stack("sdb/sdb2", "dm-0");
         s.mounts("26 1 253:0 / / rw - ext4 /dev/mapper/root rw\n");
     },
     "carries /"},
    {"root_is_btrfs",
     [](const System& s, DestroyRequest&) { s.mounts("26 1 0:33 / / rw - btrfs /dev/sdb rw\n"); },
     "carries /"},
    {"read_only", [](const System& s, DestroyRequest&) { s.write("sys/devices/sdb/ro", "1\n"); },
     "read-only"},
    {"other_size", [](const System&, DestroyRequest& r) { r.expected_size += 512; },
     "expected were"},
    {"mounted",
     [](const System& s, DestroyRequest&) {
         s.mounts(std::string(root_line) + "30 26 8:16 / /data rw - ext4 /dev/sdb rw\n");
     },
     "is mounted at /data"},
    {"btrfs_mounted",
     [](const System& s, DestroyRequest&) {
         s.mounts(std::string(root_line) + "30 26 0:44 / /data rw - btrfs /dev/sdb rw\n");
     },
     "is mounted at /data"},
    {"partition_mounted",
     [](const System& s, DestroyRequest&) {
         s.partition("sdb", "sdb1", "8:17");
         s.mounts(std::string(root_line) + "30 26 8:17 / /data rw - ext4 /dev/sdb1 rw\n");
     },
     "(through sdb1) is mounted at /data"},
    {"holder_mounted",
     [](const System& s, DestroyRequest&) {
         s.disk("dm-0", "253:0", 4096);
         s.stack("sdb", "dm-0");
         s.mounts(std::string(root_line) + "30 26 253:0 / /data rw - ext4 /dev/mapper/x rw\n");
     },
     "(through dm-0) is mounted at /data"},
    {"swap", [](const System& s, DestroyRequest&) { s.swaps("/dev/sdb partition 8 0 -2\n"); },
     "is active swap"},
    {"partition_swap",
     [](const System& s, DestroyRequest&) {
         s.partition("sdb", "sdb1", "8:17");
         s.swaps("/dev/sdb1 partition 8 0 -2\n");
     },
     "(through sdb1) is active swap"},
    {"partitions", [](const System& s, DestroyRequest&) { s.partition("sdb", "sdb1", "8:17"); },
     "has partitions: sdb1"},
    {"held_by_dm",
     [](const System& s, DestroyRequest&) {
         s.disk("dm-0", "253:0", 4096);
         s.stack("sdb", "dm-0");
     },
     "is held by dm-0"},
    {"backs_a_loop",
     [](const System& s, DestroyRequest&) {
         s.disk("loop9", "7:9", 4096);
         s.write("sys/devices/loop9/loop/backing_file", "/dev/sdb\n");
     },
     "backs loop9"},
    {"start_wraps", [](const System&, DestroyRequest& r) { r.start_block = ~std::uint64_t{0} - 3; },
     "no 64-bit offset"},
    {"bytes_wrap",
     [](const System&, DestroyRequest& r) { r.start_block = (std::uint64_t{1} << 52) - 10; },
     "no 64-bit offset"},
    {"past_the_end", [](const System&, DestroyRequest& r) { r.start_block = 247; },
     "beyond /dev/sdb"},
    {"unknown_to_sysfs",
     [](const System& s, DestroyRequest&) {
         std::filesystem::remove(s.roots().sys + "/dev/block/8:16");
     },
     "unknown to sysfs"},
};

INSTANTIATE_TEST_SUITE_P(
    DestroyGuard, DeviceRefusal, ::testing::ValuesIn(device_rows),
    [](const auto& row) { return std::string(row.param.name); });

TEST(DestroyGuard, RefusesAPartitionAsTarget) {
    const testing::FakeSystem system;
    system.disk("sdb", "8:16", target_bytes);
    system.partition("sdb", "sdb1", "8:17");
    DestroyRequest request = good_request();
    request.expected_size = 4096;

    const auto result =
        check_unused(request, "/dev/sdb1", {.major = 8, .minor = 17}, system.roots());

    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().context, HasSubstr("is a partition of sdb"));
}

TEST(DestroyGuard, TheLastBlockOfTheDeviceIsAllowed) {
    const testing::FakeSystem system;
    system.disk("sdb", "8:16", target_bytes);
    DestroyRequest request = good_request();
    request.start_block = 246;

    EXPECT_TRUE(check_unused(request, "/dev/sdb", target, system.roots()));
}

TEST(DestroyGuard, ResolvesThePathFirst) {
    DestroyRequest request = good_request();
    request.device = "/dev/promtact-no-such-device";
    const auto missing = claim_for_destruction(request);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::refused);
    EXPECT_THAT(missing.error().context, HasSubstr("cannot resolve"));

    request.device = "/dev/null";
    request.confirmation = "ERASE:/dev/null";
    const auto character = claim_for_destruction(request);
    ASSERT_FALSE(character);
    EXPECT_EQ(character.error().context, "/dev/null is not a block device");
}

} // namespace
} // namespace promtact
