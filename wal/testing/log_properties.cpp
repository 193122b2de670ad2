// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A log on the storage: the code that will run on it, with faults between the two.
#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <thread>

#include <promtact/base/error_text.hpp>
#include <promtact/wal/fault_storage.hpp>
#include <promtact/wal/log.hpp>

#include "log_hand_internal.hpp"

namespace promtact::wal_testing {
namespace {

using wal::FaultRule;
using wal::FaultStorage;
using wal::Lsn;
using wal::StorageFault;

constexpr std::uint64_t positions_max = 200;

Bytes record_of(Lsn lsn) {
    return pattern(lsn, static_cast<std::size_t>(lsn * 977 % 5000));
}

/// Records 1 to `least` are there, and none that is not record_of() its number.
Result<void> check_records(LogHand& log, Lsn least) {
    const Lsn durable = log.core().durable();
    if (durable < least) {
        return Error{
            Errc::corrupt, 0,
            "of " + std::to_string(least) + " acknowledged records the log finds " +
                std::to_string(durable)};
    }
    PROMTACT_TRY_ASSIGN(const auto records, log.read(1, durable));
    for (Lsn lsn = 1; lsn <= durable; ++lsn) {
        if (records.size() < lsn || records[lsn - 1] != record_of(lsn))
            return Error{Errc::corrupt, 0, "record " + std::to_string(lsn) + " is another"};
    }
    return {};
}

Finding log_keeps_its_word(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    constexpr Lsn count = 80;
    {
        LogHand log(session, suite_log_options(1));
        PROMTACT_TRY(log.open());
        for (Lsn lsn = 1; lsn <= count; ++lsn) {
            PROMTACT_TRY(log.append(record_of(lsn)));
            if (lsn % 4 == 0) PROMTACT_TRY(log.settle());
        }
        if (log.core().stats().rotations < 3)
            return Finding::failed("the log never rotated: nothing was tried");
        session.end(End::crashed);
    }
    PROMTACT_TRY(session.reopen(End::closed));
    {
        LogHand log(session, suite_log_options(2));
        PROMTACT_TRY(log.open());
        PROMTACT_TRY(check_records(log, count));
        PROMTACT_TRY(log.append(record_of(log.core().last() + 1)));
        PROMTACT_TRY(log.settle());
        PROMTACT_TRY(log.close());
    }
    PROMTACT_TRY(session.reopen(End::closed));
    LogHand log(session, suite_log_options(3));
    PROMTACT_TRY(log.open());
    PROMTACT_TRY(check_records(log, count + 1));
    return {Finding::Outcome::passed, unseen(*place)};
}

/// What a small log made of one fault.
struct Struck {
    bool struck = false;
    Lsn acknowledged = 0;
    std::optional<Error> stopped{};
};

Result<Struck> run_with_fault(StorageSession& session, const FaultRule& rule) {
    Struck result;
    FaultStorage faults(session.device(), 1);
    faults.add(rule);
    LogHand log(session, faults, suite_log_options(1));
    Result<void> opened = log.open();
    for (Lsn lsn = 1; opened && lsn <= 6 && !result.stopped; ++lsn) {
        const Result<Lsn> appended = log.append(record_of(lsn));
        const Result<void> settled = appended ? log.settle() : Result<void>(appended.error());
        if (!settled) result.stopped = settled.error();
    }
    if (!opened) result.stopped = opened.error();
    result.struck = faults.struck(0) > 0;
    result.acknowledged = log.core().durable();
    session.end(End::crashed); // the log is told nothing
    return result;
}

Finding still_whole(StorageSession& session, Lsn acknowledged) {
    PROMTACT_TRY(session.reopen(End::closed));
    LogHand log(session, suite_log_options(2));
    PROMTACT_TRY(log.open());
    PROMTACT_TRY(check_records(log, acknowledged));
    PROMTACT_TRY(log.append(record_of(log.core().last() + 1)));
    PROMTACT_TRY(log.settle());
    return {};
}

Finding in_words(Finding finding, const FaultRule& rule, std::string_view what) {
    if (finding.outcome != Finding::Outcome::failed) return finding;
    finding.words = std::string(what) + " at " + std::string(to_string(*rule.kind)) + " " +
                    std::to_string(rule.after + 1) + ": " + finding.words;
    return finding;
}

struct FaultRow {
    std::string_view what{};
    FaultRule rule{};
};

/// Runs a row's fault at the first, second, … request of its kind until there is none to strike.
template <class Judge>
Finding at_every_position(const StoragePlaceFactory& factory, FaultRow row, Judge&& judge) {
    for (std::uint64_t n = 0; n < positions_max; ++n) {
        row.rule.after = n;
        const auto place = factory();
        PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
        const Result<Struck> struck = run_with_fault(session, row.rule);
        Finding finding = struck ? judge(*struck) : Finding(struck.error());
        if (struck && !struck->struck && n > 0) return {};
        if (struck && !struck->struck)
            return Finding::failed("no " + std::string(to_string(*row.rule.kind)) + " was made");
        if (finding.outcome == Finding::Outcome::passed)
            finding = still_whole(session, struck->acknowledged);
        if (finding.outcome == Finding::Outcome::failed)
            return in_words(std::move(finding), row.rule, row.what);
    }
    return Finding::failed("the log makes ever more requests");
}

Finding log_goes_on_after(const StoragePlaceFactory& factory) {
    const std::array rows{
        FaultRow{"EAGAIN", {.kind = IoKind::write, .sys_errno = EAGAIN}},
        FaultRow{
            "a short write",
            {.kind = IoKind::write, .fault = StorageFault::short_count, .amount = 0}},
        FaultRow{"ENOSPC", {.kind = IoKind::create, .sys_errno = ENOSPC}},
        FaultRow{"ENOSPC", {.kind = IoKind::allocate, .sys_errno = ENOSPC}},
    };
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    const std::uint32_t unit = std::max(512U, session.device().limits().align_offset);
    for (FaultRow row : rows) {
        row.rule.amount = unit;
        Finding finding = at_every_position(factory, row, [&](const Struck& struck) -> Finding {
            const bool refused_only = row.rule.kind != IoKind::write && struck.acknowledged == 0;
            if (!struck.stopped || refused_only) return {};
            return Finding::failed("the log stopped: " + describe(*struck.stopped));
        });
        if (finding.outcome == Finding::Outcome::failed) return finding;
    }
    return {};
}

Finding failure_stops_the_log(const StoragePlaceFactory& factory) {
    bool crashes = false;
    for (const IoKind kind : {IoKind::write, IoKind::sync_data}) {
        for (const StorageFault fault : {StorageFault::fail, StorageFault::fail_done}) {
            const FaultRow row{"EIO", {.kind = kind, .fault = fault, .sys_errno = EIO}};
            Finding finding = at_every_position(factory, row, [](const Struck& struck) -> Finding {
                if (!struck.struck) return {};
                if (!struck.stopped) return Finding::failed("the log went on");
                if (struck.stopped->sys_errno == EIO) return {};
                return Finding::failed(
                    "the log stopped with another error: " + describe(*struck.stopped));
            });
            if (finding.outcome == Finding::Outcome::failed) return finding;
            crashes = factory()->models_crashes();
        }
    }
    return {
        Finding::Outcome::passed,
        crashes ? std::string{} : "this place cannot crash: it was closed and opened instead"};
}

/// A storage that goes back to its place when a log destroys it.
class OnLoan final : public Storage {
  public:
    OnLoan(StoragePlace& place, std::unique_ptr<Storage> storage)
        : place_(&place), storage_(std::move(storage)) {}
    ~OnLoan() override { place_->end(std::move(storage_), End::closed); }
    [[nodiscard]] StorageLimits limits() const override { return storage_->limits(); }
    [[nodiscard]] bool submit(const IoOp& op) override { return storage_->submit(op); }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override { return storage_->poll(done); }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) override {
        return storage_->wait(done, timeout_ns);
    }
    [[nodiscard]] int event_fd() const override { return storage_->event_fd(); }

