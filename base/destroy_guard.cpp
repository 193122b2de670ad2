// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <linux/fs.h>

#include <promtact/base/destroy_guard.hpp>

#include "small_file_internal.hpp"

namespace promtact {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t blocks_max = 1'000'000;

Error refusal(std::string sentence) {
    return Error{Errc::refused, 0, std::move(sentence)};
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<DeviceNumber> block_number(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) return std::nullopt;
    return device_number(status.st_rdev);
}

// The device, its partitions, and everything built on any of them.
std::vector<BlockDeviceFacts>
devices_above(const BlockDeviceFacts& device, const SystemRoots& roots) {
    std::vector<BlockDeviceFacts> found{device};
    std::vector<std::string> names{device.name};
    for (std::size_t i = 0; i < found.size(); ++i) {
        std::vector<std::string> next = found[i].partitions;
        next.insert(next.end(), found[i].holders.begin(), found[i].holders.end());
        for (const std::string& name : next) {
            if (contains(names, name)) continue;
            names.push_back(name);
            if (auto facts = find_block_device(name, roots)) found.push_back(std::move(*facts));
        }
    }
    return found;
}

bool is_source(const std::string& source, const BlockDeviceFacts& device) {
    return source == "/dev/" + device.name || block_number(source) == device.number;
}

Result<void> refuse_system_disk(
    const std::string& path, const BlockDeviceFacts& device, const std::vector<Mount>& mounts,
    const SystemRoots& roots) {
    for (const Mount& mount : mounts) {
        if (mount.mount_point != "/") continue;
        auto root = read_block_device(mount.device, roots);
        if (!root && mount.source.starts_with("/dev/")) {
            const auto number = block_number(mount.source);
            root = number ? read_block_device(*number, roots)
                          : find_block_device(fs::path(mount.source).filename().string(), roots);
        }
        if (!root) continue; // an overlay or network root has no disk
        const std::vector<std::string> below = devices_below(*root, roots);
        if (contains(below, device.name) || contains(below, device.disk))
            return refusal(path + " is the disk that carries /");
    }
    return {};
}

Result<void> refuse_in_use(
    const std::string& path, const BlockDeviceFacts& device, const std::vector<Mount>& mounts,
    const SystemRoots& roots) {
    PROMTACT_TRY_ASSIGN(const std::vector<std::string> swaps, read_swaps(roots));
    const std::vector<BlockDeviceFacts> users = devices_above(device, roots);
    for (const BlockDeviceFacts& user : users) {
        const std::string which =
            user.name == device.name ? path : path + " (through " + user.name + ")";
        for (const Mount& mount : mounts) {
            if (mount.device == user.number || is_source(mount.source, user))
                return refusal(which + " is mounted at " + mount.mount_point);
        }
        for (const std::string& swap : swaps)
            if (is_source(swap, user)) return refusal(which + " is active swap");
    }
    return {};
}

Result<void>
refuse_stacked(const std::string& path, const BlockDeviceFacts& device, const SystemRoots& roots) {
    if (!device.partitions.empty())
        return refusal(path + " has partitions: " + device.partitions.front());
    if (!device.holders.empty())
        return refusal(path + " is held by " + device.holders.front() + " (dm, md or bcache)");
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fs::path(roots.sys) / "block", ignored)) {
        const auto backing = read_trimmed((entry.path() / "loop/backing_file").string());
        if (backing && *backing == path)
            return refusal(path + " backs " + entry.path().filename().string());
    }
    return {};
}

Result<void> refuse_range(
    const DestroyRequest& request, const std::string& path, const BlockDeviceFacts& device) {
    std::uint64_t end_block = 0;
    std::uint64_t end_byte = 0;
    if (__builtin_add_overflow(request.start_block, request.blocks, &end_block) ||
        __builtin_mul_overflow(end_block, std::uint64_t{request.block_bytes}, &end_byte)) {
        return refusal(
            "start block " + std::to_string(request.start_block) + " plus " +
            std::to_string(request.blocks) + " blocks is no 64-bit offset");
    }
    if (end_byte > device.size_bytes) {
        return refusal(
            "the range ends at byte " + std::to_string(end_byte) + ", beyond " + path + " of " +
            std::to_string(device.size_bytes) + " bytes");
    }
    return {};
}

