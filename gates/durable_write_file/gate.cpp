// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "durable_write_file/gate.hpp"

#include <fcntl.h>

#include "storage_support/direct_target_internal.hpp"
#include "storage_support/durable_write_internal.hpp"

namespace promtact::gates {
namespace {

constexpr std::string_view qualified[] = {"uring"};
constexpr std::string_view required[] = {"direct_wal"};

} // namespace

const GateInfo durable_write_file_info{
    .id = "durable_write_file",
    .tier = Tier::storage,
    .title = "Durable 4 KiB writes to a file, each flushed to the disk",
    .qualifies = qualified,
    .requires_gates = required,
    .budget = std::chrono::seconds{30},
    .establishes =
        "each 4 KiB write to existing blocks through a registered buffer and file was followed "
        "by a flush that reached the block device before it was reported durable, and reads "
        "back exactly through a second O_DIRECT descriptor",
    .does_not_establish =
        "that the device keeps flushed data when power is lost, that a hypervisor below passes "
        "the flush on, behaviour of growing files, or any minimum speed",
    .control = "skip_flush",
    .control_breaks =
        "every write is reported durable without its flush; the disk's flush counter must give "
        "it away",
    .remedy = "choose a directory on a local filesystem mounted with barriers; a filesystem or "
              "disk that drops flushes cannot carry the log"};

Result<GateReport> run_durable_write_file(const GateContext& context) {
    const std::uint64_t bytes = durable_plan(context).operations() * uring::block_bytes;
    context.step("create a nameless file");
    PROMTACT_TRY_ASSIGN(ScratchFile file, direct_scratch(context));
    context.step("find the disk below it");
    PROMTACT_TRY_ASSIGN(FileLocation location, locate(file.fd()));
    context.step("write zeros over all its blocks");
    PROMTACT_TRY(file.fill_with_zeros(bytes));
    DurableTarget target;
    context.step("open a writer and a reader");
    PROMTACT_TRY_ASSIGN(target.writer, file.reopen(O_RDWR | O_DIRECT));
    PROMTACT_TRY_ASSIGN(target.reader, file.reopen(O_RDONLY | O_DIRECT));
    target.device = std::move(location.device);
    target.kind = "file";
    target.filesystem = location.mount.filesystem;
    // The sabotage: no flush, everything else alike.
    const auto mode =
        context.sabotaged() ? uring::WriteMode::write_only : uring::WriteMode::separate;
    PROMTACT_TRY_ASSIGN(GateReport report, run_durable_writes(context, std::move(target), mode));
    report.parameters.push_back({"mount_options", location.mount.options});
    return report;
}

} // namespace promtact::gates
