// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Source: capabilities(7), proc_pid_status(5), user_namespaces(7), getrlimit(2).
#include <array>
#include <charconv>
#include <optional>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <promtact/base/error_text.hpp>

#include "probe/sources.hpp"

namespace promtact::harness::probe {

namespace {

struct Capability {
    unsigned bit = 0;
    std::string_view name{};
    std::string_view use{};
};

// Numbers from linux/capability.h.
constexpr std::array capabilities{
    Capability{12, "CAP_NET_ADMIN", "links, traffic control and XDP in namespaces we make"},
    Capability{13, "CAP_NET_RAW", "packet sockets that count what arrives"},
    Capability{14, "CAP_IPC_LOCK", "registered buffers beyond RLIMIT_MEMLOCK"},
    Capability{21, "CAP_SYS_ADMIN", "network namespaces and loop devices"},
    Capability{38, "CAP_PERFMON", "BPF programs that read kernel memory"},
    Capability{39, "CAP_BPF", "loading BPF programs"},
};

// The smallest limit under which every ring and buffer of the gates can be registered.
constexpr rlim_t memlock_wanted_bytes = 1U << 20U;

std::optional<std::uint64_t> mask_of(const std::string& status, std::string_view field) {
    const auto text = status_field(status, field);
    if (!text) return std::nullopt;
    std::uint64_t mask = 0;
    const char* end = text->data() + text->size();
    const auto [at, error] = std::from_chars(text->data(), end, mask, 16);
    if (error != std::errc() || at != end) return std::nullopt;
    return mask;
}

void add_capabilities(Section& section, const std::string& status) {
    const auto effective = mask_of(status, "CapEff");
    const auto bounding = mask_of(status, "CapBnd");
    for (const Capability& capability : capabilities) {
        const std::uint64_t bit = std::uint64_t{1} << capability.bit;
        if (!effective || !bounding) {
            section.unknown(capability.name, "no CapEff and CapBnd in /proc/self/status");
        } else if ((*effective & bit) != 0) {
            section.yes(capability.name, capability.use);
        } else if ((*bounding & bit) != 0) {
            section.no(
                capability.name, fmt::format("not held; needed for {}", capability.use),
                "run as root, for example with sudo");
        } else {
            section.no(
                capability.name,
                fmt::format(
                    "outside the bounding set, so root lacks it too; needed for {}",
                    capability.use),
                fmt::format(
                    "start the container with --cap-add={}, or run on the host",
                    capability.name.substr(4)));
        }
    }
}

void add_seccomp(Section& section, const std::string& status) {
    const auto mode = status_field(status, "Seccomp");
    if (!mode) {
        section.unknown("no_seccomp_filter", "no Seccomp line in /proc/self/status");
    } else if (*mode == "0") {
        section.yes("no_seccomp_filter", "no system call is filtered");
    } else {
        section.no(
            "no_seccomp_filter",
            fmt::format("mode {}: a filter may refuse system calls with EPERM or ENOSYS", *mode),
            "where a call below is refused: docker run --security-opt seccomp=unconfined, or run "
            "on the host");
    }
}

/// errno of unshare(CLONE_NEWUSER) in a child of ours; 0 when it worked.
Result<int> try_user_namespace() {
    const pid_t child = ::fork();
    if (child < 0) return Error::from_errno(errno, "fork");
    if (child == 0) ::_exit(::unshare(CLONE_NEWUSER) == 0 ? 0 : errno & 0x7F);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return Error::from_errno(errno, "waitpid");
    if (!WIFEXITED(status)) return Error{Errc::system, 0, "the child was killed"};
    return WEXITSTATUS(status);
}

void add_user_namespace(Section& section, const Roots& roots) {
    const Result<int> refused = try_user_namespace();
    if (!refused) return section.unknown("user_namespace", describe(refused.error()));
    if (*refused == 0) return section.yes("user_namespace", "this user may make one");
    const auto setting = [&](std::string_view name) {
        const auto value = read_line(fmt::format("{}/sys/{}", roots.proc, name));
        return value ? *value : std::string();
    };
    std::string why = "unshare(CLONE_NEWUSER): " + errno_name(*refused);
    std::string remedy = "not needed as root; otherwise ask the administrator";
    if (setting("user/max_user_namespaces") == "0") {
        why += ", user.max_user_namespaces is 0";
        remedy = "sysctl user.max_user_namespaces=1024";
    } else if (setting("kernel/unprivileged_userns_clone") == "0") {
        why += ", kernel.unprivileged_userns_clone is 0";
        remedy = "sysctl kernel.unprivileged_userns_clone=1";
    } else if (setting("kernel/apparmor_restrict_unprivileged_userns") == "1") {
        why += ", kernel.apparmor_restrict_unprivileged_userns is 1";
        remedy = "sysctl kernel.apparmor_restrict_unprivileged_userns=0";
    }
    section.no("user_namespace", why, remedy);
}

void add_locked_memory(Section& section) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return section.unknown("locked_memory", "getrlimit: " + errno_name(errno));
    if (limit.rlim_cur == RLIM_INFINITY) return section.yes("locked_memory", "unlimited");
    const std::string value = fmt::format("{} bytes", limit.rlim_cur);
    if (limit.rlim_cur >= memlock_wanted_bytes) return section.yes("locked_memory", value);
    section.add(
        {.name = "locked_memory",
         .answer = Answer::no,
         .value = value,
         .reason = fmt::format("registered buffers need {}", memlock_wanted_bytes),
         .remedy = "ulimit -l unlimited, or LimitMEMLOCK= of the service"});
}

} // namespace

void add_privileges(Report& report, const Roots& roots) {
    Section section(report, "privileges");
    const uid_t user = ::geteuid();
    if (user == 0) {
        section.yes("root", "effective user 0");
    } else {
        section.no(
            "root", fmt::format("effective user {}", user),
            "gates that need more than this user has answer `denied`; run them with sudo");
    }
    const auto status = read_line(roots.proc + "/self/status");
    if (!status) {
        const std::string why = describe(status.error());
        for (const Capability& capability : capabilities)
            section.unknown(capability.name, why, "mount /proc");
        section.unknown("no_seccomp_filter", why, "mount /proc");
    } else {
        add_capabilities(section, *status);
        add_seccomp(section, *status);
    }
    add_user_namespace(section, roots);
    add_locked_memory(section);
}

} // namespace promtact::harness::probe
