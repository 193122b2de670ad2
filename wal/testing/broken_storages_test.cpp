// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// For every property of a storage one that is broken so that exactly this property notices.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bent_storage_internal.hpp"

namespace promtact::wal_testing {
namespace {

using Answer = std::optional<std::int64_t>;

class Bent : public BentStorage {
  public:
    using BentStorage::BentStorage;
    static void reopened(const IoOp&) {}
};

class TruncatesIds final : public Bent {
    using Bent::Bent;
    void bend_answer(IoDone& done) override { done.id &= 0xffffffffU; }
};
class AnswersSyncsOfABusyQueueTwice final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (op.kind == IoKind::sync_all && in_flight() >= 12) twice_ = op.id; // no log has so many
        return std::nullopt;
    }
    void bend_answer(IoDone& done) override {
        if (twice_ == done.id) ready().push_back(done);
    }
    std::optional<std::uint64_t> twice_{};
};
class KeepsOnePlaceFree final : public Bent {
    using Bent::Bent;
    bool submit(const IoOp& op) override {
        return in_flight() + 1 < limits().depth && BentStorage::submit(op);
    }
};
class RoundsToItsAlignment final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        const std::uint32_t unit = limits().align_offset;
        op.offset -= op.kind == IoKind::write || op.kind == IoKind::read ? op.offset % unit : 0;
        if (op.kind == IoKind::write || op.kind == IoKind::read)
            op.data = op.data.first(op.data.size() / unit * unit);
        return std::nullopt;
    }
};
class WantsMoreAlignmentThanItSays final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        const bool odd = reinterpret_cast<std::uintptr_t>(op.data.data()) % 2 == 1;
        const bool transfer = op.kind == IoKind::write || op.kind == IoKind::read;
        return odd && transfer ? Answer(-EINVAL) : std::nullopt;
    }
};
class WritesWhenSynced final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (name_of(op.file) != "buffers") return std::nullopt;
        if (op.kind == IoKind::sync_data && late_) perform(*std::exchange(late_, std::nullopt));
        if (op.kind != IoKind::write) return std::nullopt;
        late_ = op;
        return static_cast<std::int64_t>(op.data.size());
    }
    std::optional<IoOp> late_{};
};
class FillsMemoryAfterItsEnd final : public Bent {
    using Bent::Bent;

  public:
    // The memory is still the suite's: it looks at what comes in late.
    static void reopened(const IoOp& op) {
        if (op.kind == IoKind::read && op.data.size() == suite_unit)
            std::memset(op.data.data(), 0xdd, op.data.size());
    }
    ~FillsMemoryAfterItsEnd() override = default;
    static constexpr std::size_t suite_unit = 4096;
};
class NeverSignals final : public Bent {
    using Bent::Bent;

  public:
    [[nodiscard]] int event_fd() const override { return event_.get(); }

  private:
    UniqueFd event_{::eventfd(0, EFD_CLOEXEC)};
};
class LosesASync final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        const bool lost = op.kind == IoKind::sync_data && name_of(op.file) == "ordered";
        return lost ? Answer(0) : std::nullopt;
    }
};
/// Has a cache that a crash writes back in pieces smaller than a sector.
class TearsSectors final : public Bent {
    using Bent::Bent;

