// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "direct_wal/gate.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <promtact/base/choice.h>
#include <promtact/base/file_storage.hpp>
#include <promtact/uring/direct_file.hpp>
#include <promtact/wal/log.hpp>
#include <promtact/wal/scan.hpp>

#include "storage_support/direct_target_internal.hpp"
#include "storage_support/guarded_path_internal.hpp"

namespace promtact::gates {
namespace {

using wal::block_bytes;
using wal::Log;
using wal::Lsn;

constexpr std::string_view qualified[] = {"wal", "uring"};
constexpr std::string_view required[] = {"direct_io"};
constexpr std::uint64_t batch = 16;
constexpr std::uint64_t segment_blocks = 64; // small, so that the log goes over many

std::uint64_t records_of(const GateContext& context) {
    return context.quick() ? 320 : 10'000;
}

/// Between nothing and a little more than a block of words that are nowhere else.
std::vector<std::byte> make_payload(std::uint64_t seed, Lsn lsn) {
    const auto word = [&](std::uint64_t at) {
        return promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, lsn, at);
    };
    std::vector<std::byte> payload(word(0) % (block_bytes + 512));
    for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<std::byte>(word(1 + i / 8) >> (8 * (i % 8)));
    return payload;
}

wal::RecordTag make_tag(std::uint64_t seed, Lsn lsn) {
    return {
        .type = static_cast<std::uint16_t>(
            promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, lsn, ~std::uint64_t{0}))};
}

wal::LogConfig log_config(wal::LogOptions::Open open) {
    wal::LogConfig config;
    config.log.open = open;
    config.log.segment_bytes = segment_blocks * block_bytes;
    config.log.frame_bytes_max = static_cast<std::uint32_t>(32 * block_bytes);
    // What is qualified is the log on io_uring, with nothing in between.
    config.only = wal::Engine::inline_sync;
    return config;
}

/// An answer about the log, not about the host.
bool is_damage(const Error& error) {
    return error.code == Errc::corrupt || error.code == Errc::format;
}

Result<void> append_records(const GateContext& context, Log& log, Lsn from, Lsn through) {
    const std::uint64_t seed = context.options().seed;
    for (Lsn lsn = from; lsn <= through; ++lsn) {
        if (lsn % batch == 1) context.step("append record " + std::to_string(lsn));
        const std::vector<std::byte> payload = make_payload(seed, lsn);
        // The last of a batch is waited for: what was appended before it is durable then, too.
        const bool waits = lsn % batch == 0 || lsn == through;
        PROMTACT_TRY_ASSIGN(
            const Lsn given,
            waits ? log.append_durable(payload, make_tag(seed, lsn))
                  : log.append_for(payload, make_tag(seed, lsn), {}, std::chrono::seconds{10}));
        if (given != lsn) {
            return Error{
                Errc::corrupt, 0,
                "record " + std::to_string(lsn) + " was given LSN " + std::to_string(given)};
        }
    }
    context.step("close the log");
    return log.close();
}

/// Half the records into a new log, the rest after it was closed and opened again.
Result<wal::LogStats> write_log(const GateContext& context, const std::filesystem::path& path) {
    const std::uint64_t records = records_of(context);
    context.step("create the log");
    PROMTACT_TRY_ASSIGN(
        const auto created, Log::open(path, log_config(wal::LogOptions::Open::create)));
    PROMTACT_TRY(append_records(context, *created, 1, records / 2));
    context.step("open the log again");
    PROMTACT_TRY_ASSIGN(
        const auto opened, Log::open(path, log_config(wal::LogOptions::Open::existing)));
    if (opened->last() != records / 2) {
        return Error{
            Errc::corrupt, 0,
            "the log was closed after record " + std::to_string(records / 2) +
                " and opened again after " + std::to_string(opened->last())};
    }
    PROMTACT_TRY(append_records(context, *opened, records / 2 + 1, records));
    return opened->stats();
}

Result<void> damage_record(const std::filesystem::path& directory) {
    PROMTACT_TRY_ASSIGN(
        const UniqueFd file, uring::open_direct(directory / wal::segment_name(1), O_RDWR));
    return flip_bit(file.get(), segment_blocks / 2 * block_bytes + block_bytes / 2);
}

