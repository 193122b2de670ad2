// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "uring_probe/gate.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <fcntl.h>

#include <promtact/base/error_text.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/features.hpp>
#include <promtact/uring/ring.hpp>

#include "storage_support/direct_target_internal.hpp"

namespace promtact::gates {
namespace {

using uring::AlignedBuffer;
using uring::block_bytes;
using uring::Finished;
using uring::Operation;
using uring::OpKind;
using uring::Ring;
using uring::RingMode;

constexpr std::string_view qualified[] = {"uring"};
constexpr std::chrono::nanoseconds patience = std::chrono::seconds{10};

// One write of the registered buffer to the registered file, and what the WAL asks next.
struct Probe {
    const GateContext& context;
    Ring& ring;
    const AlignedBuffer& buffer;
    std::uint16_t buffer_index = 0;

    [[nodiscard]] Operation write(std::uint64_t block) const {
        return {
            .kind = OpKind::write_fixed,
            .registered_file = true,
            .file = 0,
            .offset = block * block_bytes,
            .data = buffer.slot(0),
            .buffer = buffer_index,
            .tag = block};
    }
    [[nodiscard]] static Operation sync() {
        return {.kind = OpKind::sync_data, .registered_file = true, .file = 0, .tag = 99};
    }

    // The first answer that is not success, as a sentence; empty when all succeeded.
    [[nodiscard]] Result<std::string> run(std::string_view what, std::span<const Operation> ops) {
        context.step(what);
        for (const Operation& operation : ops)
            PROMTACT_TRY(ring.prepare(operation));
        std::array<Finished, 4> answers{};
        PROMTACT_ASSERT(ops.size() <= answers.size());
        PROMTACT_TRY_ASSIGN(
            const std::size_t got,
            ring.wait(answers, static_cast<std::uint32_t>(ops.size()), patience));
        if (got != ops.size()) return std::string(what) + ": not every request was answered";
        for (std::size_t i = 0; i < got; ++i) {
            if (const auto result = answers[i].check(); !result)
                return std::string(what) + ": " + describe(result.error());
        }
        return std::string{};
    }
};

// Everything the WAL asks of a ring in this mode. The answer is empty, or what went wrong.
Result<std::string>
exercise(const GateContext& context, Ring& ring, const ScratchFile& file, AlignedBuffer& buffer) {
    const std::string mode(uring::to_string(ring.setup().mode));
    context.step(mode + ": register a buffer");
    const std::array buffers{buffer.all()};
    PROMTACT_TRY(ring.register_buffers(buffers));
    context.step(mode + ": register a file");
    const std::array files{file.fd()};
    PROMTACT_TRY(ring.register_files(files));
    // The sabotage: name a buffer that was never registered. Nothing else changes.
    Probe probe{context, ring, buffer, static_cast<std::uint16_t>(context.sabotaged() ? 1 : 0)};
    const std::array first{probe.write(0)};
    PROMTACT_TRY_ASSIGN(std::string fault, probe.run(mode + ": write a registered buffer", first));
    if (!fault.empty()) return fault;
    const std::array second{Probe::sync()};
    PROMTACT_TRY_ASSIGN(fault, probe.run(mode + ": sync the file", second));
    if (!fault.empty()) return fault;
    std::array linked{probe.write(1), Probe::sync()};
    linked[0].linked = true;
    PROMTACT_TRY_ASSIGN(fault, probe.run(mode + ": write and sync, linked", linked));
    if (!fault.empty()) return fault;
    Operation read = probe.write(1);
    read.kind = OpKind::read_fixed;
    const std::array third{read};
    PROMTACT_TRY_ASSIGN(fault, probe.run(mode + ": read into a registered buffer", third));
    if (!fault.empty()) return fault;
    context.step(mode + ": wait with a timeout");
    return std::string{};
}

Result<std::string>
try_mode(const GateContext& context, RingMode mode, const ScratchFile& file, GateReport& report) {
    const std::string name(uring::to_string(mode));
    context.step(name + ": set up a ring");
    auto ring = Ring::open({.entries = 8, .only = mode});
    if (!ring) {
        // Only the plain mode is owed by every kernel; the others are recorded.
        report.parameters.push_back({"ring_mode_" + name, "no: " + describe(ring.error())});
        if (mode == RingMode::plain) return std::move(ring).error();
        return std::string{};
    }
    report.parameters.push_back({"ring_mode_" + name, std::string("yes")});
    report.parameters.push_back({"ring_registered_" + name, ring->setup().ring_registered});
    PROMTACT_TRY_ASSIGN(AlignedBuffer buffer, AlignedBuffer::allocate(1, block_bytes));
    fill_pattern(buffer.all(), context.options().seed, 0);
    PROMTACT_TRY_ASSIGN(std::string fault, exercise(context, *ring, file, buffer));
    context.step(name + ": drain");
    PROMTACT_TRY(ring->drain(patience));
    return fault;
}

void record_features(const uring::FeatureReport& found, GateReport& report) {
    for (const uring::Feature& feature : found.features) {
        std::string text(uring::to_string(feature.support));
        if (feature.sys_errno != 0) text += " (" + errno_name(feature.sys_errno) + ")";
        report.parameters.push_back({feature.name, std::move(text)});
    }
    const auto yes = static_cast<std::uint64_t>(
        std::count_if(found.features.begin(), found.features.end(), [](const uring::Feature& f) {
            return f.support == uring::Support::yes;
        }));
    report.measurements.push_back(
        {"features_offered", "count", "features that succeeded when attempted", Scalar{yes}});
    report.measurements.push_back(
        {"features_attempted", "count", "features attempted", Scalar{found.features.size()}});
    report.measurements.push_back(
        {"last_opcode", "count", "highest opcode of IORING_REGISTER_PROBE",
         Scalar{found.last_opcode}});
}

// No ring at all: the kernel lacks it, or somebody forbids it.
Error refusal(const uring::FeatureReport& found) {
    const Errc code = errc_from_errno(found.sys_errno);
    const bool absent = code == Errc::unsupported;
    const bool forbidden = code == Errc::denied || found.sys_errno == ENOMEM;
    return Error{
        absent      ? Errc::unsupported
        : forbidden ? Errc::denied
                    : code,
        found.sys_errno, found.reason};
}

} // namespace

const GateInfo uring_probe_info{
    .id = "uring_probe",
    .tier = Tier::kernel,
    .title = "io_uring setup, registrations and the operations the WAL needs",
    .qualifies = qualified,
    .budget = std::chrono::seconds{10},
    .establishes =
        "this kernel lets this process set up a ring, register a buffer and a file, and answers "
        "WRITE_FIXED, READ_FIXED, FSYNC and a linked WRITE_FIXED and FSYNC with success, in every "
        "ring mode it offers",
    .does_not_establish = "durability, performance, behaviour under memory pressure",
    .control = "unregistered_buffer",
    .control_breaks =
        "the write names a buffer that was never registered; the kernel must refuse it and the "
        "refusal must be seen",
    .remedy = "see the reason: usually kernel.io_uring_disabled, a container's seccomp filter, or "
              "RLIMIT_MEMLOCK"};

Result<GateReport> run_uring_probe(const GateContext& context) {
    context.step("attempt every feature");
    const uring::FeatureReport found = uring::probe_features(target_directory(context));
    if (found.io_uring != uring::Support::yes) return refusal(found);
    GateReport report{.verdict = Verdict::pass};
    record_features(found, report);
    context.step("create a nameless file");
    PROMTACT_TRY_ASSIGN(ScratchFile file, ScratchFile::create(target_directory(context)));
    PROMTACT_TRY(file.fill_with_zeros(4 * block_bytes));
    for (const RingMode mode : {RingMode::deferred, RingMode::cooperative, RingMode::plain}) {
        PROMTACT_TRY_ASSIGN(std::string fault, try_mode(context, mode, file, report));
        if (fault.empty()) continue;
        report.verdict = Verdict::fail;
        report.reason = std::move(fault);
        return report;
    }
    context.step("judge");
    report.summary = "every operation of the WAL answered in every ring mode offered";
    return report;
}

} // namespace promtact::gates
