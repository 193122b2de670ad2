// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The disk model as a storage: requests in flight that a script, a seed or virtual time completes.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <promtact/base/choice.hpp>
#include <promtact/base/disk_model.hpp>
#include <promtact/base/storage.hpp>

namespace promtact::disk {

namespace detail {

inline constexpr std::uint32_t file_numbers_max = 4096;
inline constexpr std::uint64_t size_max = std::uint64_t{1} << 62;

inline bool has_data(IoKind kind) noexcept {
    return kind == IoKind::read || kind == IoKind::write;
}

inline bool is_component(std::string_view name) noexcept {
    return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
           name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

inline bool
names_are_valid(IoKind kind, std::string_view name, std::string_view new_name) noexcept {
    const bool named = kind == IoKind::create || kind == IoKind::open || kind == IoKind::unlink ||
                       kind == IoKind::rename;
    return !named || (is_component(name) && (kind != IoKind::rename || is_component(new_name)));
}

} // namespace detail

struct ModelStorageOptions {
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
class ModelStorage final : public Storage {
  public:
    using Order = ModelStorageOptions::Order;

    /// Starts from an image: empty, or what a crash of another storage left.
    /// Lifetime: pool outlives the storage and its images.
    ModelStorage(Pool& pool, const Image& start, const ModelStorageOptions& options);

    [[nodiscard]] StorageLimits limits() const override { return options_.limits; }
    [[nodiscard]] bool submit(const IoOp& op) override;
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override;
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) override;

    [[nodiscard]] DiskModel& model() noexcept { return model_; }
    [[nodiscard]] const DiskModel& model() const noexcept { return model_; }
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

    /// Answers one request in flight as if it had been carried out, and does nothing: what a disk
    /// does that lies. Requires: index < in_flight()
    void complete_without_effect(std::size_t index, std::int64_t result);
    /// Stored bits change, see DiskModel::decay().
    void decay(std::uint32_t inode, std::uint64_t index, std::uint32_t bit) {
        model_.decay(inode, index, bit);
    }

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
        Ticket ticket = 0;
        DiskModel::Sync sync{};
        std::int64_t refused = 0; // an errno found at submission
    };
    static constexpr std::uint32_t npos = DiskModel::npos;

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

