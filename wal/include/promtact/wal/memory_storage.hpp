// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A Storage in memory over the disk model: it completes requests in the order the caller scripts or
// a seed chooses, and knows every image a crash may leave. Owned and driven by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <promtact/base/disk_model.hpp>
#include <promtact/base/storage.hpp>

namespace promtact::wal {

struct MemoryStorageOptions {
    StorageLimits limits{
        .align_memory = 1, .align_offset = 512, .atomic_bytes = 4096, .depth = 32, .direct = true};
    enum class Order : std::uint8_t {
        fifo,     // poll() completes everything in the order it was submitted
        seeded,   // poll() completes some, in an order the seed chooses
        scripted, // poll() completes nothing by itself; see complete()
    };
    Order order = Order::fifo;
    std::uint64_t seed = 0;
    std::uint64_t capacity_bytes = ~std::uint64_t{0}; // sum of file sizes; above it -ENOSPC
};

/// One directory of files in memory, over the disk model.
class MemoryStorage final : public Storage {
  public:
    using Order = MemoryStorageOptions::Order;

    /// Starts from an image: empty, or what a crash of another storage left.
    /// Lifetime: pool outlives the storage and its images.
    MemoryStorage(disk::Pool& pool, const disk::Image& start, const MemoryStorageOptions& options);

    [[nodiscard]] StorageLimits limits() const override { return options_.limits; }
    [[nodiscard]] bool submit(const IoOp& op) override;
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override;
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) override;

    [[nodiscard]] disk::DiskModel& model() noexcept { return model_; }
    [[nodiscard]] const disk::DiskModel& model() const noexcept { return model_; }
    void set_capacity(std::uint64_t bytes) noexcept { options_.capacity_bytes = bytes; }

    /// A request as it was submitted, for traces and scripts.
    struct Request {
        std::uint64_t id = 0;
        IoKind kind = IoKind::read;
        std::uint32_t file = 0;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        std::string name{};
        std::string new_name{};
    };
    [[nodiscard]] std::size_t in_flight() const noexcept { return flight_.size(); }
    /// Requires: index < in_flight(); in order of submission
    [[nodiscard]] const Request& request(std::size_t index) const { return flight_[index].request; }
    /// Carries out one request in flight; its answer is what poll() returns next.
    /// Requires: index < in_flight()
    void complete(std::size_t index);
    /// Answers one request in flight with `result` instead. Of its effects the first `atoms` atoms
    /// happen (writes), none (others). Requires: index < in_flight(), result < 0 or a short count
    void complete_badly(std::size_t index, std::int64_t result, std::size_t atoms);

    enum class Moment : std::uint8_t { submitted, completed };
    /// Called after every request was submitted and after every one took effect: each is a moment
    /// at which the machine may crash.
    using Observer = std::function<void(Moment, const Request&)>;
    void observe(Observer observer) { observer_ = std::move(observer); }

    /// Everything that happened, when switched on.
    struct TraceEvent {
        Moment moment = Moment::submitted;
        Request request{};
    };
    void record_trace(bool on) noexcept { recording_ = on; }
    [[nodiscard]] const std::vector<TraceEvent>& trace() const noexcept { return trace_; }

  private:
    struct Flight {
        Request request{};
        std::span<std::byte> data{};
        disk::Ticket ticket = 0;
        disk::DiskModel::Sync sync{};
        std::int64_t refused = 0; // an errno found at submission
    };
    static constexpr std::uint32_t npos = disk::DiskModel::npos;

    void issue(Flight& flight);
    void issue_content(Flight& flight);
    void issue_name(Flight& flight);
    [[nodiscard]] std::int64_t perform(Flight& flight);
    [[nodiscard]] std::int64_t read(const Flight& flight) const;
    [[nodiscard]] std::int64_t list(const Flight& flight) const;
    [[nodiscard]] std::uint32_t inode(std::uint32_t file) const noexcept;
    [[nodiscard]] std::uint64_t bytes_used() const noexcept;
    void finish(std::size_t index, std::int64_t result);
    void note(Moment moment, const Request& request);

    MemoryStorageOptions options_;
    disk::DiskModel model_;
    std::vector<std::uint32_t> files_{}; // inode by file number
    std::vector<Flight> flight_{};
    std::vector<IoDone> ready_{};
    Observer observer_{};
    std::vector<TraceEvent> trace_{};
    std::uint64_t choices_ = 0;
    bool recording_ = false;
};

} // namespace promtact::wal
