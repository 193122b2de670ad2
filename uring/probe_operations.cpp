// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <string>

#include <fcntl.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/direct_file.hpp>
#include <promtact/uring/refusal.hpp>
#include <promtact/uring/ring.hpp>

#include "kernel_constants_internal.hpp"
#include "kernel_ring_internal.hpp"
#include "probe_internal.hpp"

namespace promtact::uring {
namespace {

constexpr std::chrono::nanoseconds patience = std::chrono::seconds{2};
constexpr FeatureGroup group = FeatureGroup::operation;

// One ring with one registered 4 KiB buffer and one registered scratch file.
struct Bench {
    Ring ring;
    AlignedBuffer buffer;
    UniqueFd file;
};

Result<Bench> make_bench(Ring ring, const std::filesystem::path& directory) {
    PROMTACT_TRY_ASSIGN(UniqueFd file, open_direct_scratch(directory));
    PROMTACT_TRY_ASSIGN(AlignedBuffer buffer, AlignedBuffer::allocate(1, block_bytes));
    const std::array buffers{buffer.all()};
    PROMTACT_TRY(ring.register_buffers(buffers));
    const std::array files{file.get()};
    PROMTACT_TRY(ring.register_files(files));
    return Bench{std::move(ring), std::move(buffer), std::move(file)};
}

Operation fixed_write(const Bench& bench) {
    return {
        .kind = OpKind::write_fixed,
        .registered_file = true,
        .file = 0,
        .data = bench.buffer.slot(0)};
}

Result<void> run(Bench& bench, std::span<const Operation> operations) {
    for (const Operation& operation : operations)
        PROMTACT_TRY(bench.ring.prepare(operation));
    std::array<Finished, 4> finished;
    const auto count = static_cast<std::uint32_t>(operations.size());
    PROMTACT_ASSERT(count <= finished.size());
    PROMTACT_TRY_ASSIGN(
        const std::size_t arrived,
        bench.ring.wait(std::span(finished).first(count), count, patience));
    if (arrived < count) return Error{Errc::timeout, ETIME, "probe operations were not answered"};
    for (std::size_t i = 0; i < arrived; ++i)
        PROMTACT_TRY(finished[i].check());
    return {};
}

void report_result(
    FeatureReport& report, const char* name, const Result<void>& result, const char* remedy) {
    if (result) {
        report.features.push_back(supported(group, name));
        return;
    }
    const Error& error = result.error();
    std::string reason = describe(error) + "; " + remedy;
    report.features.push_back(refused(group, name, error.sys_errno, std::move(reason)));
}

void probe_writes(FeatureReport& report, Bench& bench) {
    const Operation write = fixed_write(bench);
    const Operation sync{.kind = OpKind::sync_data, .registered_file = true, .file = 0};
    report_result(
        report, "fixed_write", run(bench, std::array{write}),
        "registered buffers cannot be written from on this filesystem");
    report_result(
        report, "data_sync", run(bench, std::array{sync}), "this filesystem cannot flush");
    Operation linked = write;
    linked.linked = true;
    report_result(
        report, "linked_write_fsync", run(bench, std::array{linked, sync}),
        "use separate submissions");
    Operation dsync = write;
    dsync.rw_flags = rwf_dsync;
    report_result(
        report, "RWF_DSYNC", run(bench, std::array{dsync}), "use a write followed by a data sync");
}

// Accepted only when the file says how large an atomic write may be, and the size fits.
void probe_atomic(FeatureReport& report, Bench& bench) {
    constexpr const char* name = "RWF_ATOMIC";
    const auto unit = atomic_write_unit(bench.file.get());
    Operation atomic = fixed_write(bench);
    atomic.rw_flags = rwf_atomic;
    const Result<void> written = run(bench, std::array{atomic});
    std::string units = "statx reports no atomic write unit";
    if (unit && unit->reported) {
        units = "statx reports atomic write units of " + std::to_string(unit->minimum) + " to " +
                std::to_string(unit->maximum) + " bytes";
    }
    report_result(
        report, name, written,
        (units + "; needs a device with atomic writes and ext4 or xfs on Linux 6.13").c_str());
}

// Polled completions need a device queue made for polling; the flag alone is always accepted.
void probe_polled_read(FeatureReport& report, const Bench& bench) {
    constexpr const char* name = "iopoll_read";
    KernelRing opened = open_kernel_ring(4, setup_iopoll);
    if (!opened.backend) {
        report.features.push_back(
            refused(group, name, opened.sys_errno, "IORING_SETUP_IOPOLL is refused, see there"));
        return;
    }
    Ring ring = Ring::over(std::move(opened.backend), {});
    const Operation read{
        .kind = OpKind::read, .file = bench.file.get(), .data = bench.buffer.slot(0)};
    std::array<Finished, 1> finished;
    Result<void> outcome = ring.prepare(read);
    if (outcome) {
        auto arrived = ring.wait(finished, 1, patience);
        if (!arrived) outcome = std::move(arrived).error();
    }
    if (outcome) {
        auto checked = finished[0].check();
        if (!checked) outcome = std::move(checked).error();
    }
    report_result(
        report, name, outcome,
        "the device has no polling queues (nvme.poll_queues=N, virtio num_poll_queues); use "
        "interrupts");
}

void probe_timeout(FeatureReport& report) {
    constexpr const char* name = "ext_arg_timeout";
    const KernelRing opened = open_kernel_ring(4, 0);
    // Nothing is in flight, so a wait for one completion can only end by its limit; without the
    // feature the call would not come back, hence the look at the mask first.
    const bool offered = opened.backend != nullptr && (opened.features & feat_ext_arg) != 0;
    const int rc = offered ? opened.backend->enter(1, std::chrono::microseconds{100}) : -EINVAL;
    if (rc == -ETIME) {
        report.features.push_back(supported(group, name));
    } else {
        report.features.push_back(
            refused(group, name, -rc, "waits cannot be limited; needs Linux 5.11"));
    }
}

void unknown(FeatureReport& report, const Error& error) {
    for (const char* name :
         {"fixed_write", "data_sync", "linked_write_fsync", "RWF_DSYNC", "RWF_ATOMIC",
          "iopoll_read"}) {
        report.features.push_back(
            {.group = group,
             .name = name,
             .support = Support::unknown,
             .sys_errno = error.sys_errno,
             .reason = "could not be tried: " + describe(error)});
    }
}

} // namespace

void probe_registrations(FeatureReport& report) {
    const KernelRing opened = open_kernel_ring(4, 0);
    auto buffer = AlignedBuffer::allocate(1, block_bytes);
    const auto note = [&report](const char* name, int rc, const std::string& remedy) {
        report.features.push_back(
            rc >= 0 ? supported(FeatureGroup::registration, name)
                    : refused(FeatureGroup::registration, name, -rc, remedy));
    };
    if (!opened.backend || !buffer) {
        for (const char* name : {"registered_buffers", "registered_files", "registered_ring"}) {
            report.features.push_back(
                {.group = FeatureGroup::registration,
                 .name = name,
                 .sys_errno = opened.sys_errno,
                 .reason = "could not be tried: no ring or no memory"});
        }
        return;
    }
    RingBackend& ring = *opened.backend;
    const std::array buffers{buffer->all()};
    const int buffers_rc = ring.register_buffers(buffers);
    note(
        "registered_buffers", buffers_rc,
        explain_buffer_refusal(-buffers_rc, block_bytes, read_surroundings()).context);
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    note(
        "registered_files", ring.register_files(std::array{null.get()}),
        "each operation looks its descriptor up");
    note("registered_ring", ring.register_ring(), "since Linux 5.18; each call looks the ring up");
}

void probe_operations(FeatureReport& report, const std::filesystem::path& directory) {
    probe_timeout(report);
    auto ring = Ring::open({.entries = 8});
    if (!ring) return unknown(report, ring.error());
    auto bench = make_bench(std::move(*ring), directory);
    if (!bench) return unknown(report, bench.error());
    report.filesystem = filesystem_name(bench->file.get());
    probe_writes(report, *bench);
    probe_atomic(report, *bench);
    probe_polled_read(report, *bench);
}

} // namespace promtact::uring
