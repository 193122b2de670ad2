// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstring>

#include <promtact/wal/testing/crash_harness.hpp>

namespace promtact::wal::testing {
namespace {

constexpr std::uint64_t step_ns = 1'000'000;
constexpr int pumps_max = 20'000;

} // namespace

CrashTally& CrashTally::operator+=(const CrashTally& other) {
    using Count = std::uint64_t CrashTally::*;
    for (const Count count :
         {&CrashTally::moments, &CrashTally::visited, &CrashTally::distinct, &CrashTally::torn,
          &CrashTally::second, &CrashTally::refused, &CrashTally::lost, &CrashTally::wrong,
          &CrashTally::resurrected, &CrashTally::records, &CrashTally::rotations,
          &CrashTally::recycled, &CrashTally::released, &CrashTally::rewritten})
        this->*count += other.*count;
    if (first_failure.empty()) first_failure = other.first_failure;
    return *this;
}

Workload generated_workload(std::uint64_t number) {
    const ChoiceStream choose(number, Purpose::workload, 7);
    const auto pick = [&](std::uint64_t what, std::uint64_t below) {
        return choose.below(ChoicePosition::index(what), below);
    };
    Workload made{.name = "workload " + std::to_string(number), .seed = number * 1000 + 17};
    made.atom_bytes = pick(0, 3) == 0 ? 512 : 4096;
    made.steps = static_cast<std::uint32_t>(24 + pick(1, 40));
    made.segment_blocks = static_cast<std::uint32_t>(5 + pick(2, 6));
    made.frame_blocks = static_cast<std::uint32_t>(1 + pick(3, 3));
    made.depth = static_cast<std::uint32_t>(pick(4, 3) == 0 ? 1 : 4);
    made.syncs = static_cast<std::uint32_t>(1 + pick(5, 2));
    made.layout = pick(6, 4) == 0 ? Layout::fixed : Layout::variable;
    made.recycle = pick(7, 3) != 0;
    made.compact = pick(8, 4) != 0;
    made.truncate = pick(9, 2) == 0;
    made.quiet = pick(10, 3) == 0;
    made.close = pick(11, 3) == 0;
    return made;
}

CrashHarness::CrashHarness(const Workload& workload, const HarnessOptions& options)
    : workload_(workload), options_(options), pool_(workload.atom_bytes) {
    options_.crash.seed = workload.seed;
    arena_.resize(LogCore::arena_bytes(log_options(0)));
    second_arena_.resize(arena_.size());
}

LogOptions CrashHarness::log_options(std::uint64_t entropy) const {
    LogOptions options{.open = LogOptions::Open::either, .entropy = entropy + workload_.seed};
    options.uuid[0] = std::byte{42};
    options.segment_bytes = std::uint64_t{workload_.segment_blocks} * block_bytes;
    options.layout = workload_.layout;
    options.frame_bytes_max = workload_.frame_blocks * static_cast<std::uint32_t>(block_bytes);
    options.pipeline_depth = workload_.depth;
    options.syncs_max = workload_.syncs;
    options.recycle = workload_.recycle;
    options.zero_chunk_bytes = static_cast<std::uint32_t>(4 * block_bytes);
    options.scan.index_stride_blocks = 2;
    return options;
}

MemoryStorageOptions CrashHarness::storage_options(MemoryStorageOptions::Order order) const {
    MemoryStorageOptions options{.order = order, .seed = workload_.seed};
    options.limits.atomic_bytes = workload_.atom_bytes;
    return options;
}

std::uint64_t CrashHarness::choose(std::uint64_t below) {
    const ChoiceStream stream(workload_.seed, Purpose::workload, 0);
    return stream.below(ChoicePosition::index(choices_++), below);
}

CrashHarness::Given CrashHarness::make_given(Lsn lsn, std::uint64_t incarnation) const {
    const ChoiceStream stream(workload_.seed + incarnation, Purpose::workload, 1);
    const std::uint64_t shape = stream.below(ChoicePosition::index(2 * lsn), 10);
    const std::uint64_t size = stream.below(ChoicePosition::index(2 * lsn + 1), 4096);
    std::size_t bytes = static_cast<std::size_t>(shape < 6 ? size % 200 : size);
    if (shape == 9) bytes = static_cast<std::size_t>(size * 2);
    bytes = std::min<std::size_t>(bytes, static_cast<std::size_t>(log_->record_bytes_max()));
    Given given;
    if (workload_.layout == Layout::fixed) {
        RecordBytes record{};
        encode({.sequence = lsn, .index = lsn, .term = incarnation, .value = size}, record);
        given.payload.assign(record.begin(), record.end());
        return given;
    }
    given.payload.resize(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        given.payload[i] = static_cast<std::byte>((lsn * 131 + incarnation * 7 + i) & 0xffU);
    return given;
}

void CrashHarness::complain(std::uint64_t& counter, const std::string& what) {
    ++counter;
    if (tally_.first_failure.empty()) {
        tally_.first_failure = workload_.name + ", moment " + std::to_string(tally_.moments) +
                               ", image " + std::to_string(tally_.distinct) + ": " + what;
    }
}

const CrashTally& CrashHarness::run() {
    storage_ = std::make_unique<MemoryStorage>(
        pool_, disk::Image{}, storage_options(MemoryStorageOptions::Order::seeded));
    Storage* given = storage_.get();
    if (options_.decorate) {
        decorated_ = options_.decorate(*storage_);
        given = decorated_.get();
    }
    log_ = std::make_unique<LogCore>(*given, log_options(0), arena_);
    storage_->observe([this](MemoryStorage::Moment moment, const MemoryStorage::Request& request) {
        const bool changes = request.kind != IoKind::read && request.kind != IoKind::list &&
                             request.kind != IoKind::open;
        if (moment == MemoryStorage::Moment::submitted && changes) crash_everywhere();
    });
    for (int i = 0; i < pumps_max && log_->state() == LogCore::State::opening; ++i)
        log_->pump(now_ns_);
    PROMTACT_ASSERT(log_->state() == LogCore::State::ready);
    for (std::uint32_t i = 0; i < workload_.steps && tally_.distinct < options_.images_max; ++i)
        step();
    if (workload_.close) log_->close();
    for (int i = 0; i < 200 && log_->state() != LogCore::State::closed; ++i) {
        now_ns_ += step_ns;
        log_->pump(now_ns_);
        promise_.acknowledged = log_->durable();
    }
    crash_everywhere();
    tally_.records = promise_.given.size();
    tally_.rotations = log_->stats().rotations;
    tally_.recycled = log_->stats().spares_recycled;
    tally_.released = log_->stats().segments_released;
    tally_.rewritten = log_->stats().rewrites;
    return tally_;
}

void CrashHarness::append(Lsn count) {
    for (Lsn i = 0; i < count; ++i) {
        Given given = make_given(promise_.given.size() + 1, 0);
        // Known to the oracle before the log may submit it.
        promise_.given.push_back(given);
        const Result<Lsn> lsn = log_->append(given.payload);
        if (!lsn) {
            PROMTACT_ASSERT(lsn.error().code == Errc::busy);
            promise_.given.pop_back();
            return;
        }
        PROMTACT_ASSERT(*lsn == promise_.given.size());
    }
}

void CrashHarness::step() {
    const std::uint64_t action = choose(100);
    if (action < 62) {
        append(1 + choose(4));
    } else if (action < 68 && workload_.truncate && log_->durable() > 2) {
        const Lsn keep =
            log_->last() - choose(std::min<Lsn>(3, log_->last() - log_->first_live()) + 1);
        promise_.given.push_back({.truncation = true, .keep = keep});
        if (!log_->truncate_suffix(keep)) promise_.given.pop_back();
    } else if (action < 80 && workload_.compact && log_->durable() > 0) {
        const Lsn from = log_->first_live();
        const Lsn to = from + choose(log_->durable() + 2 - from);
        promise_.released = std::max(promise_.released, to);
        PROMTACT_ASSERT(log_->release_prefix(to).has_value());
    } else if (action < 90 && workload_.quiet) {
        for (int i = 0; i < 60; ++i) {
            now_ns_ += step_ns;
            log_->pump(now_ns_);
        }
    }
    const std::uint64_t pumps = 1 + choose(4);
    for (std::uint64_t i = 0; i < pumps; ++i) {
        const Lsn before = log_->durable();
        now_ns_ += step_ns / 4;
        log_->pump(now_ns_);
        promise_.acknowledged = log_->durable();
        if (before != log_->durable()) crash_everywhere();
    }
    PROMTACT_ASSERT(!log_->poisoned());
}

void CrashHarness::crash_everywhere() {
    if (checking_ || tally_.distinct >= options_.images_max) return;
    checking_ = true;
    ++tally_.moments;
    promise_.acknowledged = log_->durable();
    // When nothing became durable or acknowledged since, only what is newly pending is new.
    const disk::DiskModel& model = storage_->model();
    std::vector<std::uint64_t> pending;
    for (const disk::Change& change : model.pending())
        pending.push_back(change.ticket);
    const bool grown = last_.syncs == model.syncs() &&
                       last_.acknowledged == promise_.acknowledged &&
                       last_.pending.size() <= pending.size() &&
                       std::equal(last_.pending.begin(), last_.pending.end(), pending.begin());
    disk::CrashOptions crash = options_.crash;
    crash.fresh_from = grown ? last_.pending.size() : 0;
    const bool nothing_new = grown && last_.pending.size() == pending.size() && tally_.moments > 1;
    last_ = {model.syncs(), promise_.acknowledged, std::move(pending)};
    if (nothing_new) {
        checking_ = false;
        return;
    }
    tally_.visited += disk::crash_images(model, crash, [this](const disk::Image& image) {
        if (tally_.distinct >= options_.images_max) return;
        check(image, hasher_(image, pool_).low);
    });
    checking_ = false;
}

void CrashHarness::check(const disk::Image& image, std::uint64_t hash) {
    if (!seen_.insert(hash).second) {
        // The same content recovers the same way; only what was promised has grown.
        const auto known = found_.find(hash);
        if (known != found_.end() && known->second.end <= promise_.acknowledged) {
            complain(tally_.lost, "acknowledged LSN " + std::to_string(known->second.end));
        }
        return;
    }
    ++tally_.distinct;
    Found found;
    if (!check_scan(image, promise_, found)) return;
    found_[hash] = found;
    tally_.torn += found.torn ? 1 : 0;
    const std::size_t atoms = pool_.atoms();
    reopen(
        image, found,
        options_.depth_two_every != 0 && tally_.distinct % options_.depth_two_every == 0);
    pool_.rollback(atoms);
}

bool CrashHarness::check_scan(const disk::Image& image, const Promise& promise, Found& found) {
    MemoryStorage storage(pool_, image, storage_options(MemoryStorageOptions::Order::fifo));
    ScanOptions options{.chunk_bytes = 8 * block_bytes};
    std::uint64_t bad = 0;
    Lsn first = 0;
    options.on_frame = [&](const FrameHeader& header, std::span<const std::byte> frame) {
        if (first == 0) first = header.first_lsn;
        if (header.first_lsn + header.records - 1 > promise.given.size()) {
            ++bad;
            return;
        }
        if (header.kind == static_cast<std::uint32_t>(FrameKind::trunc_suffix)) {
            const Given& given = promise.given[static_cast<std::size_t>(header.first_lsn - 1)];
            bad += given.truncation ? 0 : 1;
        }
        RecordCursor cursor(frame, header, workload_.layout);
        RecordView record;
        while (cursor.next(record)) {
            const Given& given = promise.given[static_cast<std::size_t>(record.lsn - 1)];
            const bool same =
                !given.truncation && std::ranges::equal(given.payload, record.payload);
            bad += same ? 0 : 1;
        }
    };
    LogScan scan(storage, options);
    scan.run();
    const ScanReport& report = scan.report();
    if (report.verdict == Verdict::refuse) {
        complain(tally_.refused, std::string(to_string(report.refusal)) + ": " + report.text);
        return false;
    }
    found = {
        .end = report.end.next_lsn,
        .first_live = report.first_live_lsn,
        .torn = report.verdict == Verdict::prefix};
    if (bad != 0) complain(tally_.wrong, "a record that was never appended, or differs");
    if (found.end <= promise.acknowledged) {
        complain(tally_.lost, "acknowledged LSN " + std::to_string(found.end));
    }
    if (found.first_live > promise.released || (first != 0 && first > found.first_live)) {
        complain(tally_.lost, "records were released that nobody released");
    }
    return true;
}

/// Opens for append, adds two records, has them acknowledged, and looks again. With `enumerate`
/// every moment of that may crash too.
void CrashHarness::reopen(const disk::Image& image, const Found& found, bool enumerate) {
    MemoryStorage storage(pool_, image, storage_options(MemoryStorageOptions::Order::fifo));
    LogCore log(storage, log_options(1 + tally_.distinct), second_arena_);
    Promise promise = promise_;
    promise.acknowledged = found.end - 1;
    promise.given.resize(static_cast<std::size_t>(found.end - 1));
    if (found.end - 1 < promise_.acknowledged) return; // said already
    const auto enumerate_now = [&] {
        promise.acknowledged = std::max(promise.acknowledged, log.durable());
        disk::CrashOptions crash = options_.crash;
        crash.random = 16;
        crash.exhaustive_max = 9;
        crash.pairs_max = 0;
        disk::crash_images(storage.model(), crash, [&](const disk::Image& second) {
            const std::uint64_t hash = hasher_(second, pool_).low;
            if (!second_seen_.insert(hash ^ promise.acknowledged).second) return;
            ++tally_.second;
            const std::uint64_t wrong = tally_.wrong;
            Found again;
            check_scan(second, promise, again);
            tally_.resurrected += tally_.wrong - wrong;
        });
    };
    if (enumerate) {
        storage.observe([&](MemoryStorage::Moment moment, const MemoryStorage::Request&) {
            if (moment == MemoryStorage::Moment::submitted) enumerate_now();
        });
    }
    std::uint32_t appended = 0;
    for (int i = 0; i < 200; ++i) {
        log.pump(0);
        if (log.state() == LogCore::State::refused) {
            return complain(tally_.refused, "at open: " + log.open_error().context);
        }
        PROMTACT_ASSERT(!log.poisoned());
        if (log.state() != LogCore::State::ready) continue;
        if (appended == 0 && log.last() + 1 != found.end) {
            return complain(tally_.wrong, "the second recovery differs from the first");
        }
        if (appended < 2) {
            Given given = make_given(log.last() + 1, 1 + tally_.distinct);
            promise.given.push_back(given);
            if (log.append(given.payload)) {
                ++appended;
            } else {
                promise.given.pop_back();
            }
        } else if (log.durable() == log.last()) {
            break;
        }
    }
    promise.acknowledged = log.durable();
    if (appended < 2 || log.durable() != log.last()) {
        return complain(tally_.lost, "the recovered log takes no appends");
    }
    if (enumerate) enumerate_now();
    disk::Image after;
    storage.model().crash(after, [](std::size_t) { return false; });
    const std::uint64_t wrong = tally_.wrong;
    Found again;
    check_scan(after, promise, again);
    tally_.resurrected += tally_.wrong - wrong;
}

} // namespace promtact::wal::testing
