// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Crashes the store at every request of a run, keeps every combination of what was not durable, and
// asks what an opener finds. The same object code runs on the disk model as elsewhere; the negative
// controls swallow one durable step in the storage below it.
#include <cstdio>
#include <functional>
#include <set>

#include <gmock/gmock.h>

#include <promtact/base/crash_images.hpp>
#include <promtact/wal/memory_storage.hpp>

#include "snapshot_fixture_internal.hpp"

namespace promtact::wal {
namespace {

using namespace test_support;

/// Between the store and the disk model: carries out, fails or swallows each request.
class ScriptedDisk final : public Storage {
  public:
    enum class Fate : std::uint8_t {
        good,
        failed,    // -EIO; a sync then vouches for nothing it covered
        swallowed, // answered as if done
    };
    using Script = std::function<Fate(const IoOp&)>;

    explicit ScriptedDisk(MemoryStorage& disk, Script script = {})
        : disk_(&disk), script_(std::move(script)) {}

    [[nodiscard]] StorageLimits limits() const override { return disk_->limits(); }
    [[nodiscard]] bool submit(const IoOp& op) override {
        const Fate fate = script_ ? script_(op) : Fate::good;
        if (fate == Fate::swallowed) {
            swallowed_ = op.id;
            return true;
        }
        if (!disk_->submit(op)) return false;
        if (fate == Fate::failed) disk_->complete_badly(0, -EIO, 0);
        if (fate == Fate::good) disk_->complete(0);
        return true;
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        if (swallowed_ == 0) return disk_->poll(done);
        done.front() = {.id = swallowed_, .result = 0};
        swallowed_ = 0;
        return 1;
    }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t) override {
        return poll(done);
    }

  private:
    MemoryStorage* disk_;
    Script script_;
    std::uint64_t swallowed_ = 0;
};

ScriptedDisk::Script all_good() {
    return {};
}
/// Every request of the kind meets this fate.
ScriptedDisk::Script every(IoKind kind, ScriptedDisk::Fate fate) {
    return [=](const IoOp& op) { return op.kind == kind ? fate : ScriptedDisk::Fate::good; };
}

MemoryStorageOptions scripted(std::uint32_t atom) {
    MemoryStorageOptions options;
    options.limits = {.align_memory = 512, .align_offset = 512, .atomic_bytes = atom, .depth = 4};
    options.order = MemoryStorageOptions::Order::scripted;
    return options;
}

/// Two chunks, the second not full; differs by index.
Content payload_of(std::uint64_t index) {
    return noise(4096 + 200 + index, index);
}

SnapshotInfo info_of(std::uint64_t index) {
    SnapshotInfo info = small_info(index);
    info.payload_bytes = payload_of(index).size();
    info.image[0] = static_cast<std::byte>(index);
    return info;
}

/// What a run has promised so far.
struct Ledger {
    std::uint64_t acknowledged = 0; // index of the newest committed snapshot, 0 for none
    std::uint64_t attempted = 0;    // index of the newest that was begun
};

Result<void> install_index(Storage& disk, std::uint64_t index, Ledger& ledger) {
    PROMTACT_TRY_ASSIGN(SnapshotStore store, SnapshotStore::open(disk, {}));
    ledger.attempted = index;
    PROMTACT_TRY(install(store, info_of(index), payload_of(index)));
    ledger.acknowledged = index;
    return {};
}

/// What an opener finds: the index of the newest image, 0 for none. Everything must fit together.
Result<std::uint64_t> newest_index(Storage& disk) {
    PROMTACT_TRY_ASSIGN(SnapshotStore store, SnapshotStore::open(disk, {}));
    if (!store.verdict().newest) return std::uint64_t{0};
    const std::uint64_t index = store.verdict().newest->index;
    PROMTACT_TRY_ASSIGN(const Content payload, read_all(store));
    if (payload != payload_of(index)) return Error{Errc::corrupt, 0, "a mixture"};
    if (!store.verdict().passed_over.empty()) return store.verdict().passed_over[0].why;
    return index;
}

struct Tally {
    std::uint64_t moments = 0;
    std::uint64_t images = 0;    // distinct by content
    std::uint64_t nested = 0;    // images of a second crash
    std::uint64_t refused = 0;   // an image that only crashed does not open
    std::uint64_t lost = 0;      // an acknowledged snapshot is not there
    std::uint64_t phantom = 0;   // an index nobody wrote
    std::uint64_t went_back = 0; // a second crash takes away what the first opener was shown
    std::string first_fault{};