  private:
    StoragePlace* place_;
    std::unique_ptr<Storage> storage_;
};

constexpr std::size_t committers = 8;
constexpr Lsn each = 12;

Finding commit_from_threads(StoragePlace& place) {
    wal::LogConfig config;
    config.log = suite_log_options(1);
    const auto make = [&](std::span<std::byte>) -> Result<std::unique_ptr<Storage>> {
        PROMTACT_TRY_ASSIGN(std::unique_ptr<Storage> storage, place.open());
        return std::unique_ptr<Storage>(std::make_unique<OnLoan>(place, std::move(storage)));
    };
    PROMTACT_TRY_ASSIGN(const auto log, wal::Log::open(make, config));
    std::array<std::optional<Error>, committers> failed{};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < committers; ++t) {
        threads.emplace_back([&, t] {
            for (Lsn i = 1; i <= each && !failed[t]; ++i) {
                const Result<Lsn> lsn = log->append_durable(pattern(t * each + i, 700));
                if (!lsn) failed[t] = lsn.error();
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    for (const std::optional<Error>& error : failed)
        if (error) return Finding(*error);
    PROMTACT_TRY(log->close());
    return {};
}

Finding eight_threads_commit(const StoragePlaceFactory& factory) {
    const auto place = factory();
    Finding finding = commit_from_threads(*place);
    if (finding.outcome == Finding::Outcome::failed) return finding;
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    LogHand log(session, suite_log_options(2));
    PROMTACT_TRY(log.open());
    PROMTACT_TRY_ASSIGN(auto records, log.read(1, log.core().durable()));
    std::vector<Bytes> wanted;
    for (Lsn number = 1; number <= committers * each; ++number)
        wanted.push_back(pattern(number, 700));
    std::sort(records.begin(), records.end());
    std::sort(wanted.begin(), wanted.end());
    if (records != wanted)
        return Finding::failed("the log does not hold each acknowledged record once");
    return {};
}

} // namespace

void add_log_properties(std::vector<Property>& out, const StoragePlaceFactory& factory) {
    const auto add = [&](std::string_view name, std::string_view claim,
                         Finding (*property)(const StoragePlaceFactory&)) {
        out.push_back({name, claim, [factory, property] { return property(factory); }});
    };
    add("ALogKeepsWhatItAcknowledged",
        "a log on it rotates, crashes and opens with every acknowledged record",
        log_keeps_its_word);
    add("ALogGoesOnAfterShortAndRefusedRequests",
        "EAGAIN and a short write are written again, ENOSPC of a new segment is no end",
        log_goes_on_after);
    add("AFailedWriteOrSyncStopsTheLogAndLosesNothing",
        "after EIO at any write or sync the log stops and has lost nothing acknowledged",
        failure_stops_the_log);
    add("EightThreadsCommitThroughOneLog", "eight threads commit through one log on it",
        eight_threads_commit);
}

} // namespace promtact::wal_testing
