// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <system_error>

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <promtact/base/numbers.hpp>
#include <promtact/gates/host_facts.hpp>

#include "host_text_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 22> kconfig_options{
    "CONFIG_IO_URING",        "CONFIG_BPF_SYSCALL",
    "CONFIG_BPF_JIT",         "CONFIG_BPF_JIT_ALWAYS_ON",
    "CONFIG_DEBUG_INFO_BTF",  "CONFIG_XDP_SOCKETS",
    "CONFIG_CGROUP_BPF",      "CONFIG_VETH",
    "CONFIG_NET_NS",          "CONFIG_NET_SCHED",
    "CONFIG_NET_SCH_INGRESS", "CONFIG_NET_CLS_BPF",
    "CONFIG_NET_ACT_BPF",     "CONFIG_NET_SCH_NETEM",
    "CONFIG_NET_SCH_TBF",     "CONFIG_NET_SCH_FQ",
    "CONFIG_BLK_DEV_LOOP",    "CONFIG_BLK_DEV_NULL_BLK",
    "CONFIG_BLK_DEV_DM",      "CONFIG_FAULT_INJECTION",
    "CONFIG_USER_NS",         "CONFIG_PREEMPT_DYNAMIC"};

// In the order of their numbers (linux/capability.h).
constexpr std::array<std::string_view, 41> capability_names{
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_DAC_READ_SEARCH",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE"};

std::string preemption_model(std::string_view version) {
    for (const std::string_view word : {"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_VOLUNTARY"})
        if (version.find(word) != std::string_view::npos) return std::string(word);
    if (version.find(" PREEMPT ") != std::string_view::npos) return "PREEMPT";
    for (const std::string_view model :
         {"PREEMPT_RT", "PREEMPT", "PREEMPT_LAZY", "PREEMPT_VOLUNTARY", "PREEMPT_NONE"})
        if (kconfig_value("CONFIG_" + std::string(model)) == "y") return std::string(model);
    return "unknown";
}

KernelFacts collect_kernel() {
    KernelFacts facts;
    struct utsname name {};
    if (::uname(&name) == 0) {
        facts.release = name.release;
        facts.version = name.version;
        facts.machine = name.machine;
    }
    facts.preemption = preemption_model(facts.version);
    facts.clocksource =
        fact_or_unknown("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    const std::string hz = kconfig_value("CONFIG_HZ");
    if (const Result<std::uint64_t> ticks = parse_u64(hz)) facts.tick_hz = *ticks;
    for (const std::string_view option : kconfig_options)
        facts.kconfig.push_back({std::string(option), kconfig_value(option)});
    return facts;
}

std::string distribution_text() {
    const std::string release = read_fact("/etc/os-release").value_or("");
    const std::string id = line_value(release, "ID", '=').value_or("unknown");
    return id + " " + line_value(release, "VERSION_ID", '=').value_or("");
}

// The processor says whether a hypervisor is present; its name is the vendor's secret unless the
// firmware tables or sysfs tell.
std::string hypervisor_name(std::string_view cpuinfo) {
    if (const auto type = read_fact("/sys/hypervisor/type"); type.has_value()) return *type;
    const std::string vendor = read_fact("/sys/class/dmi/id/sys_vendor").value_or("") + " " +
                               read_fact("/sys/class/dmi/id/product_name").value_or("");
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> known{{
        {"QEMU", "qemu"},
        {"Amazon", "amazon"},
        {"Google", "google"},
        {"VMware", "vmware"},
        {"Microsoft", "hyperv"},
        {"VirtualBox", "virtualbox"},
        {"Xen", "xen"},
    }};
    const bool guest =
        line_value(cpuinfo, "flags", ':').value_or("").find(" hypervisor") != std::string::npos;
    for (const auto& [mark, name] : known)
        if (vendor.find(mark) != std::string::npos) return std::string(name);
    if (!guest) return "none";
    const auto clock =
        read_fact("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    return clock == "kvm-clock" ? "kvm" : "unknown vendor";
}

// Marker files alone prove nothing: disk images are often made from container images. A process in
// the kernel's first process namespace is in no container.
std::string container_name() {
    // Source: PROC_PID_INIT_INO, linux/proc_ns.h
    constexpr std::string_view initial = "pid:[4026531836]";
    std::error_code error;
    const fs::path space = fs::read_symlink("/proc/self/ns/pid", error);
    if (error) return "unknown";
    if (space == initial) return "none";
    if (fs::exists("/.dockerenv", error)) return "docker";
    if (fs::exists("/run/.containerenv", error)) return "podman";
    return read_fact("/run/systemd/container").value_or("unknown kind");
}

std::vector<std::string> network_drivers() {
    std::vector<std::string> drivers;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator("/sys/class/net", error)) {
        std::error_code missing;
        const fs::path driver = fs::read_symlink(entry.path() / "device/driver", missing);
        if (!missing) drivers.push_back(driver.filename());
    }
    std::sort(drivers.begin(), drivers.end());
    drivers.erase(std::unique(drivers.begin(), drivers.end()), drivers.end());
    return drivers;
}

std::uint64_t usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<std::uint64_t>(CPU_COUNT(&set));
}

