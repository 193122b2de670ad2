// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Source: Documentation/admin-guide/sysctl/net.rst and kernel.rst, Documentation/bpf/btf.rst.
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/unique_fd.hpp>

#include "probe/sources.hpp"

namespace promtact::harness::probe {

namespace {

void add_jit(Section& section, const Roots& roots) {
    const auto value = read_line(roots.proc + "/sys/net/core/bpf_jit_enable");
    if (!value) return section.unknown("jit", describe(value.error()), "root can read it");
    if (*value != "0") return section.yes("jit", "net.core.bpf_jit_enable is " + *value);
    section.no(
        "jit", "net.core.bpf_jit_enable is 0: programs would be interpreted",
        "sysctl net.core.bpf_jit_enable=1");
}

void add_btf(Section& section, const Roots& roots) {
    const std::string path = roots.sys + "/kernel/btf/vmlinux";
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd) return section.yes("btf", path);
    section.no(
        "btf", describe(Error::from_errno(errno, "open " + path)),
        "a kernel with CONFIG_DEBUG_INFO_BTF; the fault programs of gates do not need it");
}

void add_unprivileged(Section& section, const Roots& roots) {
    const auto value = read_line(roots.proc + "/sys/kernel/unprivileged_bpf_disabled");
    const std::string_view name = "unprivileged";
    if (!value) return section.unknown(name, describe(value.error()));
    if (*value == "0") return section.yes(name, "kernel.unprivileged_bpf_disabled is 0");
    section.no(
        name, fmt::format(
                  "kernel.unprivileged_bpf_disabled is {}: loading needs CAP_BPF and CAP_NET_ADMIN",
                  *value));
}

} // namespace

void add_bpf(Report& report, const Roots& roots) {
    Section section(report, "bpf");
    add_jit(section, roots);
    add_btf(section, roots);
    add_unprivileged(section, roots);
}

} // namespace promtact::harness::probe
