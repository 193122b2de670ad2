// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A directory that looks like sysfs and procfs to the block device code, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/mount_table.hpp>

#include "testing/temporary_directory.hpp"

namespace promtact::testing {

class FakeSystem {
  public:
    FakeSystem() {
        std::filesystem::create_directories(root_ / "sys/dev/block");
        std::filesystem::create_directories(root_ / "sys/class/block");
        std::filesystem::create_directories(root_ / "sys/block");
        mounts("26 1 254:0 / / rw - ext4 /dev/vda rw\n");
        swaps("");
        disk("vda", "254:0", 1 << 20);
    }

    [[nodiscard]] SystemRoots roots() const {
        return {.sys = (root_ / "sys").string(), .proc = (root_ / "proc").string()};
    }
    void write(const std::filesystem::path& path, const std::string& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    void mounts(const std::string& text) const { write("proc/self/mountinfo", text); }
    void swaps(const std::string& rows) const {
        write("proc/swaps", "Filename Type Size Used Priority\n" + rows);
    }
    void disk(const std::string& name, const std::string& number, std::uint64_t bytes) const {
        device("sys/devices/" + name, name, number, bytes);
        std::filesystem::create_directory_symlink(
            root_ / "sys/devices" / name, root_ / "sys/block" / name);
    }
    void
    partition(const std::string& disk, const std::string& name, const std::string& number) const {
        device("sys/devices/" + disk + "/" + name, name, number, 4096);
        write("sys/devices/" + disk + "/" + name + "/partition", "1\n");
    }
    /// `upper` is built on `lower` (a disk or a partition given as disk/partition).
    void stack(const std::string& lower, const std::string& upper) const {
        write("sys/devices/" + lower + "/holders/" + upper, "");
        const std::string name = std::filesystem::path(lower).filename().string();
        write("sys/devices/" + upper + "/slaves/" + name, "");
    }

  private:
    void device(
        const std::filesystem::path& folder, const std::string& name, const std::string& number,
        std::uint64_t bytes) const {
        write(folder / "dev", number + "\n");
        write(folder / "size", std::to_string(bytes / 512) + "\n");
        write(folder / "ro", "0\n");
        std::filesystem::create_directory_symlink(root_ / folder, root_ / "sys/dev/block" / number);
        std::filesystem::create_directory_symlink(root_ / folder, root_ / "sys/class/block" / name);
    }

    test_support::TemporaryDirectory temporary_{};
    std::filesystem::path root_ = temporary_.path();
};

} // namespace promtact::testing
