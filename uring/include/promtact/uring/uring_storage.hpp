// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A Storage over one io_uring: the device under the write-ahead log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/base/storage_directory.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/ring.hpp>

namespace promtact::uring {

struct UringStorageOptions {
    std::uint32_t depth = 64; // 1..4096
    std::uint32_t files = 16; // file numbers are below this, 1..1024; they are registered
    /// Memory that is registered: reads and writes inside it need no page lookup.
    /// Lifetime: outlives the storage
    std::span<std::byte> arena{};
    bool allow_unregistered = true; // go on without where locked memory is limited
    /// sync_data by fdatasync(2) of the calling thread, inside poll() or wait(), after everything
    /// submitted before reached the kernel. Faster than FSYNC through the ring, which wakes a
    /// worker; for a thread that has nothing else to do.
    bool inline_sync = false;
    bool event_fd = false; // offer event_fd()
    bool read_only = false;
    RingOptions ring{}; // entries is raised to depth
};

/// Files are opened for direct I/O: memory, offsets and lengths are multiples of 4096. Requests
/// reach the kernel with the next poll() or wait(), all at once. Names are dealt with inside
/// submit() by plain system calls, except sync_dir, which goes through the ring.
///
/// Owned and driven by the thread that opened it. When the ring breaks (an answer that cannot be
/// attributed), every request in flight and every later one is answered -EIO.
class UringStorage final : public Storage {
  public:
    /// Errors: those of StorageDirectory::open and Ring::open; unsupported (no direct I/O).
    static Result<std::unique_ptr<UringStorage>>
    open(const std::filesystem::path& directory, const UringStorageOptions& options);
    /// The same over a given ring. For tests.
    static Result<std::unique_ptr<UringStorage>>
    over(Ring ring, const std::filesystem::path& directory, const UringStorageOptions& options);

    /// Over a ring with a registered file table of options.files. open() is the usual way.
    UringStorage(
        StorageDirectory directory, Ring ring, const UringStorageOptions& options,
        UniqueFd event_fd, bool arena_registered);

    [[nodiscard]] StorageLimits limits() const override;
    [[nodiscard]] bool submit(const IoOp& op) override;
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override;
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) override;
    [[nodiscard]] int event_fd() const override { return event_fd_.get(); }

    [[nodiscard]] const RingSetup& ring_setup() const noexcept { return ring_.setup(); }
    [[nodiscard]] bool arena_registered() const noexcept { return arena_registered_; }
    [[nodiscard]] std::uint64_t system_calls() const noexcept {
        return ring_.system_calls() + other_calls_;
    }
    /// Why the ring cannot be trusted any more.
    [[nodiscard]] const std::optional<Error>& broken() const noexcept { return broken_; }

  private:
    [[nodiscard]] bool is_valid(const IoOp& op) const noexcept;
    [[nodiscard]] bool in_arena(std::span<const std::byte> data) const noexcept;
    void answer(std::uint64_t id, std::int64_t result);
    void start(const IoOp& op);
    void perform_name(const IoOp& op);
    void run_inline_syncs();
    void give_up(Error cause);
    std::size_t look(std::span<IoDone> done, std::uint64_t timeout_ns);
    std::size_t take_ready(std::span<IoDone> done);
    std::size_t take_finished(std::span<IoDone> done, std::size_t count);

    StorageDirectory directory_;
    UringStorageOptions options_;
    UniqueFd event_fd_;
    bool event_clear_ = false; // nothing has completed since it was cleared, as far as was seen
    bool started_ = false;     // a request since the last look
    bool arena_registered_;
    std::vector<std::uint64_t> in_ring_{}; // ids the ring owes an answer for
    std::vector<IoOp> inline_syncs_{};
    std::vector<IoDone> ready_{};
    std::vector<Finished> finished_;
    std::optional<Error> broken_{};
    std::uint64_t other_calls_ = 0;
    Ring ring_; // last: it ends before the files do
};

} // namespace promtact::uring
