// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Test helpers: a storage in memory whose answers a test can replace, and images made in one line.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/snapshot_decoder.hpp>
#include <promtact/wal/snapshot_store.hpp>

namespace promtact::wal::test_support {

using Content = std::vector<std::byte>;

/// Bytes that differ by position and seed and do not compress.
inline Content noise(std::size_t bytes, std::uint64_t seed = 1) {
    Content out(bytes);
    std::uint64_t x = seed * 0x9E3779B97F4A7C15ULL + 1;
    for (std::byte& b : out) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        b = static_cast<std::byte>(x >> 56);
    }
    return out;
}

/// Files in memory; every answer can be replaced before it takes effect.
class MapStorage final : public Storage {
  public:
    /// Returns the result to answer instead of doing the request.
    using Fault = std::function<std::optional<std::int64_t>(const IoOp&)>;

    explicit MapStorage(StorageLimits limits = {}) : limits_(limits) {}

    std::map<std::string, std::shared_ptr<Content>> files{}; // shared with open file numbers
    Fault fault{};
    std::vector<std::string> journal{}; // "write 4096+8192", "rename a b", …
    std::set<std::string> irregular{};  // names that are no regular files
    std::size_t room = SIZE_MAX;        // bytes all files together may have

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (const auto& [name, content] : files)
            out.push_back(name);
        return out;
    }
    [[nodiscard]] StorageLimits limits() const override { return limits_; }
    [[nodiscard]] bool submit(const IoOp& op) override {
        if (done_) return false;
        note(op);
        std::optional<std::int64_t> faulty;
        if (fault) faulty = fault(op);
        done_ = IoDone{.id = op.id, .result = faulty ? *faulty : perform(op)};
        return true;
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        if (!done_ || done.empty()) return 0;
        done.front() = *done_;
        done_.reset();
        return 1;
    }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t) override {
        return poll(done);
    }
    /// What the request does when nothing is wrong.
    std::int64_t perform(const IoOp& op) {
        switch (op.kind) {
        case IoKind::create: {
            auto& file = files[std::string(op.name)];
            // Shared: an open number outlives the name.
            if (!file) file = std::make_shared<Content>();
            open_[op.file] = file;
            return static_cast<std::int64_t>(file->size());
        }
        case IoKind::open: {
            const auto found = files.find(std::string(op.name));
            if (found == files.end()) return -ENOENT;
            if (irregular.count(found->first) != 0) return -ELOOP;
            open_[op.file] = found->second;
            return static_cast<std::int64_t>(found->second->size());
        }
        case IoKind::list:
            return list(op);
        case IoKind::read: {
            const Content& file = *open_.at(op.file);
            if (op.offset >= file.size()) return 0;
            const auto count = std::min<std::size_t>(op.data.size(), file.size() - op.offset);
            std::memcpy(op.data.data(), file.data() + op.offset, count);
            return static_cast<std::int64_t>(count);
        }
        case IoKind::write:
            return write(*open_.at(op.file), op);
        case IoKind::truncate:
            open_.at(op.file)->resize(op.offset);
            return 0;
        case IoKind::rename: {
            const auto found = files.find(std::string(op.name));
            if (found == files.end()) return -ENOENT;
            files[std::string(op.new_name)] = found->second;
            files.erase(found);
            return 0;
        }
        case IoKind::unlink:
            return files.erase(std::string(op.name)) == 1 ? 0 : -ENOENT;
        case IoKind::sync_data:
        case IoKind::sync_all:
        case IoKind::sync_dir:
        case IoKind::allocate:
            return 0;
        }
        return -EINVAL;
    }

  private:
    std::int64_t list(const IoOp& op) const {
        std::string text;
        std::uint64_t skip = op.offset;
        for (const auto& [name, content] : files) {
            if (skip > 0) {
                --skip;
                continue;
            }
            if (text.size() + name.size() + 2 > op.data.size()) break;
            text += irregular.count(name) != 0 ? DirectoryEntry::other : DirectoryEntry::regular;
            text += name + '\0';
        }
        std::memcpy(op.data.data(), text.data(), text.size());
        return static_cast<std::int64_t>(text.size());
    }
    std::int64_t write(Content& file, const IoOp& op) {
        if (op.offset % limits_.align_offset != 0) return -EINVAL;
        if (op.data.size() % limits_.align_offset != 0) return -EINVAL;
        if (reinterpret_cast<std::uintptr_t>(op.data.data()) % limits_.align_memory != 0)
            return -EINVAL;
        const std::size_t end = op.offset + op.data.size();
        std::size_t used = 0;
        for (const auto& [name, content] : files)
            used += content->size();
        if (end > file.size() && used + (end - file.size()) > room) return -ENOSPC;
        if (end > file.size()) file.resize(end);
        std::memcpy(file.data() + op.offset, op.data.data(), op.data.size());
        return static_cast<std::int64_t>(op.data.size());
    }
    void note(const IoOp& op) {
        std::string line(to_string(op.kind));
        if (op.kind == IoKind::write || op.kind == IoKind::read)
            line += " " + std::to_string(op.offset) + "+" + std::to_string(op.data.size());
        if (!op.name.empty()) line += " " + std::string(op.name);
        if (!op.new_name.empty()) line += " " + std::string(op.new_name);
        journal.push_back(std::move(line));
    }

    StorageLimits limits_;
    std::map<std::uint32_t, std::shared_ptr<Content>> open_{}; // shared with files
    std::optional<IoDone> done_{};
};

inline SnapshotInfo small_info(std::uint64_t index, std::uint32_t chunk_bytes = 4096) {
    SnapshotInfo info;
    info.index = index;
    info.term = 3;
    info.chunk_bytes = chunk_bytes;
    return info;
}

/// Opens the store on what the storage holds. Requires: it opens.
inline SnapshotStore open_store(MapStorage& storage, const SnapshotStoreOptions& options = {}) {
    auto store = SnapshotStore::open(storage, options);
    EXPECT_TRUE(store.has_value()) << describe(store.error());
    PROMTACT_ASSERT(store.has_value());
    return std::move(store).value();
}

/// Writes and commits one image; the error of the first step that failed.
inline Result<SnapshotCommit>
install(SnapshotStore& store, const SnapshotInfo& info, std::span<const std::byte> payload) {
    PROMTACT_TRY_ASSIGN(SnapshotWriter writer, store.write(info));
    PROMTACT_TRY(writer.append(payload));
    return writer.commit();
}

/// The whole payload of the newest image.
inline Result<Content> read_all(SnapshotStore& store) {
    PROMTACT_TRY_ASSIGN(SnapshotReader reader, store.read());
    Content out;
    for (;;) {
        PROMTACT_TRY_ASSIGN(const auto piece, reader.next());
        if (!piece) return out;
        out.insert(out.end(), piece->begin(), piece->end());
    }
}

} // namespace promtact::wal::test_support