  public:
    void crash() override {
        if (name_of(1) != "torn") return;
        std::vector<std::byte> mixed(512, std::byte{0xab});
        perform({.kind = IoKind::write, .file = 1, .offset = 512, .data = mixed});
        perform({.kind = IoKind::sync_data, .file = 1});
    }
};
class TruncatesToWholeSectors final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (op.kind == IoKind::truncate && op.offset < 1U << 30)
            op.offset = (op.offset + 511) / 512 * 512;
        return std::nullopt;
    }
};
class AllocatesByTruncating final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (op.kind == IoKind::allocate) op.kind = IoKind::truncate;
        return std::nullopt;
    }
};
class LeavesNoHole final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (op.kind == IoKind::write && name_of(op.file) == "hole") op.offset = 0;
        return std::nullopt;
    }
};
class ReadsZerosForever final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (op.kind != IoKind::read || op.offset < 8U << 20) return std::nullopt;
        std::memset(op.data.data(), 0, op.data.size());
        return static_cast<std::int64_t>(op.data.size());
    }
};
class CachesForEachNumber final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        const bool stale = op.kind == IoKind::read && op.file == 2 && name_of(op.file) == "shared";
        return stale ? Answer(0) : std::nullopt;
    }
};
class ForgetsToReplace final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        const bool lost = op.kind == IoKind::rename && op.new_name == "target";
        return lost ? Answer(0) : std::nullopt;
    }
};
class OpensByCreating final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (op.kind == IoKind::open && op.name == "absent") op.kind = IoKind::create;
        return std::nullopt;
    }
};
class SkipsAnEntryPerPage final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (op.kind == IoKind::list && op.offset > 0) ++op.offset;
        return std::nullopt;
    }
};
/// Its table of files to sync has room for five.
class SyncsFiveFiles final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (op.kind == IoKind::create) late_[op.file] = ++created_ > 5;
        if (op.kind == IoKind::open) late_[op.file] = created_ > 5;
        return op.kind == IoKind::sync_data && late_[op.file] ? Answer(0) : std::nullopt;
    }
    std::map<std::uint32_t, bool> late_{};
    int created_ = 0;
};
/// Takes a write that begins where the one before began for a repetition of it.
class DropsRewrites final : public Bent {
    using Bent::Bent;
    Answer bend(IoOp& op) override {
        if (op.kind != IoKind::write) return std::nullopt;
        Last& last = last_[op.file];
        const bool repeated =
            last.offset == op.offset && last.bytes > 0 && last.bytes < op.data.size();
        last = {.offset = op.offset, .bytes = op.data.size()};
        return repeated ? Answer(static_cast<std::int64_t>(op.data.size())) : std::nullopt;
    }
    struct Last {
        std::uint64_t offset = ~std::uint64_t{0};
        std::size_t bytes = 0;
    };
    std::map<std::uint32_t, Last> last_{};
};
/// A segment with content that was not synced is gone after a crash.
class DropsDirtySegments final : public Bent {
    using Bent::Bent;

  public:
    void crash() override {
        for (const std::string& name : dirty_) {
            perform({.kind = IoKind::unlink, .name = name});
            perform({.kind = IoKind::sync_dir});
        }
    }

  private:
    Answer bend(IoOp& op) override {
        const std::string name = name_of(op.file);
        if (!name.ends_with(".seg")) return std::nullopt;
        if (op.kind == IoKind::write) dirty_.insert(name);
        if (op.kind == IoKind::sync_data) dirty_.erase(name);
        return std::nullopt;
    }
    std::set<std::string> dirty_{};
};

template <class Kind>
std::unique_ptr<StoragePlace> place_of() {
    return std::make_unique<BentPlace<Kind>>();
}

/// Opens only in the thread it was made in.
class OneThreadPlace final : public StoragePlace {
  public:
    Result<std::unique_ptr<Storage>> open() override {
        if (std::this_thread::get_id() != maker_)
            return Error{Errc::refused, 0, "this is another thread"};
        return place_.open();
    }
    void end(std::unique_ptr<Storage> storage, End how) override {
        place_.end(std::move(storage), how);
    }
    [[nodiscard]] bool models_crashes() const override { return true; }

  private:
    std::thread::id maker_ = std::this_thread::get_id();
    MemoryPlace place_{};
};

/// Keeps other processes out by a file with its number, which a killed one leaves behind.
class StaleLockPlace final : public StoragePlace {
  public:
    Result<std::unique_ptr<Storage>> open() override {
        const std::filesystem::path lock = directory_ / "pid";
        pid_t owner = 0;
        if (std::ifstream(lock) >> owner && owner != ::getpid())
            return Error{Errc::busy, 0, "process " + std::to_string(owner) + " has it"};
        std::ofstream(lock) << ::getpid();
        return files_.open();
    }
    void end(std::unique_ptr<Storage> storage, End) override {
        storage.reset();
        std::filesystem::remove(directory_ / "pid");
    }
    [[nodiscard]] bool outlives_processes() const override { return true; }