/// What a reader that trusts nothing finds. Damage is an answer here, not an error.
struct Replay {
    std::uint64_t records = 0;
    std::uint64_t segments = 0;
    std::optional<std::string> fault{};
};

Result<Replay> replay(const GateContext& context, const std::filesystem::path& path) {
    const FileStorageOptions direct{
        .direct = FileStorageOptions::Direct::required, .read_only = true};
    PROMTACT_TRY_ASSIGN(const auto storage, FileStorage::open(path, direct));
    const std::uint64_t seed = context.options().seed;
    Replay found;
    wal::ScanOptions options;
    options.on_frame = [&](const wal::FrameHeader& header, std::span<const std::byte> frame) {
        wal::RecordCursor cursor(frame, header, wal::Layout::variable);
        wal::RecordView record;
        while (cursor.next(record)) {
            ++found.records;
            const bool same = record.lsn == found.records &&
                              record.tag.type == make_tag(seed, record.lsn).type &&
                              std::ranges::equal(record.payload, make_payload(seed, record.lsn));
            if (!same && !found.fault) {
                found.fault =
                    "record " + std::to_string(found.records) + " is not what was written";
            }
        }
    };
    wal::LogScan scan(*storage, options);
    scan.run();
    found.segments = scan.report().segments.size();
    if (scan.report().verdict != wal::Verdict::ok)
        found.fault = std::string(to_string(scan.report().verdict)) + ": " + scan.report().text;
    return found;
}

} // namespace

const GateInfo direct_wal_info{
    .id = "direct_wal",
    .revision = 2,
    .tier = Tier::storage,
    .title = "Write-ahead log on O_DIRECT: write, close, reopen, replay bit-exact",
    .qualifies = qualified,
    .requires_gates = required,
    .budget = std::chrono::seconds{30},
    .establishes =
        "records appended to a new log over io_uring and O_DIRECT, through many segments and with "
        "one flush per batch, survive close and reopen and replay bit for bit through other "
        "O_DIRECT descriptors",
    .does_not_establish = "survival of a power cut, or recovery of damaged logs beyond the control",
    .control = "flip_record_bit",
    .control_breaks =
        "one bit in the middle of the first segment is flipped on disk after the log was closed; "
        "replay must refuse the log",
    .remedy = "run the direct_io gate on the same directory; if it passes, keep the directory and "
              "report a bug"};

Result<GateReport> run_direct_wal(const GateContext& context) {
    const std::uint64_t records = records_of(context);
    const std::filesystem::path directory = target_directory(context);
    context.step("guard the log's directory");
    PROMTACT_TRY_ASSIGN(
        const GuardedPath log,
        GuardedPath::watch(
            directory / ("promtact-direct-wal-" + std::to_string(::getpid())),
            GuardedPath::Kind::directory));
    // Asked first, since the log itself would only say that it cannot be created.
    PROMTACT_TRY_ASSIGN(const ScratchFile place, direct_scratch(context));
    Replay found;
    const auto written = write_log(context, log.path());
    if (!written && !is_damage(written.error())) return written.error();
    if (!written) found.fault = written.error().context;
    if (context.sabotaged()) {
        context.step("flip one bit of a record");
        PROMTACT_TRY(damage_record(log.path()));
    }
    if (!found.fault) {
        context.step("replay through a second descriptor");
        PROMTACT_TRY_ASSIGN(found, replay(context, log.path()));
    }
    context.step("judge");
    GateReport report{.verdict = Verdict::pass};
    report.parameters = {
        {"records", records},
        {"batch", batch},
        {"segment_bytes", std::uint64_t{segment_blocks * block_bytes}},
        {"sample", std::string(to_string(context.options().sample))},
        {"filesystem", uring::filesystem_name(place.fd())}};
    report.measurements = {
        {"records_replayed", "count", "records equal to what was written, in order",
         Scalar{found.records}},
        {"segments", "count", "segments the log went over", Scalar{found.segments}},
        {"syncs", "count", "flushes of the second half", Scalar{written ? written->syncs : 0}}};
    if (found.fault || found.records != records) {
        report.verdict = Verdict::fail;
        report.reason = found.fault ? *found.fault
                                    : std::to_string(found.records) + " of " +
                                          std::to_string(records) + " records came back";
        return report;
    }
    report.summary = std::to_string(records) + " records replayed bit-exact after reopen";
    return report;
}

} // namespace promtact::gates
