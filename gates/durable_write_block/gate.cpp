// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "durable_write_block/gate.hpp"

#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include <promtact/base/destroy_guard.hpp>
#include <promtact/base/loop_device.hpp>

#include "storage_support/direct_target_internal.hpp"
#include "storage_support/durable_write_internal.hpp"

namespace promtact::gates {
namespace {

constexpr std::string_view qualified[] = {"uring"};
constexpr std::string_view required[] = {"direct_wal"};
constexpr std::uint64_t first_block = 256; // leaves a partition table and labels alone

// A second way to the same device; it must not be another one that took the name meanwhile.
Result<UniqueFd> open_reader(const std::string& path, DeviceNumber number) {
    UniqueFd file{::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)};
    if (!file) return Error::from_errno(errno, "open " + path + " for reading back");
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return Error::from_errno(errno, "stat " + path);
    if (device_number(status.st_rdev) != number)
        return Error{Errc::refused, 0, path + " became another device"};
    return file;
}

// The target, and the loop device below it when we made one.
struct Place {
    DurableTarget target{};
    std::optional<LoopDevice> loop{};
};

Result<Place> named_device(const GateContext& context) {
    const GateOptions& options = context.options();
    context.step("check every refusal and claim the device");
    PROMTACT_TRY_ASSIGN(
        ClaimedDevice claimed, claim_for_destruction(
                                   {.device = options.device.string(),
                                    .confirmation = options.confirm_destroy,
                                    .expected_size = options.expected_size,
                                    .start_block = first_block,
                                    .blocks = durable_plan(context).operations()}));
    Place place;
    context.step("open a reader");
    PROMTACT_TRY_ASSIGN(place.target.reader, open_reader(claimed.path, claimed.facts.number));
    place.target.writer = std::move(claimed.file);
    place.target.first_byte = claimed.first_byte;
    place.target.device = std::move(claimed.facts);
    place.target.kind = "block device";
    return place;
}

Result<Place> loop_device(const GateContext& context) {
    const std::uint64_t blocks = first_block + durable_plan(context).operations();
    context.step("create a loop device");
    PROMTACT_TRY_ASSIGN(
        LoopDevice loop,
        LoopDevice::create(
            {.directory = target_directory(context), .size_bytes = blocks * uring::block_bytes}));
    Place place;
    context.step("open a writer and a reader");
    PROMTACT_TRY_ASSIGN(place.target.writer, loop.open(O_RDWR | O_DIRECT | O_EXCL));
    PROMTACT_TRY_ASSIGN(place.target.device, find_block_device(loop.name()));
    PROMTACT_TRY_ASSIGN(place.target.reader, open_reader(loop.path(), place.target.device.number));
    place.target.first_byte = first_block * uring::block_bytes;
    place.target.kind = "loop device";
    place.loop.emplace(std::move(loop));
    return place;
}

} // namespace

const GateInfo durable_write_block_info{
    .id = "durable_write_block",
    .tier = Tier::storage,
    .title = "Durable 4 KiB writes to a block device, each flushed to it",
    .qualifies = qualified,
    .requires_gates = required,
    .budget = std::chrono::seconds{30},
    .establishes =
        "each 4 KiB write to the block device through a registered buffer and file was followed by "
        "a flush that reached it before it was reported durable, and reads back exactly through a "
        "second O_DIRECT descriptor",
    .does_not_establish =
        "that the device keeps flushed data when power is lost, or any minimum speed; on the loop "
        "device of the default run it says nothing about a physical disk",
    .control = "skip_flush",
    .control_breaks =
        "every write is reported durable without its flush; the device's flush counter must give "
        "it away",
    .remedy = "run as root for the loop device, or name an unused disk: --device D "
              "--confirm-destroy ERASE:D --expected-size BYTES"};

Result<GateReport> run_durable_write_block(const GateContext& context) {
    PROMTACT_TRY_ASSIGN(
        Place place,
        context.options().device.empty() ? loop_device(context) : named_device(context));
    place.target.filesystem = "none";
    // The sabotage: no flush, everything else alike.
    const auto mode =
        context.sabotaged() ? uring::WriteMode::write_only : uring::WriteMode::separate;
    PROMTACT_TRY_ASSIGN(
        GateReport report, run_durable_writes(context, std::move(place.target), mode));
    if (!place.loop) return report;
    report.parameters.push_back({"loop_direct_io", place.loop->direct_io()});
    report.notes.push_back(
        "the device is a loop device made for this run: it shows that the block path is correct, "
        "not how a real disk behaves; name one with --device");
    context.step("remove the loop device");
    PROMTACT_TRY(place.loop->remove());
    return report;
}

} // namespace promtact::gates
