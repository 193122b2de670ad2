// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Places for the storages and devices of this unit, for the suite's own tests.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <promtact/base/disk_model.hpp>
#include <promtact/base/file_storage.hpp>
#include <promtact/uring/uring_storage.hpp>
#include <promtact/wal/fault_storage.hpp>
#include <promtact/wal/memory_storage.hpp>
#include <promtact/wal/testing/device_suite.hpp>

#include "temporary_directory.hpp"

namespace promtact::wal_testing {

/// A modelled disk. A crash keeps every second of the changes that were not synced.
class MemoryPlace final : public StoragePlace {
  public:
    using Order = wal::MemoryStorageOptions::Order;
    explicit MemoryPlace(Order order = Order::fifo, std::uint32_t atom_bytes = 512)
        : pool_(atom_bytes) {
        options_.order = order;
        options_.seed = 1;
        options_.limits.atomic_bytes = atom_bytes;
    }
    Result<std::unique_ptr<Storage>> open() override {
        auto storage = std::make_unique<wal::MemoryStorage>(pool_, image_, options_);
        model_ = &storage->model();
        return std::unique_ptr<Storage>(std::move(storage));
    }
    void end(std::unique_ptr<Storage> storage, End how) override {
        if (how == End::closed) {
            image_ = model_->completed();
        } else {
            model_->crash(image_, [](std::size_t index) { return index % 2 == 1; });
        }
        storage.reset();
    }
    [[nodiscard]] bool models_crashes() const override { return true; }

  private:
    disk::Pool pool_;
    wal::MemoryStorageOptions options_{};
    disk::Image image_{};
    disk::DiskModel* model_ = nullptr; // of the storage that is open
};

/// A FaultStorage without a fault on a modelled disk.
class FaultPlace final : public StoragePlace {
  public:
    Result<std::unique_ptr<Storage>> open() override {
        PROMTACT_TRY_ASSIGN(inner_, place_.open());
        return std::unique_ptr<Storage>(std::make_unique<wal::FaultStorage>(*inner_, 1));
    }
    void end(std::unique_ptr<Storage> storage, End how) override {
        storage.reset();
        place_.end(std::move(inner_), how);
    }
    [[nodiscard]] bool models_crashes() const override { return true; }

  private:
    MemoryPlace place_{MemoryPlace::Order::seeded, 4096};
    std::unique_ptr<Storage> inner_{};
};

class FilePlace final : public StoragePlace {
  public:
    explicit FilePlace(FileStorageOptions options) : options_(options) {}
    Result<std::unique_ptr<Storage>> open() override {
        PROMTACT_TRY_ASSIGN(auto storage, FileStorage::open(directory_.path(), options_));
        return std::unique_ptr<Storage>(std::move(storage));
    }
    [[nodiscard]] bool outlives_processes() const override { return true; }

  private:
    test_support::TemporaryDirectory directory_{};
    FileStorageOptions options_;
};

class UringPlace final : public StoragePlace {
  public:
    explicit UringPlace(uring::UringStorageOptions options) : options_(options) {}
    Result<std::unique_ptr<Storage>> open() override {
        PROMTACT_TRY_ASSIGN(auto storage, uring::UringStorage::open(directory_.path(), options_));
        return std::unique_ptr<Storage>(std::move(storage));
    }
    [[nodiscard]] bool outlives_processes() const override { return true; }

  private:
    test_support::TemporaryDirectory directory_{};
    uring::UringStorageOptions options_;
};

/// A device of four calls in memory, and what of it is durable.
struct MemoryMedium {
    std::vector<std::byte> durable{};
};
class MemoryDevice : public wal::Device {
  public:
    /// Lifetime: medium outlives the device
    explicit MemoryDevice(MemoryMedium& medium) : medium_(&medium) {}
    Result<void> append(std::span<const std::byte> bytes) override {
        pending_.insert(pending_.end(), bytes.begin(), bytes.end());
        return {};
    }
    Result<void> sync() override {
        medium_->durable.insert(medium_->durable.end(), pending_.begin(), pending_.end());
        pending_.clear();
        return {};
    }
    Result<std::vector<std::byte>> durable_bytes() override { return medium_->durable; }
    Result<void> truncate_durable(std::uint64_t bytes) override {
        if (bytes > medium_->durable.size())
            return Error{Errc::out_of_range, 0, "the device is shorter"};
        medium_->durable.resize(static_cast<std::size_t>(bytes));
        return {};
    }
    /// What is left of the pending bytes: their first half.
    void crash() {
        pending_.resize(pending_.size() / 2);
        static_cast<void>(MemoryDevice::sync());
    }

  protected:
    [[nodiscard]] MemoryMedium& medium() noexcept { return *medium_; }
    [[nodiscard]] std::vector<std::byte>& pending() noexcept { return pending_; }

  private:
    MemoryMedium* medium_;
    std::vector<std::byte> pending_{};
};

/// Made is MemoryDevice or derived from it.
template <class Made>
class MemoryDevicePlace final : public DevicePlace {
  public:
    Result<std::unique_ptr<wal::Device>> open() override {
        auto device = std::make_unique<Made>(medium_);
        device_ = device.get();
        return std::unique_ptr<wal::Device>(std::move(device));
    }
    void end(std::unique_ptr<wal::Device> device, End how) override {
        if (how == End::crashed) {
            device_->crash();
        } else {
            static_cast<void>(device_->sync());
        }
        device.reset();
    }
    [[nodiscard]] bool models_crashes() const override { return true; }

  private:
    MemoryMedium medium_{};
    MemoryDevice* device_ = nullptr; // that is open
};

} // namespace promtact::wal_testing