    ModelStorageOptions options_;
    DiskModel model_;
    std::vector<std::uint32_t> files_{}; // inode by file number
    std::vector<Flight> flight_{};
    std::vector<IoDone> ready_{};
    Observer observer_{};
    std::vector<TraceEvent> trace_{};
    std::uint64_t choices_ = 0;
    bool recording_ = false;
};

inline ModelStorage::ModelStorage(
    Pool& pool, const Image& start, const ModelStorageOptions& options)
    : options_(options), model_(pool, start) {
    PROMTACT_ASSERT(options.limits.depth >= 1);
    PROMTACT_ASSERT(options.limits.atomic_bytes >= pool.atom_bytes());
}

inline std::uint32_t ModelStorage::inode(std::uint32_t file) const noexcept {
    return file < files_.size() ? files_[file] : npos;
}

inline std::uint64_t ModelStorage::bytes_used() const noexcept {
    std::uint64_t sum = 0;
    for (const Image::Link& link : model_.issued().links)
        sum += model_.issued().files[link.inode].size;
    return sum;
}

inline void ModelStorage::note(Moment moment, const Request& request) {
    if (recording_) trace_.push_back({moment, request});
    if (observer_) observer_(moment, request);
}

inline bool ModelStorage::submit(const IoOp& op) {
    if (flight_.size() + ready_.size() >= options_.limits.depth) return false;
    Flight flight{
        .request =
            {.id = op.id,
             .kind = op.kind,
             .file = op.file,
             .offset = op.offset,
             .bytes = op.data.size(),
             .name = std::string(op.name),
             .new_name = std::string(op.new_name)},
        .data = op.data};
    issue(flight);
    flight_.push_back(std::move(flight));
    note(Moment::submitted, flight_.back().request);
    return true;
}

inline void ModelStorage::issue(Flight& flight) {
    const Request& request = flight.request;
    for (const Flight& other : flight_)
        if (other.request.id == request.id) flight.refused = EINVAL;
    if (detail::has_data(request.kind)) {
        const auto address = reinterpret_cast<std::uintptr_t>(flight.data.data());
        if (request.offset % options_.limits.align_offset != 0 ||
            request.bytes % options_.limits.align_offset != 0 ||
            address % options_.limits.align_memory != 0) {
            flight.refused = EINVAL;
        }
    }
    if (request.file >= detail::file_numbers_max || request.offset > detail::size_max)
        flight.refused = EINVAL;
    if (!detail::names_are_valid(request.kind, request.name, request.new_name))
        flight.refused = EINVAL;
    if (flight.refused != 0) return;
    switch (request.kind) {
    case IoKind::read:
    case IoKind::write:
    case IoKind::sync_data:
    case IoKind::sync_all:
    case IoKind::allocate:
    case IoKind::truncate:
        return issue_content(flight);
    case IoKind::create:
    case IoKind::rename:
    case IoKind::unlink:
        return issue_name(flight);
    case IoKind::sync_dir:
        flight.sync = model_.sync(npos);
        return;
    case IoKind::open:
    case IoKind::list:
        return;
    }
    PROMTACT_UNREACHABLE();
}

inline void ModelStorage::issue_content(Flight& flight) {
    const Request& request = flight.request;
    const std::uint32_t node = inode(request.file);
    if (node == npos) {
        flight.refused = EBADF;
        return;
    }
    const std::uint64_t size = model_.issued().files[node].size;
    std::uint64_t wanted = size;
    if (request.kind == IoKind::write) wanted = request.offset + request.bytes;
    if (request.kind == IoKind::allocate) wanted = request.offset;
    if (wanted > size && bytes_used() - size + wanted > options_.capacity_bytes) {
        flight.refused = ENOSPC;
        return;
    }
    if (request.kind == IoKind::write) {
        flight.ticket = model_.write(node, request.offset, flight.data);
    } else if (
        request.kind == IoKind::truncate ||
        (request.kind == IoKind::allocate && request.offset > size)) {
        flight.ticket = model_.resize(node, request.offset);
    } else if (request.kind == IoKind::sync_data || request.kind == IoKind::sync_all) {
        flight.sync = model_.sync(node);
    }
}

inline void ModelStorage::issue_name(Flight& flight) {
    const Request& request = flight.request;
    std::uint32_t node = model_.lookup(request.name);
    if (request.kind == IoKind::create) {
        if (node == npos) flight.ticket = model_.create(request.name, node);
        if (request.file >= files_.size()) files_.resize(request.file + 1, npos);
        files_[request.file] = node;
    } else if (node == npos) {
        flight.refused = ENOENT;
    } else if (request.kind == IoKind::rename) {
        flight.ticket = model_.rename(request.name, request.new_name);
    } else {
        flight.ticket = model_.unlink(request.name);
    }
}

inline std::int64_t ModelStorage::read(const Flight& flight) const {
    const FileImage& file = model_.completed().files[inode(flight.request.file)];
    const std::uint64_t at = flight.request.offset;
    if (at >= file.size) return 0;
    const std::size_t bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(flight.data.size(), file.size - at));
    const std::size_t unit = model_.pool().atom_bytes();
    std::size_t done = 0;
    while (done < bytes) {
        const std::size_t index = static_cast<std::size_t>((at + done) / unit);
        const std::size_t skip = static_cast<std::size_t>((at + done) % unit);
        const std::size_t piece = std::min(unit - skip, bytes - done);
        const auto atom = model_.pool().bytes(file.atom(index));
        std::memcpy(flight.data.data() + done, atom.data() + skip, piece);
        done += piece;
    }
    return static_cast<std::int64_t>(bytes);
}

