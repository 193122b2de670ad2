// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <sys/stat.h>

#include <promtact/base/block_device.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/base/unique_fd.hpp>

#include "small_file_internal.hpp"

namespace promtact {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string text_or_empty(const fs::path& path) {
    return read_trimmed(path.string()).value_or("");
}

std::optional<bool> flag_in(const fs::path& path) {
    const auto value = number_in(text_or_empty(path));
    if (!value) return std::nullopt;
    return *value != 0;
}

std::vector<std::string> names_in(const fs::path& directory) {
    return list_directory(directory).value_or({}); // an absent folder is an empty list
}

// "none [mq-deadline] kyber" marks the active one.
std::string bracketed(const std::string& text) {
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || close == std::string::npos) return text;
    return text.substr(open + 1, close - open - 1);
}

void read_queue(const fs::path& queue, BlockDeviceFacts& facts) {
    const auto number = [&](const char* name) {
        return number_in(text_or_empty(queue / name)).value_or(0);
    };
    facts.logical_sector_bytes = static_cast<std::uint32_t>(number("logical_block_size"));
    facts.physical_sector_bytes = static_cast<std::uint32_t>(number("physical_block_size"));
    facts.atomic_write_unit_max_bytes = number("atomic_write_unit_max_bytes");
    facts.rotational = flag_in(queue / "rotational");
    facts.fua = flag_in(queue / "fua");
    facts.write_cache = text_or_empty(queue / "write_cache");
    facts.scheduler = bracketed(text_or_empty(queue / "scheduler"));
}

// Holders of a disk are those of its partitions as well.
void read_relations(const fs::path& folder, BlockDeviceFacts& facts) {
    facts.holders = names_in(folder / "holders");
    facts.slaves = names_in(folder / "slaves");
    std::error_code ignored;
    for (const std::string& name : names_in(folder)) {
        if (!fs::exists(folder / name / "partition", ignored)) continue;
        facts.partitions.push_back(name);
        for (std::string& holder : names_in(folder / name / "holders"))
            facts.holders.push_back(std::move(holder));
    }
}

Result<fs::path> folder_of(const fs::path& link) {
    std::error_code failure;
    fs::path folder = fs::canonical(link, failure);
    if (failure) return Error::from_errno(failure.value(), "find block device " + link.string());
    return folder;
}

Result<BlockDeviceFacts> read_folder(const fs::path& folder) {
    BlockDeviceFacts facts;
    std::error_code ignored;
    const fs::path disk = fs::exists(folder / "partition", ignored) ? folder.parent_path() : folder;
    facts.name = folder.filename().string();
    facts.disk = disk.filename().string();
    const std::string dev = text_or_empty(folder / "dev");
    const std::size_t colon = dev.find(':');
    const auto major = number_in(dev.substr(0, colon));
    const auto minor = colon == std::string::npos ? std::nullopt : number_in(dev.substr(colon + 1));
    const auto sectors = number_in(text_or_empty(folder / "size"));
    if (!major || !minor || !sectors || *sectors > (~std::uint64_t{0} >> 9))
        return Error{Errc::format, 0, "read dev and size in " + folder.string()};
    facts.number = {
        .major = static_cast<std::uint32_t>(*major), .minor = static_cast<std::uint32_t>(*minor)};
    facts.size_bytes = *sectors * 512; // sysfs always counts 512-byte sectors
    facts.read_only = flag_in(folder / "ro").value_or(false);
    facts.model = text_or_empty(disk / "device" / "model");
    read_queue(disk / "queue", facts);
    read_relations(folder, facts);
    return facts;
}

// A filesystem such as btrfs hides its device behind major 0; its mount source names it.
Result<DeviceNumber> device_of_mount(const Mount& mount) {
    if (mount.device.major != 0) return mount.device;
    struct stat status {};
    if (mount.source.starts_with("/dev/") && ::stat(mount.source.c_str(), &status) == 0 &&
        S_ISBLK(status.st_mode))
        return device_number(status.st_rdev);
    return Error{
        Errc::unsupported, 0,
        "filesystem " + mount.filesystem + " at " + mount.mount_point +
            " has no single block device"};
}

} // namespace

