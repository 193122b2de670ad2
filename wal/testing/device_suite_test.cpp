// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The suite on the storages that need nothing of the kernel but files, and on a device of four
// calls.
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/wal/testing/device_suite_gtest.hpp>

#include "places_internal.hpp"

namespace promtact::wal_testing {
namespace {

using Direct = FileStorageOptions::Direct;
using Order = MemoryPlace::Order;

std::unique_ptr<StoragePlace> memory() {
    return std::make_unique<MemoryPlace>();
}
std::unique_ptr<StoragePlace> memory_in_any_order() {
    return std::make_unique<MemoryPlace>(Order::seeded, 4096);
}
std::unique_ptr<StoragePlace> faultless() {
    return std::make_unique<FaultPlace>();
}
std::unique_ptr<StoragePlace> direct_files() {
    return std::make_unique<FilePlace>(
        FileStorageOptions{.direct = Direct::preferred, .event_fd = true});
}
std::unique_ptr<StoragePlace> buffered_files() {
    return std::make_unique<FilePlace>(FileStorageOptions{.direct = Direct::off, .event_fd = true});
}
std::unique_ptr<DevicePlace> memory_device() {
    return std::make_unique<MemoryDevicePlace<MemoryDevice>>();
}

// Properties of both kinds of place at once.
std::vector<Property> suite_of(std::unique_ptr<StoragePlace> (*make)()) {
    return device_suite(StoragePlaceFactory(make));
}

[[maybe_unused]] const int registered[] = {
    register_device_suite("MemoryStorageConformance", suite_of(memory)),
    register_device_suite("MemoryStorageAnyOrderConformance", suite_of(memory_in_any_order)),
    register_device_suite("FaultStorageConformance", suite_of(faultless)),
    register_device_suite("FileStorageConformance", suite_of(direct_files)),
    register_device_suite("FileStorageBufferedConformance", suite_of(buffered_files)),
    register_device_suite(
        "FourCallDeviceConformance", device_suite(DevicePlaceFactory(memory_device))),
};

std::set<std::string> not_applicable(const std::vector<Property>& properties) {
    std::set<std::string> names;
    for (const Property& property : properties) {
        const Finding finding = property.run();
        EXPECT_NE(finding.outcome, Finding::Outcome::failed) << property.name << finding.words;
        if (finding.outcome == Finding::Outcome::not_applicable) {
            names.insert(std::string(property.name));
            EXPECT_NE(finding.words, "") << property.name;
        }
    }
    return names;
}

TEST(DeviceSuite, LooksAtEverythingButWhatADeviceDoesNotOffer) {
    const std::set<std::string> of_memory{
        "ReopensAfterItsProcessWasKilled", "EventDescriptorTellsOfAnswers"};
    EXPECT_EQ(not_applicable(suite_of(memory)), of_memory);
    EXPECT_EQ(not_applicable(suite_of(faultless)), of_memory);
    EXPECT_EQ(
        not_applicable(suite_of(buffered_files)),
        std::set<std::string>{"UnalignedIsRefusedAndChangesNothing"});
}

TEST(DeviceSuite, NamesEveryPropertyOnceAndSaysWhatItClaims) {
    std::set<std::string_view> names;
    const auto suite = suite_of(memory);
    for (const Property& property : suite) {
        EXPECT_TRUE(names.insert(property.name).second) << property.name;
        EXPECT_NE(property.claim, "");
    }
    EXPECT_EQ(names.size(), 33U);
    EXPECT_EQ(device_suite(DevicePlaceFactory(memory_device)).size(), names.size());
}

TEST(DeviceSuite, RunsAPropertyAsOftenAsAsked) {
    const auto suite = suite_of(memory);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(suite.front().run().outcome, Finding::Outcome::passed);
}

} // namespace
} // namespace promtact::wal_testing
