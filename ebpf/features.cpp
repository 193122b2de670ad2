// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <charconv>
#include <span>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/capability.h>
#include <linux/if_link.h>

#include <promtact/base/unique_fd.hpp>
#include <promtact/ebpf/features.hpp>
#include <promtact/ebpf/verifier_log.hpp>

namespace promtact::ebpf {
namespace {

constexpr std::string_view privilege_remedy = "run as root, or with CAP_BPF and CAP_NET_ADMIN";
constexpr int loopback_index = 1; // of every fresh network namespace
constexpr auto tcx_egress = static_cast<bpf_attach_type>(47);

bpf_insn instruction(
    std::uint8_t code, std::uint8_t target, std::uint8_t source, std::int16_t offset,
    std::int32_t value) {
    bpf_insn out{};
    out.code = code;
    out.dst_reg = static_cast<std::uint8_t>(target & 15);
    out.src_reg = static_cast<std::uint8_t>(source & 15);
    out.off = offset;
    out.imm = value;
    return out;
}

/// return 2: TC_ACT_SHOT, XDP_PASS; never attached anywhere but in a throw-away namespace.
const std::array<bpf_insn, 2> minimal{
    instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 2),
    instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};

/// The atomic fetch-and-add that packet indexes are made of.
const std::array<bpf_insn, 5> fetch_and_add{
    instruction(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0),
    instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1),
    instruction(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_10, BPF_REG_1, -8, BPF_ADD | BPF_FETCH),
    instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 2),
    instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};

/// A file descriptor or -errno.
int load(bpf_prog_type type, std::span<const bpf_insn> program) {
    bpf_prog_load_opts options{};
    options.sz = sizeof options;
    const int fd =
        bpf_prog_load(type, "promtact_probe", "GPL", program.data(), program.size(), &options);
    return fd < 0 ? -errno : fd;
}

Feature answered(std::string_view name, int status, std::string_view remedy) {
    Feature feature{.name = name, .answer = Answer::yes};
    if (status >= 0) return feature;
    feature.sys_errno = -status;
    const bool hidden = status == -EPERM || status == -EACCES;
    feature.answer = hidden ? Answer::unknown : Answer::no;
    feature.remedy = hidden ? privilege_remedy : remedy;
    return feature;
}

std::string read_line(const char* path) {
    const UniqueFd fd{::open(path, O_RDONLY | O_CLOEXEC)};
    std::array<char, 64> buffer{};
    const ssize_t got = fd ? ::read(fd.get(), buffer.data(), buffer.size()) : -1;
    if (got <= 0) return {};
    const std::string_view text{buffer.data(), static_cast<std::size_t>(got)};
    return std::string{text.substr(0, text.find('\n'))};
}

Feature probe_btf() {
    const int status = ::access("/sys/kernel/btf/vmlinux", R_OK) == 0 ? 0 : -errno;
    Feature feature = answered("btf", status, "a kernel with CONFIG_DEBUG_INFO_BTF");
    feature.detail = "the fault programs do not need it";
    return feature;
}

/// Whether a program really was compiled, whatever the sysctl says.
Feature probe_jit(int program_fd) {
    const std::string setting = read_line("/proc/sys/net/core/bpf_jit_enable");
    Feature feature{.name = "jit"};
    if (!setting.empty()) feature.detail = "net.core.bpf_jit_enable = " + setting;
    bpf_prog_info info{};
    std::uint32_t size = sizeof info;
    const int status =
        program_fd < 0 ? program_fd : bpf_obj_get_info_by_fd(program_fd, &info, &size);
    if (status < 0) {
        feature.sys_errno = -status;
        feature.remedy = privilege_remedy;
        return feature;
    }
    feature.answer = info.jited_prog_len > 0 ? Answer::yes : Answer::no;
    if (feature.answer == Answer::no)
        feature.remedy = "sysctl net.core.bpf_jit_enable=1, or a kernel with CONFIG_BPF_JIT";
    return feature;
}

int create_map(bpf_map_type type, std::uint32_t flags, int inner_fd) {
    bpf_map_create_opts options{};
    options.sz = sizeof options;
    options.map_flags = flags;
    if (inner_fd >= 0) options.inner_map_fd = static_cast<std::uint32_t>(inner_fd);
    const std::uint32_t value_bytes = type == BPF_MAP_TYPE_ARRAY_OF_MAPS ? 4 : 8;
    const int fd = bpf_map_create(type, "promtact_probe", 4, value_bytes, 1, &options);
    return fd < 0 ? -errno : fd;
}

void probe_maps(std::vector<Feature>& features) {
    const int plain = create_map(BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE, -1);
    const UniqueFd plain_fd{plain};
    features.push_back(answered("map_mmapable_array", plain, "Linux 5.5 or newer"));
    const int per_cpu = create_map(BPF_MAP_TYPE_PERCPU_ARRAY, 0, -1);
    const UniqueFd per_cpu_fd{per_cpu};
    features.push_back(answered("map_percpu_array", per_cpu, "Linux 4.6 or newer"));
    const int inner = create_map(BPF_MAP_TYPE_ARRAY, 0, -1);
    const UniqueFd inner_fd{inner};
    const int outer = inner < 0 ? inner : create_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, 0, inner);
    const UniqueFd outer_fd{outer};
    features.push_back(answered("map_array_of_maps", outer, "Linux 4.12 or newer"));
}

int test_run(int program_fd) {
    if (program_fd < 0) return program_fd;
    std::array<std::uint8_t, 64> frame{};
    bpf_test_run_opts options{};
    options.sz = sizeof options;
    options.data_in = frame.data();
    options.data_size_in = frame.size();
    options.repeat = 1;
    return bpf_prog_test_run_opts(program_fd, &options);
}

