// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/loop.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/base/loop_device.hpp>
#include <promtact/base/scratch_file.hpp>

#include "small_file_internal.hpp"

namespace promtact {
namespace {

constexpr const char* control_path = "/dev/loop-control";
constexpr int races_max = 64;

// Empty when nothing is bound. For a nameless file the kernel shows its directory and inode number,
// so the same text means the same binding.
std::string backing_of(const std::string& name) {
    return read_trimmed("/sys/block/" + name + "/loop/backing_file").value_or("");
}

Result<UniqueFd> open_control() {
    UniqueFd control{::open(control_path, O_RDWR | O_CLOEXEC)};
    if (control) return control;
    if (errno == ENOENT || errno == ENODEV || errno == ENXIO) {
        return Error{
            Errc::unsupported, errno,
            "open /dev/loop-control: the kernel lacks CONFIG_BLK_DEV_LOOP or the loop module is "
            "not loaded"};
    }
    if (errno == EACCES || errno == EPERM) {
        return Error{
            Errc::denied, errno, "open /dev/loop-control: a loop device needs CAP_SYS_ADMIN"};
    }
    return Error::from_errno(errno, "open /dev/loop-control");
}

loop_config configuration(int backing, const LoopDevice::Options& options, bool direct) {
    loop_config config{};
    config.fd = static_cast<__u32>(backing);
    config.block_size = options.sector_bytes;
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (direct) config.info.lo_flags |= LO_FLAGS_DIRECT_IO;
    if (options.read_only) config.info.lo_flags |= LO_FLAGS_READ_ONLY;
    return config;
}

// 0 or the errno. A backing filesystem that cannot do direct I/O in these sectors says EINVAL.
int configure(int device, int backing, const LoopDevice::Options& options) {
    loop_config config = configuration(backing, options, true);
    if (::ioctl(device, LOOP_CONFIGURE, &config) == 0) return 0;
    if (errno != EINVAL) return errno;
    config = configuration(backing, options, false);
    return ::ioctl(device, LOOP_CONFIGURE, &config) == 0 ? 0 : errno;
}

Error configure_error(int sys_errno, const std::string& path) {
    if (sys_errno == EPERM || sys_errno == EACCES) {
        return Error{
            Errc::denied, sys_errno, "bind " + path + ": a loop device needs CAP_SYS_ADMIN"};
    }
    if (sys_errno == ENOTTY) {
        return Error{
            Errc::unsupported, sys_errno, "bind " + path + ": LOOP_CONFIGURE needs Linux 5.8"};
    }
    return Error::from_errno(sys_errno, "bind " + path);
}

} // namespace

LoopDevice::LoopDevice(UniqueFd device, std::string name)
    : device_(std::move(device)), name_(std::move(name)), path_("/dev/" + name_),
      backing_(backing_of(name_)) {
    const auto direct = read_trimmed("/sys/block/" + name_ + "/loop/dio");
    direct_io_ = direct && *direct == "1";
}

Result<LoopDevice> LoopDevice::create(const Options& options) {
    PROMTACT_ASSERT(options.size_bytes > 0);
    PROMTACT_ASSERT(options.size_bytes % 4096 == 0);
    PROMTACT_TRY_ASSIGN(const UniqueFd control, open_control());
    PROMTACT_TRY_ASSIGN(const ScratchFile backing, ScratchFile::create(options.directory));
    if (::ftruncate(backing.fd(), static_cast<off_t>(options.size_bytes)) != 0)
        return Error::from_errno(errno, "size a file in " + options.directory.string());
    const int access = options.read_only ? O_RDONLY : O_RDWR;
    // GET_FREE only names a device that was free a moment ago: others may bind it first.
    for (int race = 0; race < races_max; ++race) {
        const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
        if (number < 0) return configure_error(errno, control_path);
        std::string name = "loop" + std::to_string(number);
        const std::string path = "/dev/" + name;
        kill_point();
        UniqueFd device{::open(path.c_str(), access | O_CLOEXEC)};
        if (!device && errno == ENOENT) {
            return Error{
                Errc::unsupported, ENOENT,
                "open " + path + ": the node is missing (no devtmpfs on /dev)"};
        }
        if (!device && (errno == EBUSY || errno == ENXIO)) continue;
        if (!device) return configure_error(errno, path);
        const int failure = configure(device.get(), backing.fd(), options);
        if (failure == EBUSY) continue;
        if (failure != 0) return configure_error(failure, path);
        kill_point();
        return LoopDevice{std::move(device), std::move(name)};
    }
    return Error{Errc::busy, EBUSY, "bind a loop device: every free one was taken by others"};
}

Result<UniqueFd> LoopDevice::open(int flags) const {
    UniqueFd file{::open(path_.c_str(), flags | O_CLOEXEC)};
    if (!file) return Error::from_errno(errno, "open " + path_);
    return file;
}

Result<void> LoopDevice::remove() {
    PROMTACT_TRY(device_.close());
    kill_point();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!backing_.empty() && backing_of(name_) == backing_) {
        if (std::chrono::steady_clock::now() > deadline) {
            return Error{
                Errc::timeout, 0,
                path_ + " is still bound: another program has it open; losetup -d " + path_ +
                    " detaches it"};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

} // namespace promtact
