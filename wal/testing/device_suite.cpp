// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/wal/device_storage.hpp>

#include "suite_internal.hpp"

namespace promtact::wal_testing {
namespace {

class LiftedPlace final : public StoragePlace {
  public:
    explicit LiftedPlace(std::unique_ptr<DevicePlace> place) : place_(std::move(place)) {}

    Result<std::unique_ptr<Storage>> open() override {
        PROMTACT_TRY_ASSIGN(std::unique_ptr<wal::Device> device, place_->open());
        PROMTACT_TRY_ASSIGN(auto storage, wal::DeviceStorage::open(std::move(device)));
        return std::unique_ptr<Storage>(std::move(storage));
    }
    void end(std::unique_ptr<Storage> storage, End how) override {
        PROMTACT_ASSERT(storage != nullptr); // and open() makes no other
        auto* const lifted = static_cast<wal::DeviceStorage*>(storage.get());
        std::unique_ptr<wal::Device> device = lifted->release();
        storage.reset();
        place_->end(std::move(device), how);
    }
    [[nodiscard]] bool models_crashes() const override { return place_->models_crashes(); }
    [[nodiscard]] bool outlives_processes() const override { return place_->outlives_processes(); }

  private:
    std::unique_ptr<DevicePlace> place_;
};

void add_storage_properties(std::vector<Property>& out, const StoragePlaceFactory& factory) {
    add_request_properties(out, factory);
    add_content_properties(out, factory);
    add_name_properties(out, factory);
    add_log_properties(out, factory);
}

} // namespace

Finding::Finding(const Error& error) : outcome(Outcome::failed), words(describe(error)) {}

std::unique_ptr<StoragePlace> lift(std::unique_ptr<DevicePlace> place) {
    PROMTACT_ASSERT(place != nullptr);
    return std::make_unique<LiftedPlace>(std::move(place));
}

std::vector<Property> device_suite(const StoragePlaceFactory& factory) {
    PROMTACT_ASSERT(factory != nullptr);
    std::vector<Property> out;
    add_device_properties(out, [factory] { return view_as_device(factory()); });
    add_storage_properties(out, factory);
    return out;
}

std::vector<Property> device_suite(const DevicePlaceFactory& factory) {
    PROMTACT_ASSERT(factory != nullptr);
    std::vector<Property> out;
    add_device_properties(out, [factory]() -> Result<DeviceGround> {
        return DeviceGround{.place = factory(), .unit = 1};
    });
    add_storage_properties(out, [factory] { return lift(factory()); });
    return out;
}

} // namespace promtact::wal_testing
