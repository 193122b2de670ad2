// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the properties of the device suite are written with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/scan.hpp>
#include <promtact/wal/testing/device_suite.hpp>

namespace promtact::wal_testing {

inline constexpr std::size_t suite_block = 4096;
using Bytes = std::vector<std::byte>;

/// Bytes that differ from number to number and hold no long run.
Bytes pattern(std::uint64_t number, std::size_t bytes);
bool same(std::span<const std::byte> a, std::span<const std::byte> b) noexcept;
bool all_are(std::span<const std::byte> bytes, std::byte value) noexcept;

/// Asks a storage for one thing after the other and waits for each answer.
class Hand {
  public:
    /// Lifetime: storage outlives the hand
    explicit Hand(Storage& storage) : storage_(&storage) {}

    /// The answer, whatever it is. Errors: none came, or one to something else.
    Result<std::int64_t> ask(IoOp op);
    /// The answer when it is not negative. Errors: as ask(); the answer, in words.
    Result<std::int64_t> must(const IoOp& op);
    /// Errors: the answer was another.
    Result<void> expect(const IoOp& op, std::int64_t answer);

    Result<void> create(std::uint32_t file, std::string_view name);
    Result<void> write(std::uint32_t file, std::uint64_t offset, std::span<const std::byte> data);
    /// As many of the bytes as there are.
    Result<Bytes> read(std::uint32_t file, std::uint64_t offset, std::size_t bytes);
    /// Syncs a file's content and the directory.
    Result<void> sync(std::uint32_t file);
    Result<void> sync_dir();
    /// Answers to several requests in flight at once, in the order of the requests.
    Result<std::vector<std::int64_t>> ask_all(std::span<IoOp> ops);

  private:
    Storage* storage_;
    std::uint64_t last_id_ = 0;
};

/// A device on a place, ended and opened again as a property wants.
template <class Device>
class Session {
  public:
    static Result<Session> open(Place<Device>& place) {
        PROMTACT_TRY_ASSIGN(std::unique_ptr<Device> device, place.open());
        return Session(place, std::move(device));
    }
    Session(Session&&) noexcept = default;
    Session& operator=(Session&&) = delete;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { end(End::closed); }

    [[nodiscard]] Device& device() noexcept { return *device_; }
    void end(End how) {
        if (device_) place_->end(std::move(device_), how);
    }
    Result<void> reopen(End how) {
        end(how);
        PROMTACT_TRY_ASSIGN(device_, place_->open());
        return {};
    }

  private:
    Session(Place<Device>& place, std::unique_ptr<Device> device)
        : place_(&place), device_(std::move(device)) {}
    Place<Device>* place_;
    std::unique_ptr<Device> device_;
};
using StorageSession = Session<Storage>;

/// A place of four calls with the size every append is a multiple of.
struct DeviceGround {
    std::unique_ptr<DevicePlace> place{};
    std::size_t unit = 1;
};
using DeviceGroundFactory = std::function<Result<DeviceGround>()>;

/// One file of a storage as a device of four calls.
Result<DeviceGround> view_as_device(std::unique_ptr<StoragePlace> place);

// Each adds its properties.
void add_device_properties(std::vector<Property>& out, const DeviceGroundFactory& factory);
void add_request_properties(std::vector<Property>& out, const StoragePlaceFactory& factory);
void add_content_properties(std::vector<Property>& out, const StoragePlaceFactory& factory);
void add_name_properties(std::vector<Property>& out, const StoragePlaceFactory& factory);
void add_log_properties(std::vector<Property>& out, const StoragePlaceFactory& factory);

/// "" or what a place that cannot crash leaves unseen.
std::string unseen(const StoragePlace& place);

} // namespace promtact::wal_testing
