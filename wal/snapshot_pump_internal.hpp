// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One request at a time on a Storage, and the rules for short and interrupted answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>

namespace promtact::wal {

/// Memory whose address and size suit the storage.
class PumpBuffer {
  public:
    /// At least `bytes` long, zeroed. Requires: alignment is a power of two
    PumpBuffer(std::size_t bytes, std::size_t alignment);
    PumpBuffer(PumpBuffer&&) noexcept = default;
    PumpBuffer& operator=(PumpBuffer&&) noexcept = default;
    ~PumpBuffer() = default;

    [[nodiscard]] std::span<std::byte> span() noexcept { return data_; }
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return owner_.capacity(); }

  private:
    std::vector<std::byte> owner_;
    std::span<std::byte> data_{};
};

/// Requires: nobody else uses the storage while a call runs. Every call waits for its answer, so
/// what it was given may be reused when it returns. A storage that never answers is a call that
/// never returns, as with pwrite(2).
class SnapshotPump {
  public:
    explicit SnapshotPump(Storage& storage) noexcept : storage_(&storage) {}

    [[nodiscard]] StorageLimits limits() const { return storage_->limits(); }

    struct Entry {
        std::string name{};
        bool regular = false; // with one link
    };
    /// The directory, in byte order of the names. Errors: format when the storage's answer is no
    /// list of entries.
    Result<std::vector<Entry>> list();
    /// Creates an empty file. Returns its size, which is 0 unless the name was there.
    Result<std::uint64_t> create(std::uint32_t file, std::string_view name);
    /// Opens what exists; returns the size.
    Result<std::uint64_t> open(std::uint32_t file, std::string_view name);
    /// Fills as much of data as the file has; returns how much.
    /// Requires: data.size() is a multiple of limits().align_offset
    Result<std::size_t> read(
        std::uint32_t file, std::uint64_t offset, std::span<std::byte> data, std::string_view name);
    /// Writes all of data. An interrupted or the first short write is written again from its start;
    /// the second short one is the error short_write.
    Result<void> write(
        std::uint32_t file, std::uint64_t offset, std::span<std::byte> data, std::string_view name);
    Result<void> truncate(std::uint32_t file, std::uint64_t bytes, std::string_view name);
    /// Never retried: after a failed sync the answer to a second one means nothing.
    Result<void> sync_data(std::uint32_t file, std::string_view name);
    Result<void> rename(std::string_view name, std::string_view new_name);
    Result<void> unlink(std::string_view name);
    Result<void> sync_dir();

  private:
    Result<std::int64_t> call(IoOp op);
    Result<void> simple(const IoOp& op, std::string_view what, std::string_view name);

    Storage* storage_;
    std::uint64_t next_id_ = 1;
};

} // namespace promtact::wal
