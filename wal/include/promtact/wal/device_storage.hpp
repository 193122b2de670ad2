// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A Storage over a Device of four calls: a directory of files as a journal of what was done to
// them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/device.hpp>

namespace promtact::wal {

/// Where the journal's fields are; all numbers are little-endian. Behind the header stand name, new
/// name and payload.
struct JournalLayout {
    static constexpr std::size_t magic = 0;          // "PMTJ"
    static constexpr std::size_t kind = 4;           // JournalKind
    static constexpr std::size_t name_bytes = 5;     // u8
    static constexpr std::size_t new_name_bytes = 6; // u8
    static constexpr std::size_t number = 8;         // u64, from 1 on without a gap
    static constexpr std::size_t durable = 16;       // u64: journal bytes known to be durable
    static constexpr std::size_t inode = 24;         // u32
    static constexpr std::size_t bytes = 28;         // u32: payload, or zeros written
    static constexpr std::size_t offset = 32;        // u64: of the write, or the new size
    static constexpr std::size_t checksum = 40;      // CRC-32C of all but itself
    static constexpr std::size_t header_bytes = 44;
};
enum class JournalKind : std::uint8_t { write = 1, zeros, resize, create, rename, unlink };

/// Requests take effect when poll() or wait() is called, in the order they were submitted. Every
/// change is one append(), every sync one sync(); reads are answered from memory, which holds all
/// files, though no zero page. A crash leaves a prefix of the changes, each whole.
///
/// The device keeps everything ever written to it: four calls cannot take anything out of its
/// middle. Every entry says how much in front of it was durable: damage there is an error, damage
/// behind is a torn tail and is cut.
///
/// After an append() or sync() failed, no_space apart, every change is answered with its errno.
class DeviceStorage final : public Storage {
  public:
    /// Reads the journal and cuts its torn tail. A device without content is an empty directory.
    /// Errors: corrupt, naming the byte (nothing is changed); those of the device.
    static Result<std::unique_ptr<DeviceStorage>>
    open(std::unique_ptr<Device> device, std::uint32_t depth = 64);

    /// Over a device whose journal was read. open() is the usual way.
    DeviceStorage(std::unique_ptr<Device> device, std::uint32_t depth);

    /// Gives the device back; what is in flight is dropped, every later request answered -EBADF.
    [[nodiscard]] std::unique_ptr<Device> release();

    /// Units: bytes of the journal, cut when it was opened
    [[nodiscard]] std::uint64_t cut_bytes() const noexcept { return cut_bytes_; }

    [[nodiscard]] StorageLimits limits() const override;
    [[nodiscard]] bool submit(const IoOp& op) override;
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override;
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) override;

  private:
    static constexpr std::size_t page_bytes = 4096;
    using Page = std::array<std::byte, page_bytes>;
    struct File {
        std::uint64_t size = 0;
        std::map<std::uint64_t, Page> pages{}; // by number; zero pages are left out
    };
    struct Entry {
        JournalKind kind = JournalKind::write;
        std::uint64_t number = 0;
        std::uint64_t durable = 0;
        std::uint32_t inode = 0;
        std::uint32_t bytes = 0;
        std::uint64_t offset = 0;
        std::string_view name{};
        std::string_view new_name{};
        std::span<const std::byte> payload{};
        std::size_t size = 0; // on the device
    };
    static constexpr std::uint32_t no_inode = 0;

    // device_journal.cpp
    static std::optional<Entry> parse(std::span<const std::byte> journal, std::size_t at);
    Result<void> replay();
    static Result<void> judge_tail(std::span<const std::byte> journal, std::size_t end);
    std::int64_t record(Entry entry);
    void apply(const Entry& entry);
    void write_pages(File& file, std::uint64_t offset, std::span<const std::byte> data);
    void zero_pages(File& file, std::uint64_t from, std::uint64_t to);
    void drop_link(std::uint32_t inode);

    // device_storage.cpp
    [[nodiscard]] std::int64_t perform(const IoOp& op);
    [[nodiscard]] std::int64_t open_file(const IoOp& op);
    [[nodiscard]] std::int64_t change_name(const IoOp& op);
    [[nodiscard]] std::int64_t change_content(const IoOp& op);
    [[nodiscard]] std::int64_t read(const IoOp& op) const;
    [[nodiscard]] std::int64_t list(const IoOp& op) const;
    [[nodiscard]] std::int64_t sync();
    [[nodiscard]] std::uint32_t inode_of(std::uint32_t file) const noexcept;
    void bind(std::uint32_t file, std::uint32_t inode);

    std::unique_ptr<Device> device_;
    std::uint32_t depth_;
    std::vector<IoOp> queue_{};
    std::map<std::string, std::uint32_t, std::less<>> names_{};
    std::map<std::uint32_t, File> files_{};   // by inode
    std::vector<std::uint32_t> open_files_{}; // inode by file number
    std::vector<std::byte> entry_{};          // being written
    std::uint32_t last_inode_ = 0;
    std::uint64_t last_number_ = 0;
    std::uint64_t journal_bytes_ = 0;
    std::uint64_t durable_bytes_ = 0;
    std::uint64_t cut_bytes_ = 0;
    int broken_errno_ = 0;
};

} // namespace promtact::wal
