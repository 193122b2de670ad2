// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <functional>
#include <string>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/wal/snapshot_store.hpp>

#include "snapshot_store_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::string_view name_front = "snapshot-";
constexpr std::string_view name_back = ".snap";
constexpr std::size_t generation_digits = 16;

struct Verified {
    SnapshotInfo info{};
    SnapshotProgress progress{};
};

/// Errors: corrupt when the image was written under another name; refused when for another cluster.
Result<void> belongs_here(
    const SnapshotStoreState& state, const std::string& name, std::uint64_t generation,
    const SnapshotInfo& info) {
    if (info.generation != generation) {
        return Error{
            Errc::corrupt, 0,
            name + ": holds generation " + std::to_string(info.generation) +
                ", so it was renamed or copied"};
    }
    if (info.cluster != state.options.cluster)
        return Error{Errc::refused, 0, name + ": belongs to another cluster"};
    return {};
}

/// Reads all of an image. Errors: those of SnapshotScan and belongs_here().
Result<Verified> verify(SnapshotStoreState& state, std::uint64_t generation) {
    const std::string name = snapshot_name(generation);
    const std::uint32_t file = state.reader_file(0);
    PROMTACT_TRY_ASSIGN(const std::uint64_t bytes, state.pump.open(file, name));
    SnapshotScan scan(state.pump, file, name, bytes, state.options.limits);
    for (;;) {
        PROMTACT_TRY_ASSIGN(const auto event, scan.step());
        if (event == SnapshotDecoder::Event::end) break;
    }
    PROMTACT_TRY(belongs_here(state, name, generation, scan.decoder().info()));
    return Verified{.info = scan.decoder().info(), .progress = scan.decoder().progress()};
}

bool is_damage(const Error& error) noexcept {
    return error.code == Errc::corrupt;
}

Error nothing_believed(const SnapshotVerdict& verdict) {
    PROMTACT_ASSERT(!verdict.passed_over.empty());
    std::string text = "no snapshot can be believed";
    for (const auto& passed : verdict.passed_over)
        text += "; " + passed.why.context;
    return {Errc::corrupt, 0, std::move(text)};
}

/// Sorts a directory into the verdict; returns the generations, newest first.
/// Errors: refused when one of our names is no regular file with one link.
Result<std::vector<std::uint64_t>>
classify(std::span<const SnapshotPump::Entry> entries, SnapshotVerdict& verdict) {
    std::vector<std::uint64_t> generations;
    for (const auto& [name, regular] : entries) {
        const auto generation = parse_snapshot_name(name);
        const bool temporary = name == snapshot_temporary_name;
        if (!generation && !temporary) {
            if (name.starts_with("snapshot")) verdict.strangers.push_back(name);
            continue;
        }
        if (!regular) {
            return Error{
                Errc::refused, 0, name + ": is not a regular file with one link, so not ours"};
        }
        if (generation) generations.push_back(*generation);
        if (temporary) verdict.leftover = true;
    }
    std::sort(generations.begin(), generations.end(), std::greater<>());
    return generations;
}

Result<void> choose(SnapshotStoreState& state, std::span<const std::uint64_t> generations) {
    SnapshotVerdict& verdict = state.verdict;
    if (!generations.empty()) state.highest = generations.front();
    for (const std::uint64_t generation : generations) {
        if (verdict.newest) {
            verdict.older.push_back(snapshot_name(generation));
            continue;
        }
        auto found = verify(state, generation);
        if (!found && !is_damage(found.error())) return std::move(found).error();
        if (!found) {
            verdict.passed_over.push_back(
                {.name = snapshot_name(generation), .why = std::move(found).error()});
            continue;
        }
        verdict.newest = std::move(found->info);
        verdict.progress = found->progress;
    }
    if (!verdict.newest && !verdict.passed_over.empty()) return nothing_believed(verdict);
    return {};
}

/// How much of the leftover is part of the image that info announces, in whole full chunks.
/// Errors: io. What does not verify is no error: it is where the leftover ends.
Result<SnapshotProgress> believe_leftover(SnapshotStoreState& state, const SnapshotInfo& info) {
    const std::string name(snapshot_temporary_name);
    const std::uint32_t file = state.leftover_file();
    PROMTACT_TRY_ASSIGN(const std::uint64_t bytes, state.pump.open(file, name));
    SnapshotScan scan(state.pump, file, name, bytes, state.options.limits);
    SnapshotProgress believed;
    for (;;) {
        auto event = scan.step();
        if (!event && event.error().sys_errno != 0) return std::move(event).error();
        if (!event || *event == SnapshotDecoder::Event::end) return believed;
        const bool header = *event == SnapshotDecoder::Event::header;
        if (header && scan.decoder().info() != info) return believed;
        // A chunk that is not full ends an image; the sender may send more than it held.
        if (!header && scan.decoder().payload().size() != info.chunk_bytes) return believed;
        believed = scan.decoder().progress();
    }
}

