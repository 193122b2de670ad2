// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// From a directory to its mount and its disk, through /proc/self/mountinfo and /sys/dev/block.
#include <sstream>
#include <system_error>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <promtact/gates/host_facts.hpp>

#include "host_text_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

struct Mount {
    std::string device_number{}; // "254:0"
    std::string point{};
    std::string options{}; // of the mount
    std::string type{};
    std::string source{};
    std::string super_options{}; // of the filesystem
};

// Fields are separated by single spaces; white space inside them is \040 and friends (proc(5)).
std::string unescaped(std::string_view text) {
    const auto octal = [](char c) { return c >= '0' && c <= '7'; };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '\\' && i + 3 < text.size() + 0 && octal(text[i + 1]) &&
                            octal(text[i + 2]) && octal(text[i + 3]);
        if (!escape) {
            out += text[i];
            continue;
        }
        out += static_cast<char>(
            (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
        i += 3;
    }
    return out;
}

std::optional<Mount> parse_mount(const std::string& line) {
    std::istringstream words(line);
    std::string id, parent, root, word;
    Mount mount;
    words >> id >> parent >> mount.device_number >> root >> mount.point >> mount.options;
    while (words >> word && word != "-") {
    }
    words >> mount.type >> mount.source >> mount.super_options;
    if (mount.type.empty()) return std::nullopt;
    mount.point = unescaped(mount.point);
    return mount;
}

// The last line whose device is that of the directory and whose point is the longest prefix: later
// mounts cover earlier ones.
std::optional<Mount> mount_of(const fs::path& directory, std::string_view device_number) {
    std::istringstream lines(read_fact("/proc/self/mountinfo").value_or(""));
    std::optional<Mount> best;
    for (std::string line; std::getline(lines, line);) {
        std::optional<Mount> mount = parse_mount(line);
        if (!mount.has_value()) continue;
        const std::string prefix = mount->point == "/" ? "/" : mount->point + "/";
        const bool covers = directory == mount->point || directory.string().starts_with(prefix);
        const bool deeper = !best.has_value() || mount->point.size() >= best->point.size();
        if (covers && deeper) best = std::move(mount);
    }
    if (best.has_value() && best->device_number != device_number && best->type != "btrfs" &&
        best->type != "overlay")
        return std::nullopt;
    return best;
}

bool is_memory_filesystem(std::string_view type) {
    return type == "tmpfs" || type == "ramfs" || type == "devtmpfs";
}

std::string journal_of(const Mount& mount, const std::string& partition) {
    if (is_memory_filesystem(mount.type)) return "no";
    if (mount.type == "xfs") return "yes";
    if (mount.type == "ext3") return "yes";
    if (mount.type != "ext4") return "unknown";
    if (mount.super_options.find("norecovery") != std::string::npos) return "no";
    // jbd2 keeps a folder per journal it runs: /proc/fs/jbd2/<partition>-<inode>.
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc/fs/jbd2", error))
        if (entry.path().filename().string().starts_with(partition + "-")) return "yes";
    return fs::exists("/proc/fs/ext4/" + partition, error) ? "no" : "unknown";
}

// /sys/dev/block/M:m of a partition has a `partition` file; its parent folder is the disk.
fs::path disk_folder(const std::string& device_number) {
    std::error_code error;
    fs::path folder = fs::canonical("/sys/dev/block/" + device_number, error);
    if (error) return {};
    if (fs::exists(folder / "partition", error)) folder = folder.parent_path();
    return folder;
}

void describe_disk(const fs::path& disk, StorageFacts& facts) {
    facts.device = disk.filename();
    facts.model = fact_or_unknown(disk / "device/model");
    const fs::path queue = disk / "queue";
    facts.scheduler = chosen_word(fact_or_unknown(queue / "scheduler"));
    facts.write_cache = fact_or_unknown(queue / "write_cache");
    facts.rotational = read_number(queue / "rotational");
    facts.fua = read_number(queue / "fua");
    facts.logical_block_bytes = read_number(queue / "logical_block_size");
    facts.physical_block_bytes = read_number(queue / "physical_block_size");
    facts.atomic_write_max_bytes = read_number(queue / "atomic_write_unit_max_bytes");
    // Units: /sys/block/*/size counts sectors of 512 bytes whatever the device's own size is.
    if (const auto sectors = read_number(disk / "size"); sectors.has_value())
        facts.size_bytes = *sectors * 512;
}

StorageFacts nothing_known() {
    StorageFacts facts;
    for (std::string* text :
         {&facts.filesystem, &facts.mount_options, &facts.journal, &facts.device, &facts.model,
          &facts.scheduler, &facts.write_cache})
        *text = "unknown";
    return facts;
}

fs::path nearest_existing(const fs::path& directory) {
    std::error_code error;
    fs::path path = fs::absolute(directory.empty() ? fs::path(".") : directory, error);
    while (!fs::exists(path, error) && path.has_relative_path())
        path = path.parent_path();
    fs::path real = fs::canonical(path, error);
    return error ? path : real;
}

} // namespace

StorageFacts collect_storage_facts(const fs::path& directory) {
    StorageFacts facts = nothing_known();
    const fs::path existing = nearest_existing(directory);
    struct stat status {};
    if (::stat(existing.c_str(), &status) != 0) return facts;
    std::string number =
        std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
    const std::optional<Mount> mount = mount_of(existing, number);
    if (!mount.has_value()) return facts;
    facts.filesystem = mount->type;
    facts.mount_options = mount->options + "," + mount->super_options;
    // Btrfs and overlay have numbers of their own; Btrfs names its device as the source.
    struct stat source {};
    if (mount->source.starts_with("/dev/") && ::stat(mount->source.c_str(), &source) == 0 &&
        S_ISBLK(source.st_mode)) {
        number =
            std::to_string(major(source.st_rdev)) + ":" + std::to_string(minor(source.st_rdev));
    }
    std::error_code error;
    const fs::path partition = fs::canonical("/sys/dev/block/" + number, error);
    facts.journal = journal_of(*mount, partition.filename());
    if (const fs::path disk = disk_folder(number); !disk.empty()) {
        describe_disk(disk, facts);
    } else if (is_memory_filesystem(mount->type)) {
        facts.device = "none";
    }
    return facts;
}

} // namespace promtact::gates
