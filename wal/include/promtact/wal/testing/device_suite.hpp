// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What every device must do so that a log on it keeps its word, as a list of properties to run on
// yours: target promtact::wal_testing. No test framework is needed; device_suite_gtest.hpp is for
// those who use GoogleTest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/device.hpp>

namespace promtact::wal_testing {

/// How a device ends.
enum class End : std::uint8_t {
    closed,  // as its destructor ends it
    crashed, // as a power failure does
};

/// Where a device's content is while no device is open on it: a directory, a file, a model of a
/// disk. Device is Storage or wal::Device.
template <class Device>
class Place {
  public:
    Place() = default;
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    virtual ~Place() = default;

    /// A device on the content the one before left; the first finds none.
    virtual Result<std::unique_ptr<Device>> open() = 0;

    /// Ends a device that open() made. A place that cannot crash destroys it either way.
    virtual void end(std::unique_ptr<Device> device, End /*how*/) { device.reset(); }

    /// End::crashed really loses what was not synced, in whole or in part.
    [[nodiscard]] virtual bool models_crashes() const { return false; }

    /// Another process that opens a copy of this object finds the same content.
    [[nodiscard]] virtual bool outlives_processes() const { return false; }
};
using StoragePlace = Place<Storage>;
using DevicePlace = Place<wal::Device>;

/// Makes a place without content; each property asks for one or more of its own.
using StoragePlaceFactory = std::function<std::unique_ptr<StoragePlace>()>;
using DevicePlaceFactory = std::function<std::unique_ptr<DevicePlace>()>;

/// What running a property found.
struct Finding {
    enum class Outcome : std::uint8_t {
        passed,
        failed,
        not_applicable, // the device does not offer what the property is about; words say what
    };
    Outcome outcome = Outcome::passed;
    std::string words{}; // what was found; for passed: what could not be looked at, if anything

    Finding() = default;
    Finding(Outcome what, std::string why) : outcome(what), words(std::move(why)) {}
    /// failed, in the error's words.
    Finding(const Error& error);

    static Finding failed(std::string why) { return {Outcome::failed, std::move(why)}; }
    static Finding not_applicable(std::string why) {
        return {Outcome::not_applicable, std::move(why)};
    }
};

/// One thing a device must do. Runs as often as asked, each time on fresh places.
struct Property {
    std::string_view name{};  // CamelCase, unique in the suite
    std::string_view claim{}; // a sentence
    std::function<Finding()> run{};
};

/// The reference's ten properties, on one file of the storage; those of the Storage contract; and
/// those of a log on it, with faults between the two.
/// Lifetime: the properties hold the factory
std::vector<Property> device_suite(const StoragePlaceFactory& factory);

/// The same for a device of four calls: the ten on the device itself, the others on the
/// DeviceStorage over it.
std::vector<Property> device_suite(const DevicePlaceFactory& factory);

/// A place for the DeviceStorage over a place's device.
std::unique_ptr<StoragePlace> lift(std::unique_ptr<DevicePlace> place);

} // namespace promtact::wal_testing