std::uint64_t memory_bytes() {
    std::istringstream words(
        line_value(read_fact("/proc/meminfo").value_or(""), "MemTotal", ':').value_or("0"));
    std::uint64_t kibibytes = 0;
    words >> kibibytes;
    return kibibytes * 1024;
}

MachineFacts collect_machine() {
    const std::string cpuinfo = read_fact("/proc/cpuinfo").value_or("");
    MachineFacts facts;
    facts.distribution = distribution_text();
    facts.cpu_model = line_value(cpuinfo, "model name", ':').value_or("unknown");
    facts.cpu_vendor = line_value(cpuinfo, "vendor_id", ':').value_or("unknown");
    facts.cpus = usable_cpus();
    facts.cpu_governor = fact_or_unknown("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    facts.memory_bytes = memory_bytes();
    facts.hypervisor = hypervisor_name(cpuinfo);
    facts.container = container_name();
    facts.network_drivers = network_drivers();
    return facts;
}

LimitFacts collect_limits() {
    LimitFacts facts;
    facts.io_uring_disabled = fact_or_unknown("/proc/sys/kernel/io_uring_disabled");
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        facts.memlock_bytes = limit.rlim_cur;
    facts.capabilities = effective_capabilities();
    const std::string status = read_fact("/proc/self/status").value_or("");
    const std::string mode = line_value(status, "Seccomp", ':').value_or("unknown");
    facts.seccomp = mode == "0" ? "none" : mode == "1" ? "strict" : mode == "2" ? "filter" : mode;
    facts.security_modules = fact_or_unknown("/sys/kernel/security/lsm");
    facts.lockdown = chosen_word(fact_or_unknown("/sys/kernel/security/lockdown"));
    facts.effective_root = ::geteuid() == 0 ? 1 : 0;
    return facts;
}

std::vector<NamedFact> library_versions() {
    return {
        {"libbpf", PROMTACT_LIBBPF_VERSION},
        {"liburing", PROMTACT_LIBURING_VERSION},
        {"libnl-route", PROMTACT_LIBNL_VERSION}};
}

// Read from the package database, since a gate starts no program.
std::vector<NamedFact> tool_versions() {
    const std::string status = read_fact("/var/lib/dpkg/status").value_or("");
    std::vector<NamedFact> tools;
    for (const std::string_view package : {"bpftool", "fio", "iproute2"}) {
        const std::string mark = "Package: " + std::string(package) + "\n";
        const auto at = status.starts_with(mark) ? 0 : status.find("\n\n" + mark);
        std::string version = status.empty() ? "unknown" : "not installed";
        if (at != std::string::npos) {
            const std::string_view rest = std::string_view(status).substr(at + (at == 0 ? 0 : 2));
            version =
                line_value(rest.substr(0, rest.find("\n\n")), "Version", ':').value_or("unknown");
        }
        tools.push_back({std::string(package), std::move(version)});
    }
    return tools;
}

} // namespace

std::vector<std::string> effective_capabilities() {
    const std::string status = read_fact("/proc/self/status").value_or("");
    std::istringstream words(line_value(status, "CapEff", ':').value_or("0"));
    std::uint64_t mask = 0;
    words >> std::hex >> mask;
    std::vector<std::string> names;
    for (std::size_t bit = 0; bit < capability_names.size(); ++bit)
        if ((mask >> bit & 1U) != 0) names.emplace_back(capability_names[bit]);
    return names;
}

HostFacts collect_host_facts(std::string_view name, const fs::path& directory) {
    HostFacts facts;
    facts.kernel = collect_kernel();
    facts.machine = collect_machine();
    facts.storage = collect_storage_facts(directory);
    facts.limits = collect_limits();
    facts.libraries = library_versions();
    facts.tools = tool_versions();
    facts.name = name.empty() ? default_host_name(facts.machine) : std::string(name);
    return facts;
}

} // namespace promtact::gates
