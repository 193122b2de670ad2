// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include <promtact/engine/engine.hpp>
#include <promtact/engine/plan.hpp>
#include <promtact/engine/sim_disk.hpp>

namespace promtact::engine {
namespace {

constexpr std::uint32_t file_number = 1;
using Blocks = std::vector<std::byte>;

Blocks filled(std::size_t bytes, unsigned char value) {
    return Blocks(bytes, static_cast<std::byte>(value));
}

/// A disk with one file, and what a program does on it.
class Bench {
  public:
    explicit Bench(std::uint64_t seed = 1, std::uint64_t max_delay = 0)
        : disk_(pool_, {.seed = seed, .node = NodeId(1), .max_delay = max_delay}) {
        run({.kind = IoKind::create, .file = file_number, .name = "file"});
        run({.kind = IoKind::sync_dir});
    }
    SimDisk& disk() { return disk_; }
    /// Submits and lets time go on until it ended.
    std::int64_t run(IoOp op) {
        op.id = ++ids_;
        EXPECT_TRUE(disk_.submit(op));
        for (std::array<IoDone, 1> done{};;) {
            if (disk_.poll(done) > 0) return done[0].result;
            disk_.advance(now_ = now_ + 1);
        }
    }
    std::int64_t write(std::uint64_t offset, unsigned char value, std::size_t bytes = 4096) {
        Blocks data = filled(bytes, value);
        return run({.kind = IoKind::write, .file = file_number, .offset = offset, .data = data});
    }
    std::int64_t sync() { return run({.kind = IoKind::sync_data, .file = file_number}); }
    /// The first byte at an offset; nothing when it cannot be read or is not there.
    std::optional<unsigned> read(std::uint64_t offset) {
        Blocks data(512);
        const std::int64_t got =
            run({.kind = IoKind::read, .file = file_number, .offset = offset, .data = data});
        if (got <= 0) return std::nullopt;
        return std::to_integer<unsigned>(data[0]);
    }
    void crash() {
        disk_.crash();
        run({.kind = IoKind::open, .file = file_number, .name = "file"});
    }
    [[nodiscard]] Step now() const { return now_; }

  private:
    disk::Pool pool_{512};
    SimDisk disk_;
    Step now_{};
    std::uint64_t ids_ = 0;
};

DiskParams always(DiskFault fault) {
    return {.fault = fault, .probability = Ppm(Ppm::one)};
}

TEST(SimDisk, WhatIsSyncedOutlastsACrashAndTheRestMayGo) {
    bool lost = false;
    bool kept = false;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Bench bench(seed);
        EXPECT_EQ(bench.write(0, 7), 4096);
        EXPECT_EQ(bench.sync(), 0);
        EXPECT_EQ(bench.write(4096, 8), 4096);
        bench.crash();
        EXPECT_EQ(bench.read(0), 7U);
        (bench.read(4096) == 8U ? kept : lost) = true;
    }
    EXPECT_TRUE(lost);
    EXPECT_TRUE(kept);
}

TEST(SimDisk, RequestsEndInAnOrderOfTheirOwnButTheSameForASeed) {
    const auto order = [](std::uint64_t seed) {
        Bench bench(seed, 5);
        std::vector<Blocks> data(8, filled(512, 1));
        for (std::uint64_t id = 0; id < 8; ++id) {
            EXPECT_TRUE(bench.disk().submit(
                {.id = 100 + id,
                 .kind = IoKind::write,
                 .file = file_number,
                 .offset = 512 * id,
                 .data = data[static_cast<std::size_t>(id)]}));
        }
        std::vector<std::uint64_t> ids;
        for (Step now = bench.now(); ids.size() < 8; now = now + 1) {
            bench.disk().advance(now);
            for (std::array<IoDone, 1> done{}; bench.disk().poll(done) > 0;)
                ids.push_back(done[0].id);
        }
        return ids;
    };
    EXPECT_EQ(order(1), order(1));
    EXPECT_NE(order(1), order(2));
    EXPECT_FALSE(std::is_sorted(order(1).begin(), order(1).end()));
}

TEST(SimDisk, OnlyATornFaultSplitsAWrite) {
    // Eight atoms of 512 bytes, not synced.
    const auto atoms_kept = [](std::uint64_t seed, bool torn) {
        Bench bench(seed);
        if (torn) bench.disk().begin(3, always(DiskFault::torn));
        bench.write(0, 1);
        bench.sync();
        bench.write(0, 2);
        bench.crash();
        int kept = 0;
        for (std::uint64_t at = 0; at < 4096; at += 512)
            kept += bench.read(at) == 2U ? 1 : 0;
        return std::pair(kept, bench.disk().fired(3));
    };
    bool split = false;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const int whole = atoms_kept(seed, false).first;
        EXPECT_TRUE(whole == 0 || whole == 8) << whole;
        const auto [part, fired] = atoms_kept(seed, true);
        split = split || (part > 0 && part < 8 && fired == 1);
    }
    EXPECT_TRUE(split);
}

