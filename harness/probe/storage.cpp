// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Source: open(2) O_TMPFILE and O_DIRECT, statx(2), Documentation/ABI/stable/sysfs-block.
#include <algorithm>
#include <array>

#include <fcntl.h>
#include <sys/statvfs.h>

#include <fmt/format.h>

#include <promtact/base/block_device.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/base/scratch_file.hpp>
#include <promtact/uring/direct_file.hpp>

#include "probe/sources.hpp"

namespace promtact::harness::probe {

namespace {

// Storage gates write less than this; the rest is room for results.
constexpr std::uint64_t space_wanted_bytes = std::uint64_t{512} << 20U;
constexpr std::array<std::string_view, 3> memory_filesystems{"tmpfs", "ramfs", "devtmpfs"};
constexpr std::string_view other_directory = "give -directory DIR on the disk to be qualified";

void add_filesystem(Section& section, const Result<Mount>& mount) {
    if (!mount) return section.unknown("filesystem", describe(mount.error()));
    const std::string value = fmt::format(
        "{} from {} at {} ({})", mount->filesystem, mount->source, mount->mount_point,
        mount->options);
    if (std::ranges::find(memory_filesystems, mount->filesystem) == memory_filesystems.end())
        return section.yes("filesystem", value);
    section.add(
        {.name = "filesystem",
         .answer = Answer::no,
         .value = value,
         .reason = "files live in memory, so nothing can be durable",
         .remedy = std::string(other_directory)});
}

void add_space(Section& section, int directory) {
    struct statvfs space {};
    if (::fstatvfs(directory, &space) != 0)
        return section.unknown("free_space", "statvfs: " + errno_name(errno));
    const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
    const std::string value = fmt::format("{} MiB free", free >> 20U);
    if (free >= space_wanted_bytes) return section.yes("free_space", value);
    section.add(
        {.name = "free_space",
         .answer = Answer::no,
         .value = value,
         .reason = fmt::format("storage gates want {}", format_size(Bytes{space_wanted_bytes})),
         .remedy = "free some, or " + std::string(other_directory)});
}

void add_alignment(Section& section, int fd) {
    const auto alignment = uring::direct_io_alignment(fd);
    if (!alignment)
        return section.no("direct_io_alignment", describe(alignment.error()), other_directory);
    const std::string value =
        fmt::format("memory {}, offset and length {} bytes", alignment->memory, alignment->offset);
    if (alignment->reported) return section.yes("direct_io_alignment", value);
    section.unknown(
        "direct_io_alignment", "statx(2) reports no STATX_DIOALIGN (Linux 6.1); " + value +
                                   " is used, which is enough for every known device");
}

void add_atomic_writes(Section& section, int fd) {
    const auto unit = uring::atomic_write_unit(fd);
    if (!unit) return section.unknown("atomic_writes", describe(unit.error()));
    if (!unit->reported) {
        return section.unknown(
            "atomic_writes", "statx(2) reports no STATX_WRITE_ATOMIC (Linux 6.11); gates do not "
                             "need it");
    }
    if (unit->maximum > 0) {
        return section.yes(
            "atomic_writes", fmt::format("{} to {} bytes", unit->minimum, unit->maximum));
    }
    section.no(
        "atomic_writes", "the filesystem or its device offers none, so a torn block must be "
                         "expected; gates do not need it");
}

/// Everything that only a file of ours can tell.
void add_file_facts(Section& section, const std::filesystem::path& directory) {
    const auto scratch = ScratchFile::create(directory);
    if (!scratch) {
        const std::string why = describe(scratch.error());
        section.no("writable", why, "give -directory DIR that this user may write to");
        for (const std::string_view name : {"direct_io", "direct_io_alignment", "atomic_writes"})
            section.unknown(name, "needs a file of ours in the directory");
        return;
    }
    section.yes("writable");
    const auto direct = uring::open_direct_scratch(directory);
    if (!direct) {
        section.no("direct_io", describe(direct.error()), other_directory);
        section.unknown("direct_io_alignment", "there is no direct I/O here");
        section.unknown("atomic_writes", "there is no direct I/O here");
        return;
    }
    section.yes("direct_io", "O_DIRECT accepted");
    add_alignment(section, direct->get());
    add_atomic_writes(section, direct->get());
}

void add_flush_facts(Section& section, const BlockDeviceFacts& device) {
    const std::string_view cache = "write_cache";
    if (device.write_cache.empty()) {
        section.unknown(cache, "sysfs does not say whether the device has a volatile cache");
    } else {
        section.yes(
            cache, device.has_volatile_cache()
                       ? "write back: a flush command is needed and sent"
                       : "write through: the device declares no volatile cache, so an fsync sends "
                         "no flush and durability is the device's word");
    }
    if (!device.fua) {
        section.unknown("fua", "sysfs does not say");
    } else if (*device.fua) {
        section.yes("fua", "one command writes through the cache");
    } else {
        section.no("fua", "not offered; a write is followed by a flush instead");
    }
}

void add_block_device(Section& section, const Roots& roots, int directory) {
    const auto location = locate(directory, roots);
    if (!location) {
        const std::string why = describe(location.error());
        for (const std::string_view name : {"block_device", "write_cache", "fua"})
            section.unknown(name, why);
        return;
    }
    const BlockDeviceFacts& device = location->device;
    const std::string_view kind = !device.rotational   ? "rotation unknown"
                                  : *device.rotational ? "rotating"
                                                       : "not rotating";
    const std::string value = fmt::format(
        "{}{}{}, {} MiB, sectors {}/{} bytes, {}, scheduler {}", device.name,
        device.model.empty() ? "" : " ", device.model, device.size_bytes >> 20U,
        device.logical_sector_bytes, device.physical_sector_bytes, kind,
        device.scheduler.empty() ? "unknown" : device.scheduler);
    if (device.read_only) {
        section.no("block_device", value + ": read-only", std::string(other_directory));
    } else {
        section.yes("block_device", value);
    }
    add_flush_facts(section, device);
}

} // namespace

void add_storage(Report& report, const Roots& roots, const std::filesystem::path& directory) {
    Section section(report, "storage");
    const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) {
        const Error error = Error::from_errno(errno, "open " + directory.string());
        return section.no("directory", describe(error), other_directory);
    }
    section.yes("directory", directory.string());
    add_filesystem(section, mount_of(fd.get(), roots));
    add_file_facts(section, directory);
    add_space(section, fd.get());
    add_block_device(section, roots, fd.get());
}

} // namespace promtact::harness::probe