struct LinkProbe {
    int xdp_fd = -1;
    int tc_fd = -1;
    int xdp_status = 0; // results: 0 or -errno
    int tc_status = 0;
};

/// The link dies with the descriptor, the interface with the thread's namespace.
int try_link(int program_fd, bpf_attach_type hook, std::uint32_t flags) {
    if (program_fd < 0) return program_fd;
    bpf_link_create_opts options{};
    options.sz = sizeof options;
    options.flags = flags;
    const int status = bpf_link_create(program_fd, loopback_index, hook, &options);
    const UniqueFd link{status};
    return status < 0 ? status : 0;
}

void* probe_links_on_thread(void* argument) {
    LinkProbe& probe = *static_cast<LinkProbe*>(argument);
    if (::unshare(CLONE_NEWNET) != 0) {
        probe.xdp_status = -errno;
        probe.tc_status = -errno;
        return nullptr;
    }
    probe.xdp_status = try_link(probe.xdp_fd, BPF_XDP, XDP_FLAGS_SKB_MODE);
    probe.tc_status = try_link(probe.tc_fd, tcx_egress, 0);
    return nullptr;
}

void probe_links(int xdp_fd, int tc_fd, std::vector<Feature>& features) {
    LinkProbe probe{.xdp_fd = xdp_fd, .tc_fd = tc_fd, .xdp_status = 0, .tc_status = 0};
    pthread_t thread{};
    const int created = ::pthread_create(&thread, nullptr, &probe_links_on_thread, &probe);
    if (created != 0) {
        probe.xdp_status = -created;
        probe.tc_status = -created;
    } else {
        const int joined = ::pthread_join(thread, nullptr);
        PROMTACT_ASSERT(joined == 0);
    }
    features.push_back(answered("link_xdp", probe.xdp_status, "Linux 5.9 or newer"));
    features.push_back(answered(
        "link_tcx", probe.tc_status, "Linux 6.6 or newer with CONFIG_NET_XGRESS; clsact is used"));
}

void probe_capabilities(std::vector<Feature>& features) {
    struct Row {
        std::string_view name;
        int number;
        std::string_view remedy;
    };
    // CAP_BPF and CAP_PERFMON exist since Linux 5.8; CAP_SYS_ADMIN contains both.
    constexpr std::array rows{
        Row{"cap_sys_admin", CAP_SYS_ADMIN, "run as root: namespaces need CAP_SYS_ADMIN"},
        Row{"cap_net_admin", CAP_NET_ADMIN, "run as root: links need CAP_NET_ADMIN"},
        Row{"cap_bpf", CAP_BPF, "run as root: programs and maps need CAP_BPF"},
        Row{"cap_net_raw", CAP_NET_RAW, "run as root: packet sockets need CAP_NET_RAW"}};
    const UniqueFd fd{::open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC)};
    std::array<char, 4096> buffer{};
    const ssize_t got = fd ? ::read(fd.get(), buffer.data(), buffer.size() - 1) : -1;
    const std::string_view text{buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
    constexpr std::string_view key = "CapEff:\t";
    const std::size_t at = text.find(key);
    std::uint64_t effective = 0;
    bool known = false;
    if (at != std::string_view::npos) {
        const char* start = text.data() + at + key.size();
        known = std::from_chars(start, text.data() + text.size(), effective, 16).ec == std::errc{};
    }
    for (const Row& row : rows) {
        Feature feature{.name = row.name};
        const bool held = (effective >> row.number & 1) != 0;
        if (known) feature.answer = held ? Answer::yes : Answer::no;
        if (!held) feature.remedy = row.remedy;
        features.push_back(std::move(feature));
    }
}

} // namespace

std::string_view to_string(Answer answer) noexcept {
    switch (answer) {
    case Answer::yes:
        return "yes";
    case Answer::no:
        return "no";
    case Answer::unknown:
        return "unknown";
    }
    return "unknown";
}

std::vector<Feature> probe_features() {
    const VerifierLog quiet;
    std::vector<Feature> features;
    const int xdp = load(BPF_PROG_TYPE_XDP, minimal);
    const UniqueFd xdp_fd{xdp};
    const int tc = load(BPF_PROG_TYPE_SCHED_CLS, minimal);
    const UniqueFd tc_fd{tc};
    features.push_back(answered("program_xdp", xdp, "a kernel with CONFIG_BPF_SYSCALL"));
    features.push_back(answered("program_tc", tc, "a kernel with CONFIG_NET_CLS_BPF"));
    const int atomic = load(BPF_PROG_TYPE_XDP, fetch_and_add);
    const UniqueFd atomic_fd{atomic};
    features.push_back(answered("atomic_fetch_add", atomic, "Linux 5.12 or newer"));
    features.push_back(answered("test_run", test_run(xdp), "Linux 4.12 or newer"));
    features.push_back(probe_jit(tc));
    features.push_back(probe_btf());
    probe_maps(features);
    probe_links(xdp, tc, features);
    probe_capabilities(features);
    const std::string restricted = read_line("/proc/sys/kernel/unprivileged_bpf_disabled");
    Feature unprivileged{.name = "unprivileged_bpf"};
    if (!restricted.empty()) {
        unprivileged.answer = restricted == "0" ? Answer::yes : Answer::no;
        unprivileged.detail = "kernel.unprivileged_bpf_disabled = " + restricted;
        if (restricted != "0") unprivileged.remedy = "none needed: Promtact loads programs as root";
    }
    features.push_back(std::move(unprivileged));
    return features;
}

} // namespace promtact::ebpf
