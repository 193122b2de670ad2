// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "storage_faults/gate.hpp"

#include <array>
#include <cerrno>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/error_text.hpp>
#include <promtact/uring/direct_file.hpp>

#include "storage_faults/session_internal.hpp"
#include "storage_support/direct_target_internal.hpp"
#include "storage_support/guarded_path_internal.hpp"

namespace promtact::gates {
namespace {

using storage_faults::Session;
using wal::FaultRule;
using wal::LogCore;
using wal::StorageFault;

constexpr std::string_view qualified[] = {"wal", "uring"};
constexpr std::string_view required[] = {"direct_io"};
constexpr std::uint32_t records_before = 8;
constexpr std::uint32_t records_struck = 40;    // no segment is full by then
constexpr std::uint32_t records_rotating = 500; // three are

/// What the log must do about a fault.
enum class Answer : std::uint8_t {
    goes_on,   // every append is acknowledged, and is there afterwards
    poisoned,  // fail-stop with the errno of the fault; what was acknowledged is there afterwards
    refuses,   // the device lied: the next opening must notice
    open_fails // the opening is refused as unreadable, and changes nothing
};

struct Case {
    std::string_view name{};
    FaultRule rule{};
    Answer answer = Answer::goes_on;
    std::uint32_t records = records_struck;
    std::array<std::uint64_t, 3> positions{0, 2, 17}; // matching requests that pass before
};

const Case cases[] = {
    {"write fails", {.kind = IoKind::write, .sys_errno = EIO}, Answer::poisoned},
    {"write fails although it happened",
     {.kind = IoKind::write, .fault = StorageFault::fail_done, .sys_errno = EIO},
     Answer::poisoned},
    {"flush fails", {.kind = IoKind::sync_data, .sys_errno = EIO}, Answer::poisoned},
    {"flush fails although it happened",
     {.kind = IoKind::sync_data, .fault = StorageFault::fail_done, .sys_errno = EIO},
     Answer::poisoned},
    {"flush finds the device full",
     {.kind = IoKind::sync_data, .sys_errno = ENOSPC},
     Answer::poisoned},
    {"write is to be tried again", {.kind = IoKind::write, .sys_errno = EAGAIN}, Answer::goes_on},
    {"write is short",
     {.kind = IoKind::write, .fault = StorageFault::short_count, .amount = wal::block_bytes},
     Answer::goes_on},
    {"write stays short",
     {.kind = IoKind::write,
      .count = 8,
      .fault = StorageFault::short_count,
      .sys_errno = 0,
      .amount = wal::block_bytes},
     Answer::poisoned},
    {"no room for a new segment",
     {.kind = IoKind::allocate, .sys_errno = ENOSPC},
     Answer::goes_on,
     records_rotating,
     {0, 1, 1}},
    {"completions come in another order",
     {.count = 10, .fault = StorageFault::reordered},
     Answer::goes_on},
    // From then on no answer can be believed.
    {"a completion comes twice",
     {.fault = StorageFault::duplicated, .sys_errno = EPROTO},
     Answer::poisoned},
    {"a completion of nobody's request",
     {.fault = StorageFault::stranger, .sys_errno = EPROTO},
     Answer::poisoned},
    {"completions are late",
     {.count = 10, .fault = StorageFault::slow, .amount = 50},
     Answer::goes_on},
    {"written data rots",
     {.kind = IoKind::write, .fault = StorageFault::bit_rot, .amount = 801},
     Answer::refuses},
    {"write is lost", {.kind = IoKind::write, .fault = StorageFault::lost}, Answer::refuses},
    {"write is torn and called whole",
     {.kind = IoKind::write, .fault = StorageFault::torn, .amount = wal::block_bytes},
     Answer::refuses},
    {"read fails at opening",
     {.kind = IoKind::read, .sys_errno = EIO},
     Answer::open_fails,
     records_struck,
     {0, 1, 1}},
    {"read gives zeros at opening",
     {.kind = IoKind::read, .fault = StorageFault::phantom},
     Answer::open_fails,
     records_rotating,
     {1, 1, 1}},
};

/// Appends one record per group until they are done or the log is poisoned.
bool append(Session& session, std::uint32_t records) {
    for (std::uint32_t i = 0; i < records && !session.log().poisoned();) {
        const auto lsn = session.append();
        i += lsn ? 1 : 0;
        if (!lsn && lsn.error().code != Errc::busy && lsn.error().code != Errc::no_space)
            return session.log().poisoned();
        if (!session.drain()) return false;
    }
    return true;
}

// What follows returns what went wrong, in words; empty: nothing.

std::string judge_poison(Session& session, int sys_errno) {
    if (!session.log().poisoned()) return "the log went on";
    if (sys_errno != 0 && session.log().poison().sys_errno != sys_errno) {
        return "poisoned with errno " + std::to_string(session.log().poison().sys_errno) +
               " instead of " + std::to_string(sys_errno);
    }
    const wal::Lsn durable = session.log().durable();
    const auto more = session.append();
    if (more || more.error().code != Errc::poisoned) return "an append after it was not refused";
    if (!session.drain() || session.log().durable() != durable)
        return "something became durable after it";
    return {};
}

/// The opening after the fault, without any.
std::string judge_reopened(Session& session, const Case& row, wal::Lsn acknowledged) {
    if (!session.settle()) return "the next opening does not end";
    LogCore& log = session.log();
    if (session.wrong() > 0) return "the next opening shows a record with other content";
    if (row.answer == Answer::refuses) {
        const bool noticed =
            log.state() == LogCore::State::refused && log.open_error().code != Errc::io;
        return noticed ? "" : "the next opening does not notice";
    }
    if (log.state() != LogCore::State::ready)
        return "the next opening is refused: " + log.open_error().context;
    if (log.last() >= acknowledged) return {};
    return "acknowledged through LSN " + std::to_string(acknowledged) + ", found through " +
           std::to_string(log.last());
}

/// An opening with the fault there from the first request on.
std::string judge_struck_opening(Session& session) {
    if (!session.settle()) return "the opening does not end";
    if (session.struck() == 0) return "the fault never came";
    return session.log().state() == LogCore::State::refused ? "" : "the opening succeeds";
}

/// Appends without the fault, then with it, unless it belongs to an opening.
std::string judge_appends(Session& session, const Case& row, const FaultRule& rule) {
    if (!session.settle() || session.log().state() != LogCore::State::ready)
        return "no log to begin with";
    if (!append(session, records_before) || !session.rest()) return "no rest before the fault";
    const bool struck = row.answer != Answer::open_fails;
    if (struck) session.add(rule);
    if (!append(session, row.records)) return "an append has no outcome";
    if (struck && session.struck() == 0) return "the fault never came";
    if (row.answer == Answer::poisoned) return judge_poison(session, rule.sys_errno);
    if (session.log().poisoned()) return "poisoned: " + describe(session.log().poison());
    if (session.acknowledged() == records_before + row.records) return {};
    return "only LSN " + std::to_string(session.acknowledged()) + " was acknowledged";
}

Result<std::string> run_case(
    const std::filesystem::path& directory, const Case& row, std::uint64_t position,
    bool sabotaged) {
    FaultRule rule = row.rule;
    rule.after = position;
    // What a flush chained to a write by IOSQE_IO_HARDLINK does: it runs after a short write, too,
    // and whoever looks at its result alone acknowledges half a frame.
    if (sabotaged && rule.fault == StorageFault::short_count) rule.fault = StorageFault::torn;
    wal::Lsn acknowledged = 0;
    {
        PROMTACT_TRY_ASSIGN(const auto session, Session::open(directory));
        std::string wrong = judge_appends(*session, row, rule);
        if (!wrong.empty()) return wrong;
        acknowledged = session->acknowledged();
    }
    if (row.answer == Answer::open_fails) {
        PROMTACT_TRY_ASSIGN(const auto session, Session::open(directory, rule));
        std::string wrong = judge_struck_opening(*session);
        if (!wrong.empty()) return wrong;
    }
    PROMTACT_TRY_ASSIGN(const auto session, Session::open(directory));
    return judge_reopened(*session, row, acknowledged);
}

} // namespace

const GateInfo storage_faults_info{
    .id = "storage_faults",
    .tier = Tier::storage,
    .title = "Write-ahead log on io_uring: what it does when storage fails or lies",
    .qualifies = qualified,
    .requires_gates = required,
    .budget = std::chrono::seconds{40},
    .establishes =
        "on this host's files the log goes on after what may be repeated, stops for ever after a "
        "failed write or flush, keeps what it acknowledged, and notices at the next opening when "
        "storage lost, tore or changed what it had called written",
    .does_not_establish = "how often this host's devices fail or lie; the faults are injected "
                          "between the log and io_uring",
    .control = "hardlink",
    .control_breaks = "a short write is answered as whole, as whoever chains the flush with "
                      "IOSQE_IO_HARDLINK sees it; an acknowledged record must be missing",
    .remedy = "the reason names the fault and its position: keep the directory and report a bug"};

Result<GateReport> run_storage_faults(const GateContext& context) {
    PROMTACT_TRY_ASSIGN(const ScratchFile place, direct_scratch(context));
    const std::string stem = "promtact-storage-faults-" + std::to_string(::getpid()) + "-";
    GateReport report{.verdict = Verdict::pass};
    std::uint64_t tried = 0;
    for (const Case& row : cases) {
        for (std::size_t i = 0; i < row.positions.size() && report.reason.empty(); ++i) {
            if (context.quick() && i > 0) break;
            const std::uint64_t position = row.positions[i];
            context.step(std::string(row.name) + ", position " + std::to_string(position));
            PROMTACT_TRY_ASSIGN(
                const GuardedPath directory,
                GuardedPath::watch(
                    target_directory(context) / (stem + std::to_string(tried)),
                    GuardedPath::Kind::directory));
            if (::mkdir(directory.path().c_str(), 0700) != 0)
                return Error::from_errno(errno, "make directory " + directory.path().string());
            PROMTACT_TRY_ASSIGN(
                const auto found, run_case(directory.path(), row, position, context.sabotaged()));
            ++tried;
            if (!found.empty()) {
                report.reason =
                    std::string(row.name) + ", position " + std::to_string(position) + ": " + found;
            }
        }
    }
    context.step("judge");
    report.parameters = {
        {"faults", std::uint64_t{std::size(cases)}},
        {"sample", std::string(to_string(context.options().sample))},
        {"filesystem", uring::filesystem_name(place.fd())}};
    report.measurements = {
        {"runs", "count", "a new log, a fault at one position, and the next opening",
         Scalar{tried}}};
    if (!report.reason.empty()) {
        report.verdict = Verdict::fail;
        return report;
    }
    report.summary = std::to_string(std::size(cases)) + " faults, " + std::to_string(tried) +
                     " runs: as promised, and nothing acknowledged was lost";
    return report;
}

} // namespace promtact::gates