    void fault(std::uint64_t& counter, const std::string& what) {
        ++counter;
        if (first_fault.empty()) first_fault = what;
    }
};

using Scenario = std::function<void(MemoryStorage& disk, Ledger& ledger)>;

/// Crashes a run at every moment of every request.
class CrashSweep {
  public:
    CrashSweep(std::uint32_t atom, ScriptedDisk::Script opener)
        : pool_(atom), opener_(std::move(opener)) {
        options_.random = 1024;
        nested_.exhaustive_max = 8;
        nested_.random = 32;
        nested_.pairs_max = 0;
    }

    Tally sweep(const Scenario& run) {
        MemoryStorage disk(pool_, disk::Image{}, scripted(pool_.atom_bytes()));
        Ledger ledger;
        disk.observe([&](MemoryStorage::Moment, const MemoryStorage::Request& request) {
            ++tally_.moments;
            if (request.kind == IoKind::read || request.kind == IoKind::list) return;
            crash(disk.model(), ledger);
        });
        run(disk, ledger);
        crash(disk.model(), ledger);
        return tally_;
    }

  private:
    void crash(const disk::DiskModel& model, const Ledger& ledger) {
        disk::crash_images(model, options_, [&](const disk::Image& image) {
            // The oracle depends on the ledger, so equal images under another one are looked at
            // anew.
            auto digest = hash_(image, pool_);
            digest.low += ledger.acknowledged * 1000 + ledger.attempted;
            if (!seen_.insert(digest).second) return;
            ++tally_.images;
            const std::size_t mark = pool_.atoms();
            judge(image, ledger);
            pool_.rollback(mark);
        });
    }

    void judge(const disk::Image& image, const Ledger& ledger) {
        MemoryStorage after(pool_, image, scripted(pool_.atom_bytes()));
        ScriptedDisk disk(after, opener_);
        const auto found = newest_index(disk);
        if (!found) {
            tally_.fault(tally_.refused, found.error().context);
            return;
        }
        if (*found < ledger.acknowledged)
            tally_.fault(tally_.lost, "found " + std::to_string(*found));
        if (*found != ledger.acknowledged && *found != ledger.attempted)
            tally_.fault(tally_.phantom, "found " + std::to_string(*found));
        second_crash(after.model(), *found);
        go_on(image, *found);
    }

    /// Whatever the first opener was shown must survive a crash right after.
    void second_crash(const disk::DiskModel& model, std::uint64_t shown) {
        disk::crash_images(model, options_, [&](const disk::Image& image) {
            MemoryStorage again(pool_, image, scripted(pool_.atom_bytes()));
            ScriptedDisk disk(again);
            const auto found = newest_index(disk);
            if (!found || *found != shown) tally_.fault(tally_.went_back, "second crash");
        });
    }

    /// A recovered store installs and resumes like any other.
    void go_on(const disk::Image& image, std::uint64_t shown) {
        MemoryStorage after(pool_, image, scripted(pool_.atom_bytes()));
        ScriptedDisk disk(after);
        Ledger ledger;
        // With the small atoms every fiftieth image, by its number, is crashed a second time.
        const bool deep = pool_.atom_bytes() == 4096 || tally_.images % 50 == 0;
        after.observe([&](MemoryStorage::Moment moment, const MemoryStorage::Request& request) {
            if (moment == MemoryStorage::Moment::completed && deep &&
                request.kind != IoKind::read && request.kind != IoKind::list)
                crash_again(after.model(), shown, ledger);
        });
        const auto installed = install_index(disk, shown + 1, ledger);
        after.observe({});
        const auto found = newest_index(disk);
        if (!installed || !found || *found != shown + 1)
            tally_.fault(tally_.refused, installed ? "after recovery" : installed.error().context);
    }

