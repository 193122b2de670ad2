// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Source: cgroups(7), Documentation/admin-guide/cgroup-v2.rst, /cgroup-v1/memory.rst, and
// Documentation/scheduler/sched-bwc.rst.
#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/numbers.hpp>

#include "probe/sources.hpp"

namespace promtact::harness::probe {

namespace {

/// One hierarchy this process is in: a line of /proc/self/cgroup.
struct Membership {
    std::string controllers{}; // "" for version 2, "cpu,cpuacct" or "name=systemd" for version 1
    std::string path{};        // "/system.slice/x"
};

bool lists(std::string_view commas, std::string_view word) {
    while (!commas.empty()) {
        const std::size_t end = commas.find(',');
        if (commas.substr(0, end) == word) return true;
        commas.remove_prefix(end == std::string_view::npos ? commas.size() : end + 1);
    }
    return false;
}

std::vector<Membership> parse_memberships(std::string_view text) {
    std::vector<Membership> out;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const std::size_t first = line.find(':');
        const std::size_t second =
            first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second != std::string_view::npos) {
            out.push_back(
                {std::string(line.substr(first + 1, second - first - 1)),
                 std::string(line.substr(second + 1))});
        }
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return out;
}

/// Reads this process's limits; knows where each hierarchy is mounted.
class Groups {
  public:
    Groups(std::vector<Membership> memberships, std::vector<Mount> mounts)
        : memberships_(std::move(memberships)), mounts_(std::move(mounts)) {}

    [[nodiscard]] const Mount* unified() const {
        const auto at = std::ranges::find(mounts_, "cgroup2", &Mount::filesystem);
        return at == mounts_.end() ? nullptr : &*at;
    }

    [[nodiscard]] const Mount* legacy(std::string_view controller) const {
        for (const Mount& mount : mounts_)
            if (mount.filesystem == "cgroup" && lists(mount.options, controller)) return &mount;
        return nullptr;
    }

    /// Directory of our group in the hierarchy of a controller of version 1, or of version 2 for
    /// "". Inside a container the path may lead outside what is mounted: then the mount itself is
    /// our group.
    [[nodiscard]] std::optional<std::string> directory(std::string_view controller) const {
        const Mount* mount = controller.empty() ? unified() : legacy(controller);
        if (mount == nullptr) return std::nullopt;
        for (const Membership& membership : memberships_) {
            const bool ours = controller.empty() ? membership.controllers.empty()
                                                 : lists(membership.controllers, controller);
            if (!ours) continue;
            const std::string inner = mount->mount_point + membership.path;
            if (read_line(inner + "/cgroup.procs")) return inner;
        }
        return mount->mount_point;
    }

    /// The first of a version 2 and a version 1 limit file that can be read.
    [[nodiscard]] std::optional<std::string>
    limit(std::string_view file, std::string_view controller, std::string_view legacy_file) const {
        if (const auto own = directory("")) {
            if (const auto text = read_line(fmt::format("{}/{}", *own, file))) return *text;
        }
        if (const auto own = directory(controller)) {
            if (const auto text = read_line(fmt::format("{}/{}", *own, legacy_file))) return *text;
        }
        return std::nullopt;
    }

  private:
    std::vector<Membership> memberships_;
    std::vector<Mount> mounts_;
};

void add_version(Section& section, const Groups& groups) {
    const bool legacy = groups.legacy("cpu") != nullptr || groups.legacy("memory") != nullptr;
    if (groups.unified() == nullptr && !legacy) {
        return section.no(
            "mounted", "no cgroup filesystem is mounted here",
            "mount -t cgroup2 none /sys/fs/cgroup");
    }
    section.yes(
        "mounted", !legacy                       ? "version 2"
                   : groups.unified() == nullptr ? "version 1"
                                                 : "version 1, with an empty version 2 beside it");
}

void add_controllers(Section& section, const Groups& groups) {
    for (const std::string_view name : {"cpu", "memory", "io", "pids"}) {
        const std::string_view legacy_name = name == "io" ? "blkio" : name;
        const auto own = groups.directory("");
        const auto offered =
            own ? read_line(*own + "/cgroup.controllers") : Result<std::string>("");
        std::string commas = offered ? *offered : "";
        std::ranges::replace(commas, ' ', ',');
        const std::string fact = fmt::format("{}_controller", name);
        if (lists(commas, name)) {
            section.yes(fact, "version 2");
        } else if (groups.legacy(legacy_name) != nullptr) {
            section.yes(fact, "version 1");
        } else {
            section.no(fact, "neither version offers it here; gates do not need it");
        }
    }
}

/// "200000 100000" or "max 100000" of version 2; version 1 keeps quota and period apart.
void add_cpu_limit(Section& section, const Groups& groups) {
    const auto text = groups.limit("cpu.max", "cpu", "cpu.cfs_quota_us");
    const std::string_view name = "no_cpu_limit";
    if (!text) {
        // The root group has no limit file at all.
        const auto own = groups.directory("");
        if (own && read_line(*own + "/cgroup.controllers"))
            return section.yes(name, "root control group");
        return section.unknown(
            name, "no cpu.max and no cpu.cfs_quota_us of this group can be read");
    }
    if (text->starts_with("max") || *text == "-1") return section.yes(name);
    section.no(
        name, fmt::format("quota {}: measured times include throttling", *text),
        "run outside the control group, or raise its quota, before trusting latencies");
}

void add_memory_limit(Section& section, const Groups& groups) {
    const auto text = groups.limit("memory.max", "memory", "memory.limit_in_bytes");
    const std::string_view name = "no_memory_limit";
    // Version 1 says "none" as the largest number of pages, just below 2^63.
    constexpr std::uint64_t unlimited = std::uint64_t{1} << 62U;
    constexpr std::uint64_t wanted_bytes = std::uint64_t{1} << 30U;
    if (!text) {
        const auto own = groups.directory("");
        if (own && read_line(*own + "/cgroup.controllers"))
            return section.yes(name, "root control group");
        return section.unknown(name, "no memory.max and no memory.limit_in_bytes can be read");
    }
    if (*text == "max") return section.yes(name);
    const Result<std::uint64_t> bytes = parse_u64(*text);
    if (!bytes) return section.unknown(name, describe(bytes.error()));
    if (*bytes >= unlimited) return section.yes(name);
    if (*bytes >= wanted_bytes) return section.yes(name, fmt::format("limit {} bytes", *bytes));
    section.no(
        name, fmt::format("limit {} bytes; page cache counts towards it", *bytes),
        "raise the limit of the control group");
}

} // namespace

void add_cgroups(Report& report, const Roots& roots) {
    Section section(report, "cgroups");
    const auto memberships = read_line(roots.proc + "/self/cgroup");
    auto mounts = read_mounts(roots);
    if (!memberships || !mounts) {
        const Error& error = memberships ? mounts.error() : memberships.error();
        return section.unknown("mounted", describe(error));
    }
    const Groups groups(parse_memberships(*memberships), *std::move(mounts));
    add_version(section, groups);
    add_controllers(section, groups);
    add_cpu_limit(section, groups);
    add_memory_limit(section, groups);
}

} // namespace promtact::harness::probe
