// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The suite on io_uring, with both ways to sync.
#include <gtest/gtest.h>

#include <promtact/wal/testing/device_suite_gtest.hpp>

#include "places_internal.hpp"

namespace promtact::wal_testing {
namespace {

std::unique_ptr<StoragePlace> ring_syncs() {
    return std::make_unique<UringPlace>(uring::UringStorageOptions{.event_fd = true});
}
std::unique_ptr<StoragePlace> inline_syncs() {
    return std::make_unique<UringPlace>(
        uring::UringStorageOptions{.inline_sync = true, .event_fd = true});
}

// Where io_uring or direct I/O is refused nothing can be said about it.
std::vector<Property> where_it_opens(std::unique_ptr<StoragePlace> (*make)()) {
    std::vector<Property> properties = device_suite(StoragePlaceFactory(make));
    for (Property& property : properties) {
        property.run = [make, run = std::move(property.run)] {
            const auto opened = make()->open();
            const bool grey = !opened && (opened.error().code == Errc::unsupported ||
                                          opened.error().code == Errc::denied);
            return grey ? Finding::not_applicable(opened.error().context) : run();
        };
    }
    return properties;
}

[[maybe_unused]] const int registered[] = {
    register_device_suite("UringStorageConformance", where_it_opens(ring_syncs)),
    register_device_suite("UringStorageInlineSyncConformance", where_it_opens(inline_syncs)),
};

} // namespace
} // namespace promtact::wal_testing