Result<BlockDeviceFacts> read_block_device(DeviceNumber number, const SystemRoots& roots) {
    PROMTACT_TRY_ASSIGN(
        const fs::path folder, folder_of(fs::path(roots.sys) / "dev/block" / to_string(number)));
    return read_folder(folder);
}

Result<BlockDeviceFacts> find_block_device(const std::string& name, const SystemRoots& roots) {
    PROMTACT_TRY_ASSIGN(
        const fs::path folder, folder_of(fs::path(roots.sys) / "class/block" / name));
    return read_folder(folder);
}

Result<BlockCounters> read_block_counters(const std::string& disk, const SystemRoots& roots) {
    const std::string path = roots.sys + "/block/" + disk + "/stat";
    PROMTACT_TRY_ASSIGN(const std::string text, read_trimmed(path));
    std::vector<std::uint64_t> fields;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (at != end) {
        if (*at == ' ') {
            ++at;
            continue;
        }
        std::uint64_t value = 0;
        const auto [next, failure] = std::from_chars(at, end, value);
        if (failure != std::errc{}) return Error{Errc::format, 0, "read " + path};
        fields.push_back(value);
        at = next;
    }
    if (fields.size() < 11) return Error{Errc::format, 0, "read " + path};
    BlockCounters counters{.writes = fields[4], .write_bytes = fields[6] * 512};
    if (fields.size() >= 16) counters.flushes = fields[15];
    return counters;
}

Result<Mount> mount_of(int fd, const SystemRoots& roots) {
    struct stat status {};
    if (::fstat(fd, &status) != 0)
        return Error::from_errno(errno, "stat descriptor " + std::to_string(fd));
    PROMTACT_TRY_ASSIGN(
        const std::string info, read_small_file(roots.proc + "/self/fdinfo/" + std::to_string(fd)));
    const std::size_t at = info.find("mnt_id:");
    std::optional<std::uint64_t> id;
    if (at != std::string::npos) {
        const std::size_t digits = info.find_first_of("0123456789", at);
        const std::size_t stop = std::min(info.find('\n', at), info.size());
        if (digits < stop) id = number_in(info.substr(digits, stop - digits));
    }
    PROMTACT_TRY_ASSIGN(std::vector<Mount> mounts, read_mounts(roots));
    for (Mount& mount : mounts)
        if (id && mount.id == *id) return std::move(mount);
    // A bind mount of another namespace: any mount of the same filesystem tells the same facts.
    for (Mount& mount : mounts)
        if (mount.device == device_number(status.st_dev)) return std::move(mount);
    return Error{Errc::not_found, 0, "find the mount of descriptor " + std::to_string(fd)};
}

Result<FileLocation> locate(int fd, const SystemRoots& roots) {
    FileLocation location;
    PROMTACT_TRY_ASSIGN(location.mount, mount_of(fd, roots));
    PROMTACT_TRY_ASSIGN(const DeviceNumber number, device_of_mount(location.mount));
    PROMTACT_TRY_ASSIGN(location.device, read_block_device(number, roots));
    return location;
}

Result<FileLocation> locate(const fs::path& path, const SystemRoots& roots) {
    const UniqueFd file{::open(path.c_str(), O_PATH | O_CLOEXEC)};
    if (!file) return Error::from_errno(errno, "open " + path.string());
    return locate(file.get(), roots);
}

std::vector<std::string> devices_below(const BlockDeviceFacts& device, const SystemRoots& roots) {
    std::vector<std::string> found{device.name};
    const auto add = [&](const std::string& name) {
        if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    };
    // The list grows while it is walked; each name enters once, so the walk ends.
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto facts = find_block_device(found[i], roots);
        if (!facts) continue;
        add(facts->disk);
        for (const std::string& slave : facts->slaves)
            add(slave);
    }
    return found;
}

} // namespace promtact