// After the exclusive open nothing may have been swapped under the name that was checked.
Result<void> refuse_changed(int fd, const std::string& path, const BlockDeviceFacts& facts) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return Error::from_errno(errno, "stat " + path);
    if (!S_ISBLK(status.st_mode) || device_number(status.st_rdev) != facts.number)
        return refusal(path + " changed while it was being checked");
    std::uint64_t size = 0;
    if (::ioctl(fd, BLKGETSIZE64, &size) != 0)
        return Error::from_errno(errno, "ask the size of " + path);
    if (size != facts.size_bytes)
        return refusal(path + " changed its size while it was being checked");
    return {};
}

} // namespace

Result<void> check_request(const DestroyRequest& request, const std::string& canonical) {
    if (canonical == "/dev/sda")
        return refusal("/dev/sda is refused by name: it is the system disk of most hosts");
    if (!canonical.starts_with("/dev/")) return refusal(canonical + " is not below /dev/");
    if (request.confirmation != "ERASE:" + canonical)
        return refusal("the confirmation must be exactly ERASE:" + canonical);
    if (request.expected_size == 0) return refusal("the expected size in bytes is missing");
    if (request.blocks == 0 || request.blocks > blocks_max)
        return refusal(std::to_string(request.blocks) + " operations: allowed are 1 to 1000000");
    PROMTACT_ASSERT(request.block_bytes > 0);
    return {};
}

Result<BlockDeviceFacts> check_unused(
    const DestroyRequest& request, const std::string& canonical, DeviceNumber number,
    const SystemRoots& roots) {
    auto facts = read_block_device(number, roots);
    if (!facts) return refusal(canonical + " is unknown to sysfs, so its use cannot be checked");
    PROMTACT_TRY_ASSIGN(const std::vector<Mount> mounts, read_mounts(roots));
    PROMTACT_TRY(refuse_system_disk(canonical, *facts, mounts, roots));
    if (facts->is_partition()) {
        return refusal(
            canonical + " is a partition of " + facts->disk + ": name a whole, unused disk");
    }
    if (facts->read_only) return refusal(canonical + " is read-only");
    if (facts->size_bytes != request.expected_size) {
        return refusal(
            canonical + " has " + std::to_string(facts->size_bytes) + " bytes, expected were " +
            std::to_string(request.expected_size));
    }
    PROMTACT_TRY(refuse_in_use(canonical, *facts, mounts, roots));
    PROMTACT_TRY(refuse_stacked(canonical, *facts, roots));
    PROMTACT_TRY(refuse_range(request, canonical, *facts));
    return facts;
}

namespace {

/// A program that just ended may hold the device some moments longer: the kernel lets go of an
/// io_uring's files late. So "in use" must stay true for a while.
Result<UniqueFd> open_alone(const std::string& path) {
    constexpr std::chrono::milliseconds pause{10};
    for (int tries = 0;; ++tries) {
        UniqueFd file{::open(path.c_str(), O_RDWR | O_DIRECT | O_EXCL | O_CLOEXEC)};
        if (file) return file;
        if (errno != EBUSY) return Error::from_errno(errno, "open " + path + " for writing");
        if (tries == 100)
            return Error{Errc::refused, EBUSY, path + " is in use by the kernel or a program"};
        std::this_thread::sleep_for(pause);
    }
}

struct Checked {
    std::string path{}; // canonical
    BlockDeviceFacts facts{};
};

Result<Checked> check(const DestroyRequest& request) {
    if (request.device.empty()) return refusal("no device was named");
    std::error_code failure;
    Checked checked{.path = fs::canonical(request.device, failure).string()};
    if (failure) return Error{Errc::refused, failure.value(), "cannot resolve " + request.device};
    PROMTACT_TRY(check_request(request, checked.path));
    const auto number = block_number(checked.path);
    if (!number) return refusal(checked.path + " is not a block device");
    PROMTACT_TRY_ASSIGN(checked.facts, check_unused(request, checked.path, *number));
    return checked;
}

} // namespace

Result<void> check_destruction(const DestroyRequest& request) {
    PROMTACT_TRY(check(request));
    return {};
}

Result<ClaimedDevice> claim_for_destruction(const DestroyRequest& request) {
    PROMTACT_TRY_ASSIGN(Checked checked, check(request));
    PROMTACT_TRY_ASSIGN(UniqueFd file, open_alone(checked.path));
    PROMTACT_TRY(refuse_changed(file.get(), checked.path, checked.facts));
    ClaimedDevice claimed;
    claimed.path = std::move(checked.path);
    claimed.facts = std::move(checked.facts);
    claimed.file = std::move(file);
    claimed.first_byte = request.start_block * request.block_bytes;
    claimed.bytes = request.blocks * request.block_bytes;
    return claimed;
}

} // namespace promtact
