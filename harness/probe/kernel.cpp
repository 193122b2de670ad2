// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Source: Documentation/admin-guide/sysctl/kernel.rst, kernel_lockdown(7).
#include <cerrno>

#include <sys/utsname.h>

#include <fmt/format.h>

#include <promtact/base/error_text.hpp>
#include <promtact/gates/host_facts.hpp>

#include "probe/sources.hpp"

namespace promtact::harness::probe {

namespace {

void add_release(Section& section) {
    struct utsname name {};
    if (::uname(&name) != 0) return section.unknown("release", "uname: " + errno_name(errno));
    section.yes("release", fmt::format("{} {} {}", name.sysname, name.release, name.machine));
}

void add_kconfig(Section& section) {
    // Every kernel that can run this program was built with CONFIG_BINFMT_ELF.
    if (gates::kconfig_value("CONFIG_BINFMT_ELF") != "unknown")
        return section.yes("configuration", "readable");
    section.unknown(
        "configuration", "neither /proc/config.gz nor /boot/config-<release> can be read",
        "modprobe configs, or install the kernel's configuration; gates do not need it");
}

void add_security_file(
    Section& section, const Roots& roots, std::string_view name, std::string_view file) {
    const std::string path = fmt::format("{}/kernel/security/{}", roots.sys, file);
    const auto text = read_line(path);
    if (text) return section.yes(name, *text);
    section.unknown(
        name, describe(text.error()),
        text.error().code == Errc::not_found
            ? "mount -t securityfs securityfs /sys/kernel/security shows it, if the kernel has it"
            : "root can read it");
}

void add_io_uring_setting(Section& section, const Roots& roots) {
    const auto value = read_line(roots.proc + "/sys/kernel/io_uring_disabled");
    const std::string_view name = "io_uring_enabled";
    if (!value && value.error().code == Errc::not_found)
        return section.yes(name, "this kernel has no switch for it (kernel.io_uring_disabled)");
    if (!value) return section.unknown(name, describe(value.error()));
    if (*value == "0") return section.yes(name, "kernel.io_uring_disabled is 0");
    const std::string_view who =
        *value == "1" ? "only CAP_SYS_ADMIN and kernel.io_uring_group may use it" : "for everybody";
    section.no(
        name, fmt::format("kernel.io_uring_disabled is {}: {}", *value, who),
        "sysctl kernel.io_uring_disabled=0");
}

} // namespace

void add_kernel(Report& report, const Roots& roots) {
    Section section(report, "kernel");
    add_release(section);
    add_kconfig(section);
    add_security_file(section, roots, "security_modules", "lsm");
    add_security_file(section, roots, "lockdown", "lockdown");
    add_io_uring_setting(section, roots);
}

} // namespace promtact::harness::probe
