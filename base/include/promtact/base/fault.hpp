// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Everything that can go wrong in a run, as plain data: one vocabulary for the simulator, the
// kernel and user-space relays.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/strong_id.hpp>
#include <promtact/base/units.hpp>

namespace promtact {

/// A point of virtual time, 0 = the start of the run.
using Step = StrongId<struct StepTag>;

/// 1 .. 64.
using NodeId = StrongId<struct NodeIdTag, std::uint32_t>;

inline constexpr std::uint32_t nodes_max = 64;

/// The end of a fault that lasts until the run ends.
inline constexpr Step end_of_run{std::numeric_limits<std::uint64_t>::max()};

enum class FaultKind : std::uint8_t {
    split,     // a and b do not hear each other
    isolate,   // the nodes in a hear nobody, not even each other
    link,      // nothing travels from a to b; the way back works
    loss,      // messages vanish one by one
    burst,     // messages vanish in runs (Gilbert-Elliott)
    delay,     // messages arrive later
    reorder,   // some messages are held back behind later ones
    duplicate, // messages arrive twice
    corrupt,   // messages arrive damaged
    rate,      // the link carries so much and no more
    flap,      // the link goes down and up
    crash,     // nodes in a lose their memory and stop
    restart,   // nodes in a stop and come back at once
    pause,     // nodes in a do not run
    clock,     // clocks of nodes in a run fast or slow, or jump
    disk,      // disks of nodes in a misbehave
    reset,     // TCP connections are reset (kernel only)
    syn,       // TCP connections are not established (kernel only)
    mtu,       // large packets vanish (kernel only)
};

inline constexpr std::array all_fault_kinds{
    FaultKind::split,   FaultKind::isolate, FaultKind::link,    FaultKind::loss,
    FaultKind::burst,   FaultKind::delay,   FaultKind::reorder, FaultKind::duplicate,
    FaultKind::corrupt, FaultKind::rate,    FaultKind::flap,    FaultKind::crash,
    FaultKind::restart, FaultKind::pause,   FaultKind::clock,   FaultKind::disk,
    FaultKind::reset,   FaultKind::syn,     FaultKind::mtu,
};

/// The word in a scenario file.
constexpr std::string_view to_string(FaultKind kind) noexcept {
    constexpr std::array<std::string_view, all_fault_kinds.size()> names{
        "split",     "isolate", "link",  "loss", "burst", "delay",   "reorder",
        "duplicate", "corrupt", "rate",  "flap", "crash", "restart", "pause",
        "clock",     "disk",    "reset", "syn",  "mtu"};
    return names[static_cast<std::size_t>(kind)];
}

constexpr std::optional<FaultKind> fault_kind_from(std::string_view text) noexcept {
    for (const FaultKind kind : all_fault_kinds)
        if (to_string(kind) == text) return kind;
    return std::nullopt;
}

static_assert(to_string(all_fault_kinds.front()) == "split");
static_assert(to_string(all_fault_kinds.back()) == "mtu");

/// True for faults of connections and packets, which no simulator of messages can honour.
constexpr bool is_kernel_only(FaultKind kind) noexcept {
    return kind == FaultKind::reset || kind == FaultKind::syn || kind == FaultKind::mtu;
}

/// A length of time as the file wrote it: in steps, or as wall time ("25ms").
struct FaultDuration {
    enum class Unit : std::uint8_t { steps, nanoseconds } unit = Unit::steps;
    std::uint64_t count = 0;
    friend bool operator==(const FaultDuration&, const FaultDuration&) = default;
};

/// Each message is dropped on its own.
struct LossParams {
    Ppm probability{};
    friend bool operator==(const LossParams&, const LossParams&) = default;
};

/// Gilbert-Elliott: two states with their own loss. Mean burst length = 1 / leave_bad.
struct BurstParams {
    Ppm enter_bad{}; // good to bad, per message
    Ppm leave_bad{}; // bad to good, per message
    Ppm loss_good{}; // usually 0
    Ppm loss_bad{Ppm(Ppm::one)};
    friend bool operator==(const BurstParams&, const BurstParams&) = default;
};

/// How a delay is spread around its base.
enum class DelayShape : std::uint8_t {
    fixed,   // jitter is 0
    uniform, // base - jitter .. base + jitter
    normal,  // jitter is the standard deviation, by an integer quantile table
    pareto,  // heavy tail, by an integer quantile table
    table,   // measured: quantiles of a results file
};

struct DelayParams {
    FaultDuration base{};
    FaultDuration jitter{};
    DelayShape shape = DelayShape::fixed;
    std::vector<std::uint64_t> quantiles{}; // ns at equal probability steps, ascending; for table
    std::string results_file{};             // where the quantiles came from
    bool keep_order = false;                // a message never overtakes an earlier one
    friend bool operator==(const DelayParams&, const DelayParams&) = default;
};

struct ReorderParams {
    Ppm probability{};
    FaultDuration hold{};       // how long a message is held back
    std::uint32_t held_max = 1; // messages held back at once
    friend bool operator==(const ReorderParams&, const ReorderParams&) = default;
};

/// A message arrives twice; the copy travels on its own.
struct DuplicateParams {
    Ppm probability{};
    friend bool operator==(const DuplicateParams&, const DuplicateParams&) = default;
};

struct CorruptParams {
    Ppm probability{};
    bool detected =
        true; // the checksum no longer fits; false: repaired, so the damage gets through
    std::uint32_t bits = 1;
    friend bool operator==(const CorruptParams&, const CorruptParams&) = default;
};

struct RateParams {
    std::uint64_t bits_per_second = 0;
    Bytes queue{}; // beyond it, messages are dropped
    friend bool operator==(const RateParams&, const RateParams&) = default;
};

/// up, then down, again and again; phase is where in the cycle the fault starts.
struct FlapParams {
    FaultDuration up{};
    FaultDuration down{};
    FaultDuration phase{};
    friend bool operator==(const FlapParams&, const FlapParams&) = default;
};

struct ClockParams {
    std::int32_t rate_ppm = 0; // how much faster than true time; negative: slower
    std::int64_t jump_ns = 0;  // once, at the start of the fault
    friend bool operator==(const ClockParams&, const ClockParams&) = default;
};

enum class DiskFault : std::uint8_t {
    torn,        // a crash keeps an arbitrary part of a write in flight
    lost,        // a completed write or sync never happened
    misdirected, // a write lands elsewhere
    bitrot,      // stored bits change
    latent,      // sectors that cannot be read
    slow,        // requests take longer
    full,        // no space left
    eio,         // requests fail
};

inline constexpr std::array all_disk_faults{
    DiskFault::torn,   DiskFault::lost, DiskFault::misdirected, DiskFault::bitrot,
    DiskFault::latent, DiskFault::slow, DiskFault::full,        DiskFault::eio,
};

constexpr std::string_view to_string(DiskFault fault) noexcept {
    constexpr std::array<std::string_view, all_disk_faults.size()> names{
        "torn", "lost", "misdirected", "bitrot", "latent", "slow", "full", "eio"};
    return names[static_cast<std::size_t>(fault)];
}

constexpr std::optional<DiskFault> disk_fault_from(std::string_view text) noexcept {
    for (const DiskFault fault : all_disk_faults)
        if (to_string(fault) == text) return fault;
    return std::nullopt;
}

struct DiskParams {
    DiskFault fault = DiskFault::eio;
    Ppm probability{};     // per request; per stored block for bitrot and latent
    FaultDuration delay{}; // for slow
    Bytes capacity{};      // for full: how much may still be written
    friend bool operator==(const DiskParams&, const DiskParams&) = default;
};

struct ResetParams {
    Ppm probability{}; // per segment
    friend bool operator==(const ResetParams&, const ResetParams&) = default;
};

struct SynParams {
    Ppm probability{}; // per connection attempt
    friend bool operator==(const SynParams&, const SynParams&) = default;
};

struct MtuParams {
    Bytes largest{}; // packets above it vanish
    friend bool operator==(const MtuParams&, const MtuParams&) = default;
};

/// monostate for kinds without parameters: split, isolate, link, crash, restart, pause.
using FaultParams = std::variant<
    std::monostate, LossParams, BurstParams, DelayParams, ReorderParams, DuplicateParams,
    CorruptParams, RateParams, FlapParams, ClockParams, DiskParams, ResetParams, SynParams,
    MtuParams>;

/// The parameters a kind takes, all at their defaults.
inline FaultParams default_params(FaultKind kind) {
    switch (kind) {
    case FaultKind::split:
    case FaultKind::isolate:
    case FaultKind::link:
    case FaultKind::crash:
    case FaultKind::restart:
    case FaultKind::pause:
        return std::monostate{};
    case FaultKind::loss:
        return LossParams{};
    case FaultKind::burst:
        return BurstParams{};
    case FaultKind::delay:
        return DelayParams{};
    case FaultKind::reorder:
        return ReorderParams{};
    case FaultKind::duplicate:
        return DuplicateParams{};
    case FaultKind::corrupt:
        return CorruptParams{};
    case FaultKind::rate:
        return RateParams{};
    case FaultKind::flap:
        return FlapParams{};
    case FaultKind::clock:
        return ClockParams{};
    case FaultKind::disk:
        return DiskParams{};
    case FaultKind::reset:
        return ResetParams{};
    case FaultKind::syn:
        return SynParams{};
    case FaultKind::mtu:
        return MtuParams{};
    }
    PROMTACT_UNREACHABLE();
}

/// One thing that goes wrong, in the half-open window [start, end).
struct Fault {
    FaultKind kind = FaultKind::split;
    Step start{};
    Step end = end_of_run;
    std::vector<NodeId> a{}; // split: one side; link and link faults: senders; else: the nodes
    std::vector<NodeId> b{}; // split: other side; link and link faults: receivers; else: empty
    FaultParams params{};
    std::uint32_t line = 0; // where the file says so, for messages; 0 when built by a program
    std::uint32_t column = 0;

    [[nodiscard]] bool active(Step at) const noexcept { return start <= at && at < end; }
    /// The alternative in params is the one this kind takes.
    [[nodiscard]] bool params_fit() const { return default_params(kind).index() == params.index(); }
};

} // namespace promtact