/// Copies what was believed into the writer's new file and frees the old one.
Result<void> copy_leftover(
    SnapshotStoreState& state, const SnapshotProgress& believed, SnapshotWriterState& writer) {
    const std::string name(snapshot_temporary_name);
    const std::uint32_t file = state.leftover_file();
    SnapshotScan scan(state.pump, file, name, believed.file_bytes, state.options.limits);
    PROMTACT_TRY_ASSIGN(const auto header, scan.step());
    PROMTACT_ASSERT(header == SnapshotDecoder::Event::header);
    PROMTACT_ASSERT(scan.decoder().progress() == writer.progress);
    while (writer.progress != believed) {
        PROMTACT_TRY_ASSIGN(const auto event, scan.step());
        PROMTACT_ASSERT(event == SnapshotDecoder::Event::chunk);
        PROMTACT_TRY(writer.adopt(scan.part(), scan.decoder().progress()));
    }
    return state.pump.truncate(file, 0, name);
}

} // namespace

std::string snapshot_name(std::uint64_t generation) {
    std::array<char, generation_digits> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), generation, 16).ptr;
    const auto count = static_cast<std::size_t>(end - digits.data());
    PROMTACT_ASSERT(count <= generation_digits);
    return std::string(name_front) + std::string(generation_digits - count, '0') +
           std::string(digits.data(), count) + std::string(name_back);
}

std::optional<std::uint64_t> parse_snapshot_name(std::string_view name) noexcept {
    if (name.size() != name_front.size() + generation_digits + name_back.size()) return {};
    if (!name.starts_with(name_front) || !name.ends_with(name_back)) return {};
    const std::string_view digits = name.substr(name_front.size(), generation_digits);
    if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return {};
    std::uint64_t generation = 0;
    const auto parsed =
        std::from_chars(digits.data(), digits.data() + digits.size(), generation, 16);
    PROMTACT_ASSERT(parsed.ptr == digits.data() + digits.size());
    if (generation == 0 || generation == std::numeric_limits<std::uint64_t>::max()) return {};
    return generation;
}

std::string SnapshotVerdict::words() const {
    std::string text;
    for (const PassedOver& passed : passed_over)
        text += "not taken: " + passed.why.context + "\n";
    if (newest) {
        text += "newest: " + snapshot_name(newest->generation) + ", index " +
                std::to_string(newest->index) + ", term " + std::to_string(newest->term) + ", " +
                std::to_string(progress.payload_bytes) + " bytes, every chunk verified\n";
    } else {
        text += "there is no snapshot\n";
    }
    for (const std::string& name : older)
        text += "older, not looked into: " + name + "\n";
    if (leftover)
        text += "left by an interrupted install: " + std::string(snapshot_temporary_name) + "\n";
    for (const std::string& name : strangers)
        text += "not ours, ignored: " + name + "\n";
    return text;
}

void SnapshotStoreState::installed(const SnapshotInfo& info, const SnapshotProgress& progress) {
    PROMTACT_ASSERT(info.generation > highest);
    if (verdict.newest)
        verdict.older.insert(verdict.older.begin(), snapshot_name(verdict.newest->generation));
    verdict.newest = info;
    verdict.progress = progress;
    verdict.leftover = false;
    highest = info.generation;
}

std::optional<Error> SnapshotStoreState::prune() {
    std::optional<Error> failed;
    while (verdict.older.size() > 1) {
        auto removed = pump.unlink(verdict.older.back());
        if (!removed && removed.error().code != Errc::not_found) {
            failed = removed.error();
            break;
        }
        // Not synced: should the name come back after a crash, the next commit removes it again.
        verdict.older.pop_back();
    }
    return failed;
}

Result<void> SnapshotStoreState::drop_temporary() {
    PROMTACT_TRY(alive());
    auto removed = pump.unlink(snapshot_temporary_name);
    if (!removed && removed.error().code != Errc::not_found) return std::move(removed).error();
    verdict.leftover = false;
    // Before the name is used again: otherwise its two uses are one to a crash.
    auto synced = pump.sync_dir();
    if (!synced) return poisoned_by(std::move(synced).error());
    return {};
}

SnapshotStore::SnapshotStore(std::unique_ptr<SnapshotStoreState> state) noexcept
    : state_(std::move(state)) {}
SnapshotStore::SnapshotStore(SnapshotStore&&) noexcept = default;
SnapshotStore& SnapshotStore::operator=(SnapshotStore&&) noexcept = default;
SnapshotStore::~SnapshotStore() = default;

const SnapshotVerdict& SnapshotStore::verdict() const noexcept {
    return state_->verdict;
}

const std::optional<Error>& SnapshotStore::poison() const noexcept {
    return state_->poison;
}

Result<SnapshotStore> SnapshotStore::open(Storage& storage, const SnapshotStoreOptions& options) {
    const StorageLimits limits = storage.limits();
    if (!std::has_single_bit(limits.align_offset) || limits.align_offset > snapshot_block_bytes ||
        !std::has_single_bit(limits.align_memory)) {
        return Error{
            Errc::invalid_argument, 0,
            "snapshot storage: its alignment of " + std::to_string(limits.align_offset) +
                " does not divide 4096"};
    }
    auto state = std::make_unique<SnapshotStoreState>(
        SnapshotStoreState{.pump = SnapshotPump(storage), .options = options});
    PROMTACT_TRY_ASSIGN(const auto entries, state->pump.list());
    PROMTACT_TRY_ASSIGN(const auto generations, classify(entries, state->verdict));
    PROMTACT_TRY(choose(*state, generations));
    if (!options.read_only) PROMTACT_TRY(state->pump.sync_dir());
    return SnapshotStore(std::move(state));
}

