// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/disk_watch.hpp>

namespace promtact {

DiskTraffic& DiskTraffic::operator+=(const DiskTraffic& other) noexcept {
    flushes += other.flushes;
    writes += other.writes;
    write_bytes += other.write_bytes;
    return *this;
}

DiskTraffic operator-(const DiskTraffic& later, const DiskTraffic& earlier) noexcept {
    const auto minus = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
    return {
        .flushes = minus(later.flushes, earlier.flushes),
        .writes = minus(later.writes, earlier.writes),
        .write_bytes = minus(later.write_bytes, earlier.write_bytes)};
}

Result<DiskWatch> DiskWatch::below(const BlockDeviceFacts& device, const SystemRoots& roots) {
    std::vector<BlockDeviceFacts> disks;
    for (const std::string& name : devices_below(device, roots)) {
        PROMTACT_TRY_ASSIGN(BlockDeviceFacts facts, find_block_device(name, roots));
        if (facts.is_partition() || !facts.slaves.empty()) continue;
        PROMTACT_TRY_ASSIGN(const BlockCounters counters, read_block_counters(name, roots));
        if (!counters.flushes) {
            return Error{
                Errc::unsupported, 0,
                "count flushes of " + name + ": its stat file has no flush counter"};
        }
        disks.push_back(std::move(facts));
    }
    PROMTACT_ASSERT(!disks.empty()); // the device itself is one when nothing lies below
    return DiskWatch{std::move(disks), roots};
}

std::string DiskWatch::names() const {
    std::string text;
    for (const BlockDeviceFacts& disk : disks_)
        text += (text.empty() ? "" : "+") + disk.name;
    return text;
}

bool DiskWatch::expects_flushes() const noexcept {
    for (const BlockDeviceFacts& disk : disks_)
        if (disk.has_volatile_cache()) return true;
    return false;
}

Result<DiskTraffic> DiskWatch::read() const {
    DiskTraffic sum;
    for (const BlockDeviceFacts& disk : disks_) {
        PROMTACT_TRY_ASSIGN(const BlockCounters now, read_block_counters(disk.name, roots_));
        sum +=
            {.flushes = now.flushes.value_or(0),
             .writes = now.writes,
             .write_bytes = now.write_bytes};
    }
    return sum;
}

} // namespace promtact
