// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <sys/stat.h>

#include <promtact/netns/leak_audit.hpp>

#include "audit_internal.hpp"

namespace promtact::netns {
namespace {

constexpr int attempts_max = 16;
constexpr std::chrono::milliseconds poll_interval{5};

void collect_names(const std::filesystem::path& directory, const char* what, Lines& lines) {
    std::error_code error;
    std::filesystem::directory_iterator entry{directory, error};
    for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
        struct stat status {};
        if (::stat(entry->path().c_str(), &status) != 0) continue; // gone meanwhile
        lines.push_back(
            std::string{what} + " " + entry->path().string() + " inode " +
            std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino));
    }
    if (error && error.value() != ENOENT)
        lines.push_back(std::string{what} + " " + directory.string() + " not visible");
}

void collect_held(Lines& lines) {
    std::error_code error;
    std::filesystem::directory_iterator entry{"/proc/self/fd", error};
    for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
        std::error_code closed;
        const std::string target = std::filesystem::read_symlink(entry->path(), closed).string();
        if (target.substr(0, 5) == "net:[") lines.push_back("held " + target);
    }
}

/// mountinfo without its two ids and peer groups, which differ between equal states.
void collect_mounts(Lines& lines) {
    std::ifstream file{"/proc/self/mountinfo"};
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields{line};
        std::string id, parent, device, root, target, options;
        fields >> id >> parent >> device >> root >> target >> options;
        const std::size_t separator = line.find(" - ");
        const std::string filesystem =
            separator == std::string::npos ? std::string{} : line.substr(separator + 3);
        lines.push_back("mount " + target + " root " + root + " " + options + " " + filesystem);
    }
}

void collect_loop_devices(Lines& lines) {
    std::error_code error;
    std::filesystem::directory_iterator entry{"/sys/block", error};
    for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (name.substr(0, 4) != "loop") continue;
        std::ifstream file{entry->path() / "loop" / "backing_file"};
        std::string backing;
        if (std::getline(file, backing)) lines.push_back("loop " + name + " on " + backing);
    }
}

} // namespace

std::string Inventory::text() const {
    std::string out;
    for (const std::string& line : lines)
        out += line + "\n";
    return out;
}

std::string InventoryDifference::text() const {
    std::string out;
    for (const std::string& line : gone)
        out += "- " + line + "\n";
    for (const std::string& line : appeared)
        out += "+ " + line + "\n";
    return out;
}

Result<Inventory> take_inventory(Parts parts) {
    for (int attempt = 0;; ++attempt) {
        Inventory inventory;
        const Result<void> interfaces = collect_interfaces(parts, inventory.lines);
        // A table that changed while it was read: read it again, but not for ever.
        if (!interfaces && interfaces.error().code == Errc::busy && attempt < attempts_max)
            continue;
        if (!interfaces) return interfaces.error();
        if (parts.has(Part::names)) {
            collect_names("/run/netns", "name", inventory.lines);
            collect_names("/run/promtact/claims", "claim", inventory.lines);
        }
        if (parts.has(Part::held)) collect_held(inventory.lines);
        if (parts.has(Part::bpf_objects)) collect_bpf_objects(inventory.lines);
        if (parts.has(Part::mounts)) collect_mounts(inventory.lines);
        if (parts.has(Part::loop_devices)) collect_loop_devices(inventory.lines);
        std::sort(inventory.lines.begin(), inventory.lines.end());
        return inventory;
    }
}

Result<Inventory> take_inventory(const Namespace& where, Parts parts) {
    return run_inside(where, [parts] { return take_inventory(parts); });
}

InventoryDifference difference(const Inventory& before, const Inventory& after) {
    InventoryDifference out;
    std::set_difference(
        before.lines.begin(), before.lines.end(), after.lines.begin(), after.lines.end(),
        std::back_inserter(out.gone));
    std::set_difference(
        after.lines.begin(), after.lines.end(), before.lines.begin(), before.lines.end(),
        std::back_inserter(out.appeared));
    PROMTACT_ASSERT(out.empty() == (before == after));
    return out;
}

Result<InventoryDifference>
wait_until_equal(const Inventory& before, Parts parts, std::chrono::milliseconds deadline) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    for (;;) {
        PROMTACT_TRY_ASSIGN(const Inventory now, take_inventory(parts));
        InventoryDifference found = difference(before, now);
        if (found.empty() || std::chrono::steady_clock::now() >= end) return found;
        std::this_thread::sleep_for(poll_interval);
    }
}

} // namespace promtact::netns