    /// Depth two: the install after a recovery crashes as well.
    void crash_again(const disk::DiskModel& model, std::uint64_t shown, const Ledger& ledger) {
        const std::uint64_t promised = std::max(shown, ledger.acknowledged);
        disk::crash_images(model, nested_, [&](const disk::Image& image) {
            auto digest = hash_(image, pool_);
            digest.low += promised * 1000 + shown;
            if (!nested_seen_.insert(digest).second) return;
            ++tally_.nested;
            MemoryStorage again(pool_, image, scripted(pool_.atom_bytes()));
            ScriptedDisk disk(again);
            const auto found = newest_index(disk);
            if (!found) {
                tally_.fault(tally_.refused, "depth two: " + found.error().context);
            } else if (*found < promised || *found > shown + 1) {
                tally_.fault(tally_.lost, "depth two: " + std::to_string(*found));
            }
        });
    }

    disk::Pool pool_;
    ScriptedDisk::Script opener_;
    disk::CrashOptions options_{};
    disk::CrashOptions nested_{}; // of the second crash
    disk::ImageHasher hash_{};
    std::set<Digest128> seen_{};
    std::set<Digest128> nested_seen_{};
    Tally tally_{};
};

/// Four installs one after the other: first, second, then with pruning.
Scenario installs(const ScriptedDisk::Script& script, std::uint64_t count = 4) {
    return [=](MemoryStorage& memory, Ledger& ledger) {
        ScriptedDisk disk(memory, script);
        for (std::uint64_t index = 1; index <= count; ++index)
            if (!install_index(disk, index, ledger)) return;
    };
}

/// A receiver that is killed after one chunk, goes on in a new process, and commits.
void receive_interrupted(MemoryStorage& memory, Ledger& ledger) {
    ScriptedDisk disk(memory);
    ASSERT_TRUE(install_index(disk, 1, ledger));
    const Content payload = payload_of(2);
    ledger.attempted = 2;
    {
        SnapshotStore store = SnapshotStore::open(disk, {}).value();
        SnapshotWriter writer = store.resume(info_of(2)).value();
        ASSERT_TRUE(writer.append(std::span(payload).first(4100)));
    }
    SnapshotStore store = SnapshotStore::open(disk, {}).value();
    SnapshotWriter writer = store.resume(info_of(2)).value();
    ASSERT_EQ(writer.offset(), 4096U);
    ASSERT_TRUE(writer.append(std::span(payload).subspan(4096)));
    ASSERT_TRUE(writer.commit());
    ledger.acknowledged = 2;
}

/// A leftover of another image lies in the way.
void install_over_leftover(MemoryStorage& memory, Ledger& ledger) {
    ScriptedDisk disk(memory);
    ASSERT_TRUE(install_index(disk, 1, ledger));
    {
        SnapshotStore store = SnapshotStore::open(disk, {}).value();
        SnapshotWriter writer = store.write(info_of(9)).value();
        const Content payload = payload_of(9);
        ASSERT_TRUE(writer.append(std::span(payload).first(4096)));
    }
    ASSERT_TRUE(install_index(disk, 2, ledger));
}

/// The flush of an install fails; the process starts again and installs.
void install_after_failed_flush(MemoryStorage& memory, Ledger& ledger) {
    ScriptedDisk good(memory);
    ASSERT_TRUE(install_index(good, 1, ledger));
    ScriptedDisk bad(memory, every(IoKind::sync_data, ScriptedDisk::Fate::failed));
    ASSERT_FALSE(install_index(bad, 2, ledger));
    ASSERT_TRUE(install_index(good, 2, ledger));
}

/// The same for a receiver, which goes on with what the failed flush left in the page cache.
void receive_after_failed_flush(MemoryStorage& memory, Ledger& ledger) {
    ScriptedDisk good(memory);
    ASSERT_TRUE(install_index(good, 1, ledger));
    ScriptedDisk bad(memory, every(IoKind::sync_data, ScriptedDisk::Fate::failed));
    ASSERT_FALSE(install_index(bad, 2, ledger));
    SnapshotStore store = SnapshotStore::open(good, {}).value();
    SnapshotWriter writer = store.resume(info_of(2)).value();
    ASSERT_EQ(writer.offset(), 4096U);
    const Content payload = payload_of(2);
    ASSERT_TRUE(writer.append(std::span(payload).subspan(4096)));
    ASSERT_TRUE(writer.commit());
    ledger.acknowledged = 2;
}

class SnapshotCrash : public ::testing::TestWithParam<std::uint32_t> {
  protected:
    Tally sweep(const Scenario& run, ScriptedDisk::Script opener = {}) {
        Tally tally = CrashSweep(GetParam(), std::move(opener)).sweep(run);
        std::printf(
            "  %llu moments, %llu distinct images, %llu images of a second crash\n",
            static_cast<unsigned long long>(tally.moments),
            static_cast<unsigned long long>(tally.images),
            static_cast<unsigned long long>(tally.nested));
        return tally;
    }
    /// The newest index that openers find, over every crash right now.
    std::set<std::uint64_t> left_by_crashes(MemoryStorage& memory) {
        std::set<std::uint64_t> found;
        disk::crash_images(memory.model(), {}, [&](const disk::Image& image) {
            MemoryStorage after(memory.model().pool(), image, scripted(GetParam()));
            ScriptedDisk disk(after);
            found.insert(newest_index(disk).value());
        });
        return found;
    }
    void expect_clean(const Tally& tally) {
        EXPECT_GT(tally.images, 50U) << "the sweep got somewhere";
        EXPECT_EQ(tally.refused, 0U) << tally.first_fault;
        EXPECT_EQ(tally.lost, 0U) << tally.first_fault;
        EXPECT_EQ(tally.phantom, 0U) << tally.first_fault;
        EXPECT_EQ(tally.went_back, 0U) << tally.first_fault;
    }
};

TEST_P(SnapshotCrash, LeavesTheOldOrTheNewGenerationWhole) {
    expect_clean(sweep(installs(all_good())));
}

TEST_P(SnapshotCrash, DuringAResumedReceiveLeavesTheOldOrTheNewOne) {
    expect_clean(sweep(receive_interrupted));
}

TEST_P(SnapshotCrash, DuringAnInstallOverALeftoverLeavesTheOldOrTheNewOne) {
    expect_clean(sweep(install_over_leftover));
}

TEST_P(SnapshotCrash, AfterAFailedFlushNothingAcknowledgedIsLost) {
    expect_clean(sweep(install_after_failed_flush));
}

TEST_P(SnapshotCrash, AReceiverThatResumesAfterAFailedFlushLosesNothing) {
    expect_clean(sweep(receive_after_failed_flush));
}

TEST_P(SnapshotCrash, ControlWithoutTheContentSyncIsCaught) {
    const Tally tally = sweep(installs(every(IoKind::sync_data, ScriptedDisk::Fate::swallowed)));
    EXPECT_GT(tally.refused, 0U) << "a name in front of half an image";
}

TEST_P(SnapshotCrash, ControlWithoutTheDirectorySyncIsCaught) {
    const Tally tally = sweep(installs(every(IoKind::sync_dir, ScriptedDisk::Fate::swallowed)));
    EXPECT_GT(tally.lost, 0U) << "an acknowledged name that was never durable";
}

/// An opener that does not sync the directory shows a name that a second crash takes away.
TEST_P(SnapshotCrash, ControlWithoutTheDirectorySyncAtOpenIsCaught) {
    disk::Pool pool(GetParam());
    MemoryStorage memory(pool, disk::Image{}, scripted(GetParam()));
    Ledger ledger;
    ScriptedDisk good(memory);
    ASSERT_TRUE(install_index(good, 1, ledger));
    // Killed between rename and directory fsync: the machine runs on.
    ScriptedDisk cut(memory, [seen = 0](const IoOp& op) mutable {
        const bool last = op.kind == IoKind::sync_dir && ++seen == 2;
        return last ? ScriptedDisk::Fate::swallowed : ScriptedDisk::Fate::good;
    });
    ASSERT_TRUE(install_index(cut, 2, ledger));
    ScriptedDisk unsynced(memory, every(IoKind::sync_dir, ScriptedDisk::Fate::swallowed));

    ASSERT_EQ(newest_index(unsynced).value(), 2U);
    EXPECT_EQ(left_by_crashes(memory), (std::set<std::uint64_t>{1, 2})) << "the control loses it";
    ASSERT_EQ(newest_index(good).value(), 2U);
    EXPECT_EQ(left_by_crashes(memory), (std::set<std::uint64_t>{2}));
}

INSTANTIATE_TEST_SUITE_P(Atoms, SnapshotCrash, ::testing::Values(512U, 4096U), [](const auto& row) {
    return std::to_string(row.param);
});

} // namespace
} // namespace promtact::wal
