// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Runs a workload on the log and, at every moment it could crash, recovers from every image that
// may be left: the trace-and-enumerate test of the log, with an oracle that knows what was
// promised.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <promtact/base/choice.hpp>
#include <promtact/base/crash_images.hpp>
#include <promtact/wal/log_core.hpp>
#include <promtact/wal/memory_storage.hpp>

namespace promtact::wal::testing {

struct Workload {
    std::string name{};
    std::uint64_t seed = 1;
    std::uint32_t atom_bytes = 4096;
    std::uint32_t steps = 40;
    std::uint32_t segment_blocks = 8;
    std::uint32_t frame_blocks = 3;
    std::uint32_t depth = 4;
    std::uint32_t syncs = 1;
    Layout layout = Layout::variable;
    bool recycle = true;
    bool compact = true;
    bool truncate = true;
    bool quiet = false; // let the log come to rest between bursts: watermarks
    bool close = false;
};

/// A mixed workload for a number: every feature is on in some.
Workload generated_workload(std::uint64_t number);

struct CrashTally {
    std::uint64_t moments = 0;  // at which a crash was tried
    std::uint64_t visited = 0;  // images, with repetitions
    std::uint64_t distinct = 0; // by content
    std::uint64_t torn = 0;     // of them, recovered with a torn tail
    std::uint64_t second = 0;   // images of a crash during or after recovery, distinct
    std::uint64_t refused = 0;
    std::uint64_t lost = 0;        // acknowledged records missing
    std::uint64_t wrong = 0;       // records never appended, or with other content
    std::uint64_t resurrected = 0; // records that recovery had dropped
    std::uint64_t records = 0;     // appended by the workload
    std::uint64_t rotations = 0;
    std::uint64_t recycled = 0;
    std::uint64_t released = 0;
    std::uint64_t rewritten = 0;
    std::string first_failure{};
    [[nodiscard]] std::uint64_t failures() const noexcept {
        return refused + lost + wrong + resurrected;
    }
    /// Every count is added; the first failure stays the first.
    CrashTally& operator+=(const CrashTally& other);
};

struct HarnessOptions {
    disk::CrashOptions crash{.random = 256};
    std::uint32_t depth_two_every = 64; // of the distinct images, 0: none
    std::uint64_t images_max = ~std::uint64_t{0};
    /// Wraps the storage the log is given, to break a promise below it. Default: none.
    std::function<std::unique_ptr<Storage>(Storage&)> decorate{};
};

class CrashHarness {
  public:
    CrashHarness(const Workload& workload, const HarnessOptions& options);

    const CrashTally& run();
    /// Content hashes of the images seen.
    [[nodiscard]] const std::unordered_set<std::uint64_t>& hashes() const noexcept { return seen_; }

  private:
    /// What the log was told, by LSN from 1. Empty optional: a truncation.
    struct Given {
        std::vector<std::byte> payload{};
        bool truncation = false;
        Lsn keep = 0;
    };
    /// One incarnation of the log: the first run, or one after a crash.
    struct Promise {
        std::vector<Given> given{}; // [lsn - 1]
        Lsn acknowledged = 0;
        Lsn released = 1;
    };
    struct Found {
        Lsn end = 1;
        Lsn first_live = 1;
        bool torn = false;
    };

    [[nodiscard]] LogOptions log_options(std::uint64_t entropy) const;
    [[nodiscard]] MemoryStorageOptions storage_options(MemoryStorageOptions::Order order) const;
    void step();
    void append(Lsn count);
    Given make_given(Lsn lsn, std::uint64_t incarnation) const;
    void crash_everywhere();
    void check(const disk::Image& image, std::uint64_t hash);
    bool check_scan(const disk::Image& image, const Promise& promise, Found& found);
    void reopen(const disk::Image& image, const Found& found, bool enumerate);
    void complain(std::uint64_t& counter, const std::string& what);
    std::uint64_t choose(std::uint64_t below);

    Workload workload_;
    HarnessOptions options_;
    disk::Pool pool_;
    std::unique_ptr<MemoryStorage> storage_{};
    std::unique_ptr<Storage> decorated_{};
    std::vector<std::byte> arena_{};
    std::vector<std::byte> second_arena_{};
    std::unique_ptr<LogCore> log_{};
    Promise promise_{};
    CrashTally tally_{};
    disk::ImageHasher hasher_{};
    std::unordered_set<std::uint64_t> seen_{};
    std::unordered_map<std::uint64_t, Found> found_{};
    std::unordered_set<std::uint64_t> second_seen_{};
    std::uint64_t now_ns_ = 0;
    std::uint64_t choices_ = 0;
    struct Moment {
        std::uint64_t syncs = 0;
        Lsn acknowledged = 0;
        std::vector<std::uint64_t> pending{}; // tickets
    };
    Moment last_{};
    bool checking_ = false;
};

} // namespace promtact::wal::testing