TEST(SimDisk, EioEndsRequestsAndNothingHappened) {
    Bench bench;
    bench.write(0, 1);
    bench.disk().begin(4, always(DiskFault::eio));
    EXPECT_EQ(bench.write(0, 2), -EIO);
    EXPECT_EQ(bench.sync(), -EIO);
    bench.disk().end(4);
    EXPECT_EQ(bench.read(0), 1U);
    EXPECT_EQ(bench.disk().fired(4), 2U);
}

TEST(SimDisk, ALostWriteIsAcknowledgedAndNotThere) {
    Bench bench;
    bench.write(0, 1);
    bench.disk().begin(4, always(DiskFault::lost));
    EXPECT_EQ(bench.write(0, 2), 4096);
    bench.disk().end(4);
    EXPECT_EQ(bench.read(0), 1U);
}

TEST(SimDisk, ALostSyncIsAcknowledgedAndKeepsNothing) {
    bool lost = false;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Bench bench(seed);
        bench.write(0, 1);
        bench.sync();
        bench.write(0, 2);
        bench.disk().begin(4, always(DiskFault::lost));
        EXPECT_EQ(bench.sync(), 0);
        bench.disk().end(4);
        bench.crash();
        lost = lost || bench.read(0) == 1U;
    }
    EXPECT_TRUE(lost);
}

TEST(SimDisk, AMisdirectedWriteLandsElsewhere) {
    Bench bench;
    bench.write(0, 1, 16384);
    bench.disk().begin(4, always(DiskFault::misdirected));
    EXPECT_EQ(bench.write(8192, 2), 4096);
    bench.disk().end(4);
    EXPECT_EQ(bench.read(8192), 1U);
    EXPECT_EQ(bench.read(4096), 2U);
    EXPECT_EQ(bench.disk().fired(4), 1U);
}

TEST(SimDisk, ALatentBlockCannotBeReadUntilItIsWritten) {
    Bench bench;
    bench.write(0, 1, 8192);
    bench.disk().begin(4, always(DiskFault::latent));
    EXPECT_EQ(bench.read(0), std::nullopt);
    EXPECT_EQ(bench.read(0), std::nullopt);
    EXPECT_EQ(bench.write(0, 3), 4096);
    EXPECT_EQ(bench.read(0), 3U);
    EXPECT_EQ(bench.read(4096), std::nullopt) << "the other block is bad still";
}

TEST(SimDisk, RotChangesWhatIsStored) {
    Bench bench;
    bench.write(0, 0, 512);
    bench.sync();
    bench.disk().begin(4, always(DiskFault::bitrot));
    EXPECT_EQ(bench.disk().fired(4), 1U);
    Blocks data(512);
    bench.run({.kind = IoKind::read, .file = file_number, .data = data});
    EXPECT_EQ(std::count(data.begin(), data.end(), std::byte{0}), 511);
    bench.crash();
    bench.run({.kind = IoKind::read, .file = file_number, .data = data});
    EXPECT_EQ(std::count(data.begin(), data.end(), std::byte{0}), 511) << "it stays";
}

TEST(SimDisk, ASlowDiskTakesItsTime) {
    Bench bench;
    DiskParams params = always(DiskFault::slow);
    params.delay = {.unit = FaultDuration::Unit::steps, .count = 9};
    bench.disk().begin(4, params);
    const Step before = bench.now();
    bench.write(0, 1);
    EXPECT_EQ(bench.now() - before, 9U);
}

TEST(SimDisk, AFullDiskTakesWhatFitsAndNoMore) {
    Bench bench;
    bench.write(0, 1);
    DiskParams params{.fault = DiskFault::full};
    params.capacity = Bytes{4096};
    bench.disk().begin(4, params);
    EXPECT_EQ(bench.write(4096, 2), 4096);
    EXPECT_EQ(bench.write(8192, 3), -ENOSPC);
    EXPECT_EQ(bench.write(0, 4), 4096) << "what is there can be overwritten";
    bench.disk().end(4);
    EXPECT_EQ(bench.write(8192, 3), 4096);
    EXPECT_EQ(bench.disk().fired(4), 1U);
}

// --- in a run ---

/// Node 1 counts on its disk and tells node 2 what it counted to: only after a sync, or too early.
class Counter {
  public:
    struct Message {
        NodeId from{}, to{};
        std::uint64_t count = 0;
    };

