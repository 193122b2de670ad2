// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The sources, shown hosts that this one is not.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/sources.hpp"
#include "temporary_directory.hpp"

namespace promtact::harness::probe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A host made of files; removed at the end.
class FakeHost {
  public:
    FakeHost() {
        roots.proc = (root_ / "proc").string();
        roots.sys = (root_ / "sys").string();
        roots.dev = (root_ / "dev").string();
    }

    void put(const std::string& path, const std::string& text) const {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    std::string path(const std::string& name) const { return (root_ / name).string(); }

    Roots roots{};

  private:
    test_support::TemporaryDirectory temporary_{};
    fs::path root_ = temporary_.path();
};

using Source = void (*)(Report&, const Roots&);

Report ask(Source source, const FakeHost& host) {
    Report report;
    source(report, host.roots);
    return report;
}

Fact fact(const Report& report, std::string_view section, std::string_view name) {
    const Fact* found = report.find(section, name);
    EXPECT_NE(found, nullptr) << section << "." << name;
    return found == nullptr ? Fact{} : *found;
}

std::string status(std::string_view effective, std::string_view bounding, int seccomp = 0) {
    return "Name:\tx\nCapEff:\t" + std::string(effective) + "\nCapBnd:\t" + std::string(bounding) +
           "\nSeccomp:\t" + std::to_string(seccomp) + "\n";
}

TEST(ProbePrivileges, TellsHeldFromReachableFromLost) {
    const FakeHost host;
    host.put("proc/self/status", status("0000000000001000", "0000000000203000"));

    const Report report = ask(add_privileges, host);

    EXPECT_EQ(fact(report, "privileges", "CAP_NET_ADMIN").answer, Answer::yes);
    const Fact reachable = fact(report, "privileges", "CAP_NET_RAW");
    EXPECT_EQ(reachable.answer, Answer::no);
    EXPECT_THAT(reachable.remedy, HasSubstr("sudo"));
    const Fact lost = fact(report, "privileges", "CAP_BPF");
    EXPECT_EQ(lost.answer, Answer::no);
    EXPECT_THAT(lost.reason, HasSubstr("bounding set"));
    EXPECT_THAT(lost.remedy, HasSubstr("--cap-add=BPF"));
}

TEST(ProbePrivileges, NamesASeccompFilter) {
    const FakeHost host;
    host.put("proc/self/status", status("0", "0", 2));
    EXPECT_EQ(
        fact(ask(add_privileges, host), "privileges", "no_seccomp_filter").answer, Answer::no);

    host.put("proc/self/status", status("0", "0", 0));
    EXPECT_EQ(
        fact(ask(add_privileges, host), "privileges", "no_seccomp_filter").answer, Answer::yes);
}

TEST(ProbePrivileges, WithoutProcAreUnknown) {
    const FakeHost host;
    const Report absent = ask(add_privileges, host);
    EXPECT_EQ(fact(absent, "privileges", "CAP_SYS_ADMIN").answer, Answer::unknown);
    EXPECT_THAT(fact(absent, "privileges", "CAP_SYS_ADMIN").reason, HasSubstr("ENOENT"));

    host.put("proc/self/status", status("not hexadecimal", "0"));
    EXPECT_EQ(fact(ask(add_privileges, host), "privileges", "CAP_BPF").answer, Answer::unknown);
}

TEST(ProbeKernel, ReadsTheIoUringSwitch) {
    const FakeHost host;
    const std::string file = "proc/sys/kernel/io_uring_disabled";
    EXPECT_EQ(fact(ask(add_kernel, host), "kernel", "io_uring_enabled").answer, Answer::yes);
    host.put(file, "0\n");
    EXPECT_EQ(fact(ask(add_kernel, host), "kernel", "io_uring_enabled").answer, Answer::yes);
    for (const char* value : {"1\n", "2\n"}) {
        host.put(file, value);
        const Fact off = fact(ask(add_kernel, host), "kernel", "io_uring_enabled");
        EXPECT_EQ(off.answer, Answer::no);
        EXPECT_EQ(off.remedy, "sysctl kernel.io_uring_disabled=0");
    }
}

TEST(ProbeKernel, ShowsLockdownOnlyWhenItCanBeRead) {
    const FakeHost host;
    EXPECT_EQ(fact(ask(add_kernel, host), "kernel", "lockdown").answer, Answer::unknown);
    host.put("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    const Fact seen = fact(ask(add_kernel, host), "kernel", "lockdown");
    EXPECT_EQ(seen.answer, Answer::yes);
    EXPECT_EQ(seen.value, "none [integrity] confidentiality");
}

TEST(ProbeDevices, NameTheOptionOfAMissingNode) {
    const FakeHost host;
    host.put("dev/fuse", "");

    const Report report = ask(add_devices, host);

    EXPECT_EQ(fact(report, "devices", "fuse").answer, Answer::yes);
    EXPECT_EQ(fact(report, "devices", "tun").answer, Answer::no);
    EXPECT_THAT(fact(report, "devices", "loop_control").remedy, HasSubstr("CONFIG_BLK_DEV_LOOP"));
}

std::string mount_line(const std::string& point, const char* type, const char* options) {
    return "30 20 0:26 / " + point + " rw - " + type + " none rw," + options + "\n";
}

TEST(ProbeCgroups, ReadVersionTwo) {
    const FakeHost host;
    host.put("proc/self/mountinfo", mount_line(host.path("cg"), "cgroup2", "nsdelegate"));
    host.put("proc/self/cgroup", "0::/app\n");
    host.put("cg/app/cgroup.procs", "1\n");
    host.put("cg/app/cgroup.controllers", "cpu memory pids\n");
    host.put("cg/app/cpu.max", "50000 100000\n");
    host.put("cg/app/memory.max", "max\n");

    const Report report = ask(add_cgroups, host);

    EXPECT_EQ(fact(report, "cgroups", "mounted").value, "version 2");
    EXPECT_EQ(fact(report, "cgroups", "cpu_controller").answer, Answer::yes);
    EXPECT_EQ(fact(report, "cgroups", "io_controller").answer, Answer::no);
    EXPECT_EQ(fact(report, "cgroups", "no_cpu_limit").answer, Answer::no);
    EXPECT_THAT(fact(report, "cgroups", "no_cpu_limit").reason, HasSubstr("50000 100000"));
    EXPECT_EQ(fact(report, "cgroups", "no_memory_limit").answer, Answer::yes);
}

TEST(ProbeCgroups, ReadVersionOne) {
    const FakeHost host;
    host.put(
        "proc/self/mountinfo", mount_line(host.path("cpu"), "cgroup", "cpu,cpuacct") +
                                   mount_line(host.path("mem"), "cgroup", "memory"));
    host.put("proc/self/cgroup", "3:cpu,cpuacct:/a\n4:memory:/outside/the/container\n");
    host.put("cpu/a/cgroup.procs", "1\n");
    host.put("cpu/a/cpu.cfs_quota_us", "-1\n");
    host.put("mem/memory.limit_in_bytes", "268435456\n");

    const Report report = ask(add_cgroups, host);

    EXPECT_EQ(fact(report, "cgroups", "mounted").value, "version 1");
    EXPECT_EQ(fact(report, "cgroups", "no_cpu_limit").answer, Answer::yes);
    EXPECT_EQ(fact(report, "cgroups", "no_memory_limit").answer, Answer::no);
    EXPECT_THAT(fact(report, "cgroups", "no_memory_limit").reason, HasSubstr("268435456"));
}

TEST(ProbeCgroups, SayWhatCouldNotBeSeen) {
    const FakeHost host;
    EXPECT_EQ(fact(ask(add_cgroups, host), "cgroups", "mounted").answer, Answer::unknown);

    host.put("proc/self/mountinfo", mount_line("/", "ext4", "x"));
    host.put("proc/self/cgroup", "garbage\n");
    const Report none = ask(add_cgroups, host);
    EXPECT_EQ(fact(none, "cgroups", "mounted").answer, Answer::no);
    EXPECT_EQ(fact(none, "cgroups", "no_cpu_limit").answer, Answer::unknown);
}

TEST(ProbeStorage, NamesADirectoryItCannotOpen) {
    Report report;
    add_storage(report, Roots{}, "/nonexistent/promtact");
    EXPECT_EQ(fact(report, "storage", "directory").answer, Answer::no);
    EXPECT_THAT(fact(report, "storage", "directory").reason, HasSubstr("ENOENT"));
}

} // namespace
} // namespace promtact::harness::probe