  private:
    test_support::TemporaryDirectory directory_{};
    FilePlace files_{FileStorageOptions{.direct = FileStorageOptions::Direct::off}};
};

struct Row {
    const char* broken_property;
    std::unique_ptr<StoragePlace> (*make)();
};

void PrintTo(const Row& row, std::ostream* out) {
    *out << row.broken_property;
}

class BrokenStorage : public ::testing::TestWithParam<Row> {};

TEST_P(BrokenStorage, FailsExactlyTheOnePropertyItBreaks) {
    const auto suite = device_suite(StoragePlaceFactory(GetParam().make));
    EXPECT_THAT(failures(suite), ::testing::ElementsAre(GetParam().broken_property));
}

constexpr Row rows[] = {
    {"AnswersCarryTheIdsOfTheirRequests", place_of<TruncatesIds>},
    {"EveryRequestIsAnsweredOnce", place_of<AnswersSyncsOfABusyQueueTwice>},
    {"DepthIsWhatLimitsSay", place_of<KeepsOnePlaceFree>},
    {"UnalignedIsRefusedAndChangesNothing", place_of<RoundsToItsAlignment>},
    {"SmallestRequestOfTheLimitsIsTaken", place_of<WantsMoreAlignmentThanItSays>},
    {"AnsweredBuffersBelongToTheCaller", place_of<WritesWhenSynced>},
    {"DestructionDrainsWhatIsInFlight", place_of<FillsMemoryAfterItsEnd>},
    {"EventDescriptorTellsOfAnswers", place_of<NeverSignals>},
    {"SyncCoversWhatCompletedBeforeIt", place_of<LosesASync>},
    {"ACrashLeavesAtomicUnitsWhole", place_of<TearsSectors>},
    {"TruncateCutsAndWhatComesBackIsZero", place_of<TruncatesToWholeSectors>},
    {"AllocateExtendsWithZerosAndNeverShortens", place_of<AllocatesByTruncating>},
    {"AWriteBehindTheEndLeavesZerosBetween", place_of<LeavesNoHole>},
    {"ReadsEndWithTheFile", place_of<ReadsZerosForever>},
    {"ASecondNumberSeesWhatTheFirstWrote", place_of<CachesForEachNumber>},
    {"NamesAreDurableAfterTheDirectorySync", place_of<ForgetsToReplace>},
    {"OpenFindsOnlyWhatIsThere", place_of<OpensByCreating>},
    {"ListPagesInTheOrderOfNames", place_of<SkipsAnEntryPerPage>},
    {"ReopensAfterItsProcessWasKilled",
     +[]() -> std::unique_ptr<StoragePlace> { return std::make_unique<StaleLockPlace>(); }},
    {"ALogKeepsWhatItAcknowledged", place_of<SyncsFiveFiles>},
    {"ALogGoesOnAfterShortAndRefusedRequests", place_of<DropsRewrites>},
    {"AFailedWriteOrSyncStopsTheLogAndLosesNothing", place_of<DropsDirtySegments>},
    {"EightThreadsCommitThroughOneLog",
     +[]() -> std::unique_ptr<StoragePlace> { return std::make_unique<OneThreadPlace>(); }},
};

INSTANTIATE_TEST_SUITE_P(Rows, BrokenStorage, ::testing::ValuesIn(rows), [](const auto& row) {
    return std::string(row.param.broken_property);
});

TEST(BrokenStorages, TheUnbentOnePasses) {
    EXPECT_THAT(failures(device_suite(StoragePlaceFactory(place_of<Bent>))), ::testing::IsEmpty());
}

TEST(BrokenStorages, EveryPropertyBehindTheTenHasOne) {
    std::set<std::string_view> broken;
    for (const Row& row : rows)
        broken.insert(row.broken_property);
    const auto suite = device_suite(StoragePlaceFactory(place_of<Bent>));
    for (std::size_t i = 10; i < suite.size(); ++i)
        EXPECT_EQ(broken.count(suite[i].name), 1U) << suite[i].name;
    EXPECT_EQ(broken.size() + 10, suite.size());
}

} // namespace
} // namespace promtact::wal_testing