    Counter(std::uint64_t seed, bool too_early) : too_early_(too_early) {
        for (std::uint32_t id = 1; id <= 2; ++id) {
            disks_.push_back(std::make_unique<SimDisk>(
                pool_, SimDiskOptions{.seed = seed, .node = NodeId(id), .max_delay = 3}));
        }
        open();
    }
    [[nodiscard]] std::span<const NodeId> nodes() const { return ids_; }
    void tick(NodeId node) {
        if (node != NodeId(1)) return;
        for (std::array<IoDone, 4> done{};;) {
            const std::size_t count = disk(node).poll(done);
            if (count == 0) break;
            for (std::size_t i = 0; i < count; ++i)
                ended(done[i]);
        }
        if (idle_) next();
    }
    void deliver(NodeId, const Message& message) { promised = std::max(promised, message.count); }
    void drain(NodeId node, Outbox<Message>& outbox) {
        if (node != NodeId(1)) return;
        for (const Message& message : out_)
            outbox.send(message);
        out_.clear();
    }
    [[nodiscard]] Route route(const Message& message) const { return {message.from, message.to}; }
    [[nodiscard]] Digest128 digest(const Message& message) const { return {0, message.count}; }
    SimDisk& disk(NodeId node) { return *disks_[node.value() - 1]; }
    void crash(NodeId node) {
        if (node == NodeId(1)) out_.clear();
    }
    void restart(NodeId node) {
        if (node == NodeId(1)) open();
    }

    std::uint64_t promised = 0;  // what node 2 heard
    std::uint64_t recovered = 0; // what node 1 found on its disk last
    std::uint64_t failures = 0;

  private:
    enum : std::uint64_t { opening = 1, naming, reading, writing, syncing };
    void open() {
        count_ = 0;
        idle_ = false;
        submit({.id = opening, .kind = IoKind::create, .file = 1, .name = "count"});
    }
    void submit(const IoOp& op) { EXPECT_TRUE(disk(NodeId(1)).submit(op)); }
    void ended(const IoDone& done) {
        if (done.result < 0) {
            ++failures;
            idle_ = true;
            return;
        }
        switch (done.id) {
        case opening:
            return submit({.id = naming, .kind = IoKind::sync_dir});
        case naming:
            return submit({.id = reading, .kind = IoKind::read, .file = 1, .data = block_});
        case reading:
            count_ = done.result == 0 ? 0 : std::to_integer<std::uint64_t>(block_[0]);
            recovered = count_;
            idle_ = true;
            return;
        case writing:
            if (too_early_) tell();
            return submit({.id = syncing, .kind = IoKind::sync_all, .file = 1});
        default:
            if (!too_early_) tell();
            idle_ = true;
        }
    }
    void next() {
        idle_ = false;
        block_[0] = static_cast<std::byte>(++count_);
        submit({.id = writing, .kind = IoKind::write, .file = 1, .data = block_});
    }
    void tell() { out_.push_back({NodeId(1), NodeId(2), count_}); }

    bool too_early_;
    std::vector<NodeId> ids_{NodeId(1), NodeId(2)};
    disk::Pool pool_{512};
    std::vector<std::unique_ptr<SimDisk>> disks_{};
    std::vector<std::byte> block_ = std::vector<std::byte>(512);
    std::vector<Message> out_{};
    std::uint64_t count_ = 0;
    bool idle_ = false;
};

/// Whether what node 2 heard before a crash is on the disk of node 1 after it.
bool promise_is_kept(std::uint64_t seed, bool too_early) {
    Counter cluster(seed, too_early);
    RunConfig config{.seed = seed};
    config.faults = {
        {.kind = FaultKind::crash, .start = Step(60), .end = Step(70), .a = {NodeId(1)}}};
    Engine<Counter> engine(cluster, config);
    EXPECT_TRUE(engine.run(69));
    const std::uint64_t promised = cluster.promised;
    EXPECT_GT(promised, 3U);
    cluster.recovered = 0;
    EXPECT_TRUE(engine.run(40));
    return cluster.recovered >= promised;
}

// W48: a crash loses what was not synced, so a promise before the sync is found out.
TEST(SimDisk, W48APromiseBeforeTheSyncIsFoundOut) {
    bool broken = false;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        EXPECT_TRUE(promise_is_kept(seed, false)) << seed;
        broken = broken || !promise_is_kept(seed, true);
    }
    EXPECT_TRUE(broken);
}

// W49: disk faults are faults of a run's plan, with counts like all others.
TEST(SimDisk, W49DiskFaultsArePartOfThePlan) {
    Counter cluster(3, false);
    RunConfig config{.seed = 3};
    config.faults = {
        {.kind = FaultKind::disk,
         .start = Step(10),
         .end = Step(40),
         .a = {NodeId(1)},
         .params = DiskParams{.fault = DiskFault::eio, .probability = Ppm(200'000)}},
        {.kind = FaultKind::disk,
         .start = Step(50),
         .a = {NodeId(2)},
         .params = always(DiskFault::eio)}};
    Engine<Counter> engine(cluster, config);
    engine.run(100);
    EXPECT_FALSE(engine.stop()) << engine.stop()->text;
    EXPECT_GT(cluster.failures, 0U);
    EXPECT_EQ(engine.fault_counts()[0], cluster.failures);
    EXPECT_EQ(engine.fault_counts()[1], 0U) << "node 2 uses no disk";
    EXPECT_TRUE(abilities_of<Counter>().disk);
}

} // namespace
} // namespace promtact::engine
