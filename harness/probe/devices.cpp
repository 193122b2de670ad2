// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/unique_fd.hpp>

#include "probe/sources.hpp"

namespace promtact::harness::probe {

namespace {

struct Device {
    std::string_view name{};
    std::string_view path{};
    std::string_view option{};
    std::string_view use{};
};

// Opening these three changes nothing. A present node may still be refused by a device control
// group, so the node alone proves nothing.
constexpr Device devices[] = {
    {"loop_control", "loop-control", "CONFIG_BLK_DEV_LOOP", "loop devices for durable_write_block"},
    {"fuse", "fuse", "CONFIG_FUSE_FS", "filesystems with injected faults"},
    {"tun", "net/tun", "CONFIG_TUN", "user-space packet relays"},
};

void add_device(Section& section, const Roots& roots, const Device& device) {
    const std::string path = fmt::format("{}/{}", roots.dev, device.path);
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (fd) return section.yes(device.name, device.use);
    const int refused = errno;
    const std::string why =
        fmt::format("open {}: {}; used for {}", path, errno_name(refused), device.use);
    if (refused == EACCES || refused == EPERM)
        return section.no(device.name, why, "run as root, or allow the device to this container");
    section.no(
        device.name, why,
        fmt::format("needs {} in the kernel, or its module, and the node", device.option));
}

} // namespace

void add_devices(Report& report, const Roots& roots) {
    Section section(report, "devices");
    for (const Device& device : devices)
        add_device(section, roots, device);
}

} // namespace promtact::harness::probe
