// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "direct_wal/gate.hpp"

#include <optional>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <promtact/base/choice.h>
#include <promtact/base/error_text.hpp>
#include <promtact/uring/direct_file.hpp>
#include <promtact/wal/direct_log.hpp>

#include "storage_support/direct_target_internal.hpp"
#include "storage_support/guarded_path_internal.hpp"

namespace promtact::gates {
namespace {

using wal::DirectLog;
using wal::Record;

constexpr std::string_view qualified[] = {"wal", "uring"};
constexpr std::string_view required[] = {"direct_io"};
constexpr std::uint32_t batch = 16;

std::uint64_t records_of(const GateContext& context) {
    return context.quick() ? 320 : 10'000;
}

// Every field takes part, so that a field lost on the way is seen.
Record make_record(std::uint64_t seed, std::uint64_t sequence) {
    const auto word = [&](std::uint64_t field) {
        return promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, sequence, field);
    };
    return {
        .sequence = sequence,
        .index = word(1),
        .term = word(2),
        .command = word(3),
        .kind = static_cast<std::uint8_t>(word(4)),
        .old_voters = word(5),
        .new_voters = word(6),
        .operation = static_cast<std::uint8_t>(word(7)),
        .client_id = word(8),
        .request_id = word(9),
        .key = word(10),
        .value = word(11)};
}

wal::DirectLogOptions log_options(const GateContext& context) {
    wal::DirectLogOptions options;
    options.mode = uring::WriteMode::separate;
    options.batch = batch;
    options.preallocate_blocks = records_of(context);
    return options;
}

// An answer about the log, not about the host.
bool is_damage(const Error& error) {
    return error.code == Errc::corrupt || error.code == Errc::format;
}

Result<void>
append_records(const GateContext& context, DirectLog log, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t sequence = from; sequence <= to; ++sequence) {
        if (sequence % batch == 1) context.step("append record " + std::to_string(sequence));
        PROMTACT_TRY_ASSIGN(
            const std::uint64_t given, log.append(make_record(context.options().seed, sequence)));
        if (given != sequence) {
            return Error{
                Errc::corrupt, 0,
                "record " + std::to_string(sequence) + " was given sequence " +
                    std::to_string(given)};
        }
        if (sequence % batch == 0) PROMTACT_TRY(log.sync());
    }
    context.step("close the log");
    return log.close();
}

// Half the records into a new log, the rest after it was closed and opened again.
Result<void> write_log(const GateContext& context, const std::filesystem::path& path) {
    const std::uint64_t records = records_of(context);
    context.step("create the log");
    PROMTACT_TRY_ASSIGN(DirectLog created, DirectLog::create(path, log_options(context)));
    PROMTACT_TRY(append_records(context, std::move(created), 1, records / 2));
    context.step("open the log again");
    PROMTACT_TRY_ASSIGN(DirectLog opened, DirectLog::open(path, log_options(context)));
    if (opened.last_sequence() != records / 2) {
        return Error{
            Errc::corrupt, 0,
            "the log was closed after record " + std::to_string(records / 2) +
                " and opened again after " + std::to_string(opened.last_sequence())};
    }
    return append_records(context, std::move(opened), records / 2 + 1, records);
}

Result<void> damage_record(const std::filesystem::path& path, std::uint64_t sequence) {
    PROMTACT_TRY_ASSIGN(const UniqueFd file, uring::open_direct(path, O_RDWR));
    const std::uint64_t at = (sequence - 1) * wal::block_bytes + wal::RecordLayout::command;
    return flip_bit(file.get(), at);
}

// What a reader that trusts nothing finds. Damage is an answer here, not an error.
struct Replay {
    std::uint64_t records = 0;
    std::optional<std::string> fault{};
};

Result<Replay> replay(const GateContext& context, const std::filesystem::path& path) {
    Replay found;
    const std::uint64_t seed = context.options().seed;
    const auto recovery =
        wal::read_direct_log(path, log_options(context), [&](const Record& record) {
            ++found.records;
            if (!found.fault && record != make_record(seed, found.records)) {
                found.fault =
                    "record " + std::to_string(found.records) + " is not what was written";
            }
        });
    if (recovery) {
        if (!found.fault && recovery->records != found.records)
            found.fault = "recovery and replay count differently";
        return found;
    }
    if (!is_damage(recovery.error())) return recovery.error();
    found.fault = describe(recovery.error());
    return found;
}

} // namespace

const GateInfo direct_wal_info{
    .id = "direct_wal",
    .tier = Tier::storage,
    .title = "Write-ahead log on O_DIRECT: write, close, reopen, replay bit-exact",
    .qualifies = qualified,
    .requires_gates = required,
    .budget = std::chrono::seconds{30},
    .establishes =
        "records appended to a new log in 4096-byte direct blocks, with one flush per batch, "
        "survive "
        "close and reopen and replay field by field through a second O_DIRECT descriptor",
    .does_not_establish = "survival of a power cut, or recovery of damaged logs beyond the control",
    .control = "flip_record_byte",
    .control_breaks =
        "one bit of a record in the middle of the log is flipped on disk after the log was closed; "
        "replay must refuse it",
    .remedy = "run the direct_io gate on the same directory; if it passes, keep the file and "
              "report a bug"};

Result<GateReport> run_direct_wal(const GateContext& context) {
    const std::uint64_t records = records_of(context);
    const std::filesystem::path directory = target_directory(context);
    context.step("guard the file's name");
    PROMTACT_TRY_ASSIGN(
        const GuardedPath file,
        GuardedPath::watch(
            directory / ("promtact-direct-wal-" + std::to_string(::getpid()) + ".log")));
    // Asked first, since the log itself would only say that it cannot be created.
    PROMTACT_TRY_ASSIGN(const ScratchFile place, direct_scratch(context));
    Replay found;
    const auto written = write_log(context, file.path());
    if (!written && !is_damage(written.error())) return written.error();
    if (!written) found.fault = describe(written.error());
    if (context.sabotaged()) {
        context.step("flip one bit of a record");
        PROMTACT_TRY(damage_record(file.path(), records / 3));
    }
    if (!found.fault) {
        context.step("replay through a second descriptor");
        PROMTACT_TRY_ASSIGN(found, replay(context, file.path()));
    }
    context.step("judge");
    GateReport report{.verdict = Verdict::pass};
    report.parameters = {
        {"records", records},
        {"batch", std::uint64_t{batch}},
        {"record_bytes", std::uint64_t{wal::record_bytes}},
        {"block_bytes", std::uint64_t{wal::block_bytes}},
        {"sample", std::string(to_string(context.options().sample))},
        {"filesystem", uring::filesystem_name(place.fd())}};
    report.measurements = {
        {"records_replayed", "count", "records equal to what was written, in order",
         Scalar{found.records}}};
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