Result<SnapshotReader> SnapshotStore::read() {
    if (!state_->verdict.newest)
        return Error{Errc::not_found, 0, "snapshot store: there is no snapshot"};
    return read(state_->verdict.newest->generation);
}

Result<SnapshotReader> SnapshotStore::read(std::uint64_t generation) {
    SnapshotStoreState& state = *state_;
    const std::string name = snapshot_name(generation);
    const auto& older = state.verdict.older;
    const bool known = (state.verdict.newest && state.verdict.newest->generation == generation) ||
                       std::find(older.begin(), older.end(), name) != older.end();
    if (!known) return Error{Errc::not_found, 0, "snapshot store: there is no " + name};
    const auto free = std::find(state.reading.begin(), state.reading.end(), false);
    if (free == state.reading.end())
        return Error{Errc::busy, 0, "snapshot store: all readers are in use"};
    const auto slot = static_cast<std::size_t>(free - state.reading.begin());
    const std::uint32_t file = state.reader_file(slot);
    PROMTACT_TRY_ASSIGN(const std::uint64_t bytes, state.pump.open(file, name));
    *free = true;
    auto reader = std::make_unique<SnapshotReaderState>(
        state, slot, SnapshotScan(state.pump, file, name, bytes, state.options.limits));
    PROMTACT_TRY_ASSIGN(const auto event, reader->scan.step());
    PROMTACT_ASSERT(event == SnapshotDecoder::Event::header);
    PROMTACT_TRY(belongs_here(state, name, generation, reader->scan.decoder().info()));
    return SnapshotReader(std::move(reader));
}

Result<void> SnapshotStore::may_write(const SnapshotInfo& info) const {
    const auto refused = [](std::string what) {
        return Error{Errc::refused, 0, "snapshot: " + std::move(what)};
    };
    if (state_->options.read_only) return refused("the store was opened read-only");
    PROMTACT_TRY(state_->alive());
    if (state_->writing) return Error{Errc::busy, 0, "snapshot: another one is being written"};
    PROMTACT_TRY(check_snapshot_info(info));
    if (info.chunk_bytes > state_->options.limits.chunk_bytes_max) {
        return Error{
            Errc::invalid_argument, 0, "snapshot: chunk_bytes is above the configured maximum"};
    }
    if (info.cluster != state_->options.cluster) return refused("it is of another cluster");
    if (!state_->verdict.newest) return {};
    const SnapshotInfo& newest = *state_->verdict.newest;
    if (info.index < newest.index) {
        return refused(
            "index " + std::to_string(info.index) + " is below " + std::to_string(newest.index) +
            " of generation " + std::to_string(newest.generation));
    }
    if (newest.ro_compat != 0) {
        return Error{
            Errc::unsupported, 0,
            snapshot_name(newest.generation) + ": has ro_compat bits " +
                std::to_string(newest.ro_compat) + " that forbid this version to replace it"};
    }
    return {};
}

Result<SnapshotWriter> SnapshotStore::write(SnapshotInfo info) {
    PROMTACT_TRY(may_write(info));
    if (state_->verdict.leftover) PROMTACT_TRY(state_->drop_temporary());
    info.generation = state_->highest + 1;
    auto writer = std::make_unique<SnapshotWriterState>(*state_, std::move(info));
    PROMTACT_TRY(writer->begin());
    return SnapshotWriter(std::move(writer));
}

Result<SnapshotWriter> SnapshotStore::resume(SnapshotInfo info) {
    PROMTACT_ASSERT(info.payload_bytes != snapshot_length_unknown);
    PROMTACT_TRY(may_write(info));
    if (!state_->verdict.leftover) return write(std::move(info));
    info.generation = state_->highest + 1;
    PROMTACT_TRY_ASSIGN(const SnapshotProgress believed, believe_leftover(*state_, info));
    if (believed.chunks == 0) return write(std::move(info));
    // Its number stays bound to the old file, whose name is given to the new one.
    PROMTACT_TRY(state_->drop_temporary());
    auto writer = std::make_unique<SnapshotWriterState>(*state_, std::move(info));
    PROMTACT_TRY(writer->begin());
    PROMTACT_TRY(copy_leftover(*state_, believed, *writer));
    return SnapshotWriter(std::move(writer));
}

Result<void> SnapshotStore::remove_leftover() {
    if (state_->options.read_only)
        return Error{Errc::refused, 0, "snapshot: the store was opened read-only"};
    PROMTACT_TRY(state_->alive());
    if (state_->writing) return Error{Errc::busy, 0, "snapshot: it is being written"};
    if (!state_->verdict.leftover) return {};
    return state_->drop_temporary();
}

} // namespace promtact::wal