inline std::int64_t ModelStorage::list(const Flight& flight) const {
    std::vector<std::string_view> names;
    for (const Image::Link& link : model_.completed().links)
        names.push_back(model_.pool().name(link.name));
    std::sort(names.begin(), names.end());
    std::size_t used = 0;
    for (std::size_t i = static_cast<std::size_t>(flight.request.offset); i < names.size(); ++i) {
        if (flight.data.size() - used < names[i].size() + 2) break;
        flight.data[used] = static_cast<std::byte>(DirectoryEntry::regular);
        std::memcpy(flight.data.data() + used + 1, names[i].data(), names[i].size());
        flight.data[used + 1 + names[i].size()] = std::byte{0};
        used += names[i].size() + 2;
    }
    return static_cast<std::int64_t>(used);
}

inline std::int64_t ModelStorage::perform(Flight& flight) {
    const Request& request = flight.request;
    if (flight.refused != 0) return -flight.refused;
    if (flight.ticket != 0) model_.complete(flight.ticket);
    switch (request.kind) {
    case IoKind::read:
        return read(flight);
    case IoKind::write:
        return static_cast<std::int64_t>(request.bytes);
    case IoKind::sync_data:
    case IoKind::sync_all:
    case IoKind::sync_dir:
        model_.complete(flight.sync, true);
        return 0;
    case IoKind::create:
        return static_cast<std::int64_t>(model_.completed().files[inode(request.file)].size);
    case IoKind::open: {
        const Image::Link* link = model_.completed().find(model_.pool().name(request.name));
        if (link == nullptr) return -ENOENT;
        if (request.file >= files_.size()) files_.resize(request.file + 1, npos);
        files_[request.file] = link->inode;
        return static_cast<std::int64_t>(model_.completed().files[link->inode].size);
    }
    case IoKind::list:
        return list(flight);
    case IoKind::rename:
    case IoKind::unlink:
    case IoKind::allocate:
    case IoKind::truncate:
        return 0;
    }
    PROMTACT_UNREACHABLE();
}

inline void ModelStorage::finish(std::size_t index, std::int64_t result) {
    const Request request = std::move(flight_[index].request);
    ready_.push_back({.id = request.id, .result = result});
    flight_.erase(flight_.begin() + static_cast<std::ptrdiff_t>(index));
    note(Moment::completed, request);
}

inline void ModelStorage::complete(std::size_t index) {
    PROMTACT_ASSERT(index < flight_.size());
    finish(index, perform(flight_[index]));
}

inline void
ModelStorage::complete_badly(std::size_t index, std::int64_t result, std::size_t atoms) {
    PROMTACT_ASSERT(index < flight_.size());
    Flight& flight = flight_[index];
    if (flight.ticket != 0) model_.complete_partly(flight.ticket, atoms);
    const bool sync = flight.request.kind == IoKind::sync_data ||
                      flight.request.kind == IoKind::sync_all ||
                      flight.request.kind == IoKind::sync_dir;
    if (sync) model_.complete(flight.sync, false);
    finish(index, result);
}

inline void ModelStorage::complete_without_effect(std::size_t index, std::int64_t result) {
    PROMTACT_ASSERT(index < flight_.size());
    if (flight_[index].ticket != 0) model_.complete_partly(flight_[index].ticket, 0);
    finish(index, result);
}

inline std::size_t ModelStorage::poll(std::span<IoDone> done) {
    std::size_t budget = 0;
    if (options_.order == Order::fifo) budget = flight_.size();
    if (options_.order == Order::seeded && !flight_.empty()) budget = 1;
    for (; budget > 0; --budget) {
        std::size_t index = 0;
        if (options_.order == Order::seeded) {
            const ChoiceStream choose(options_.seed, Purpose::delay, 0);
            index = static_cast<std::size_t>(
                choose.below(ChoicePosition::index(choices_++), flight_.size()));
        }
        complete(index);
    }
    const std::size_t count = std::min(done.size(), ready_.size());
    std::copy_n(ready_.begin(), count, done.begin());
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

inline std::size_t ModelStorage::wait(std::span<IoDone> done, std::uint64_t) {
    return poll(done);
}

} // namespace promtact::disk
