// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Key-value stores whose synchronous puts the log is shown beside: RocksDB, LevelDB, SQLite. Each
// is loaded when its library is installed; nothing is linked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>

#include "bench/peer.hpp"

namespace promtact::harness::bench {

/// An open store, used by up to `threads` threads at a time, each by its own number.
class Store {
  public:
    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store() = default;
    /// Durable: on return
    virtual Result<void>
    put(std::uint32_t thread, std::uint64_t key, std::span<const std::byte> value) = 0;
};

struct StorePeer {
    std::string_view name{};
    std::string_view package{}; // of Debian, that holds its library
    std::string_view setting{}; // how it is told to be durable
    /// Of durable puts by 64 threads: the log's rate to the store's. 0: shown, not judged
    std::uint64_t ratio_ppm_min = 0;
    /// Makes a store in an empty directory and says which version it is.
    /// Errors: unsupported, naming the package; those of the store
    Result<std::unique_ptr<Store>> (*open)(
        const std::filesystem::path& directory, std::uint32_t threads, std::string& version);
};

std::span<const StorePeer> store_peers();

/// `threads` threads put `each` records of `bytes` bytes.
Result<RunFigures>
run_store(Store& store, std::uint32_t threads, std::uint64_t each, std::uint32_t bytes);

} // namespace promtact::harness::bench
