// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The log beside fio: appends of every style, number of writers and size, each as a ratio to the
// disk's ceiling, with the limits it must keep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/wal/log.hpp>

#include "bench/peer.hpp"
#include "bench/report.hpp"
#include "bench/store_peer.hpp"
#include "bench/wal_recovery.hpp"
#include "bench/wal_run.hpp"

namespace promtact::harness::bench {

struct WalRow {
    WalJob job{};
    PeerLimits limits{};
    PeerComparison comparison{};
    WalRun last{}; // the last of ours
};

/// The log's blocked threads beside a store's.
struct StoreRow {
    const StorePeer* store = nullptr;
    std::string version{};
    std::uint32_t writers = 1;
    PeerLimits limits{};
    PeerComparison comparison{};
};

struct WalPlan {
    std::filesystem::path directory = "."; // files are made below it, and removed
    std::optional<wal::Engine> engine{};   // of the log with threads; default: the best
    std::optional<AppendStyle> only{};
    std::uint64_t pairs = 5;
    std::uint64_t scale = 100; // length of a run
    std::uint64_t seed = 0x4A2C;
    bool stores = true; // those that are installed
    std::function<void(const WalRow&)> after_row{};
    std::function<void(const StoreRow&)> after_store{};
};

struct WalComparison {
    wal::Engine engine = wal::Engine::inline_sync;
    std::vector<WalRow> rows{};
    std::vector<StoreRow> stores{};
    RecoveryFigures recovery{};
    std::vector<std::string> missing{}; // stores that could not be measured, and why
};

/// The jobs of a plan, the rows of the table.
std::vector<WalJob> wal_jobs(const WalPlan& plan);
/// Payload bytes of a record that a store is compared on.
constexpr std::uint32_t store_record_bytes = 100;

/// What a job must reach. A job with a minimum of 0 is shown, not judged.
PeerLimits limits_of(const WalJob& job) noexcept;

/// Errors: of the log, of fio; unsupported where there is no fio or no direct I/O
Result<WalComparison> compare_wal(const WalPlan& plan);

std::string wal_text(const WalComparison& comparison);
gates::GateRecord wal_record(
    const WalComparison& comparison, const std::string& fio_version,
    const Circumstances& circumstances);

} // namespace promtact::harness::bench
