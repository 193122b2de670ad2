// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One file of a storage as a device of four calls: the other direction of wal::DeviceStorage.
#include <cerrno>
#include <utility>

#include <promtact/base/assert.hpp>

#include "suite_internal.hpp"

namespace promtact::wal_testing {
namespace {

constexpr std::string_view file_name = "device";
constexpr std::uint32_t written_file = 1;
constexpr std::uint32_t read_file = 2;

class StorageAsDevice final : public wal::Device {
  public:
    explicit StorageAsDevice(std::unique_ptr<Storage> storage)
        : storage_(std::move(storage)), hand_(*storage_) {}

    Result<void> start() {
        PROMTACT_TRY_ASSIGN(
            const std::int64_t size,
            hand_.must({.kind = IoKind::create, .file = written_file, .name = file_name}));
        size_ = static_cast<std::uint64_t>(size);
        return hand_.sync_dir();
    }
    Result<void> append(std::span<const std::byte> bytes) override {
        if (bytes.empty()) { // refused or not, it must do no harm
            PROMTACT_TRY(hand_.ask({.kind = IoKind::write, .file = written_file, .offset = size_}));
            return {};
        }
        PROMTACT_TRY(hand_.write(written_file, size_, bytes));
        size_ += bytes.size();
        return {};
    }
    Result<void> sync() override {
        return hand_.expect({.kind = IoKind::sync_data, .file = written_file}, 0);
    }
    // Through a second descriptor.
    Result<Bytes> durable_bytes() override {
        PROMTACT_TRY(sync());
        PROMTACT_TRY_ASSIGN(
            const std::int64_t size,
            hand_.must({.kind = IoKind::open, .file = read_file, .name = file_name}));
        if (size == 0) return Bytes{};
        return hand_.read(read_file, 0, static_cast<std::size_t>(size));
    }
    Result<void> truncate_durable(std::uint64_t bytes) override {
        const bool impossible = bytes > static_cast<std::uint64_t>(INT64_MAX);
        if (bytes > size_ && !impossible)
            return Error{Errc::out_of_range, 0, "the file is shorter"};
        const IoOp op{.kind = IoKind::truncate, .file = written_file, .offset = bytes};
        PROMTACT_TRY_ASSIGN(const std::int64_t answer, hand_.ask(op));
        if (impossible && answer < 0) return Error{Errc::out_of_range, 0, "no file is that long"};
        if (answer < 0) return Error::from_errno(static_cast<int>(-answer), "truncate");
        size_ = bytes;
        return sync();
    }
    std::unique_ptr<Storage> release() { return std::move(storage_); }

  private:
    std::unique_ptr<Storage> storage_;
    Hand hand_;
    std::uint64_t size_ = 0;
};

class ViewedPlace final : public DevicePlace {
  public:
    explicit ViewedPlace(std::unique_ptr<StoragePlace> place) : place_(std::move(place)) {}

    Result<std::unique_ptr<wal::Device>> open() override {
        PROMTACT_TRY_ASSIGN(std::unique_ptr<Storage> storage, place_->open());
        auto device = std::make_unique<StorageAsDevice>(std::move(storage));
        PROMTACT_TRY(device->start());
        return std::unique_ptr<wal::Device>(std::move(device));
    }
    void end(std::unique_ptr<wal::Device> device, End how) override {
        PROMTACT_ASSERT(device != nullptr); // and open() makes no other
        auto* const view = static_cast<StorageAsDevice*>(device.get());
        place_->end(view->release(), how);
    }
    [[nodiscard]] bool models_crashes() const override { return place_->models_crashes(); }
    [[nodiscard]] bool outlives_processes() const override { return place_->outlives_processes(); }

  private:
    std::unique_ptr<StoragePlace> place_;
};

} // namespace

Result<DeviceGround> view_as_device(std::unique_ptr<StoragePlace> place) {
    PROMTACT_ASSERT(place != nullptr);
    std::size_t unit = 1;
    {
        PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
        unit = session.device().limits().align_offset;
    }
    return DeviceGround{.place = std::make_unique<ViewedPlace>(std::move(place)), .unit = unit};
}

} // namespace promtact::wal_testing
