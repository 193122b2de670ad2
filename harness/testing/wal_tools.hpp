// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// For tests of `promtact wal`: the built binary, a directory for it, a log made with it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/wal/format.hpp>
#include <promtact/wal/record.hpp>

#include "temporary_directory.hpp"
#include "testing/process.hpp"

namespace promtact::harness::testing {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

inline constexpr std::uint64_t records = 20'000;
inline constexpr int sigkill_exit = 137;

/// What else of a launch a test wants to be so.
inline Finish wal_as(Launch launch, const std::vector<std::string>& words) {
    launch.program = built("promtact");
    launch.argv = {"promtact", "wal"};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    const Result<Finish> finish = run(launch);
    return finish ? *finish : Finish{};
}
inline Finish
wal(const std::vector<std::string>& words, std::vector<std::string> environment = {}) {
    return wal_as({.environment = std::move(environment)}, words);
}

inline std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
inline void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}
inline void flip(const fs::path& path, std::streamoff at) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(at);
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(at);
    file.put(byte);
}

/// Names, sizes and times of change.
inline std::string state_of(const fs::path& directory) {
    std::vector<std::string> lines;
    for (const auto& entry : fs::directory_iterator(directory)) {
        struct stat status {};
        EXPECT_EQ(::lstat(entry.path().c_str(), &status), 0);
        lines.push_back(
            entry.path().filename().string() + " " + std::to_string(status.st_size) + " " +
            std::to_string(status.st_mtim.tv_nsec) + " " + std::to_string(status.st_ctim.tv_nsec) +
            "\n");
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines)
        text += line;
    return text;
}

class WalTools : public ::testing::Test {
  protected:
    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_.path() / name).string();
    }
    /// A log of two segments, made from a flat file of the reference.
    std::string make_log() {
        std::string flat;
        for (std::uint64_t sequence = 1; sequence <= records; ++sequence) {
            promtact::wal::RecordBytes bytes{};
            promtact::wal::encode({.sequence = sequence, .value = sequence * 3}, bytes);
            flat += text_of_bytes(bytes);
        }
        write(path("old"), flat);
        const Finish made = wal({"migrate", path("old"), path("log"), "-segment-mib", "1"});
        EXPECT_EQ(made.exit, 0) << made.err;
        EXPECT_THAT(made.out, HasSubstr("20000 records of 2240000 bytes; the old file's tail is"));
        return path("log");
    }
    static std::string text_of_bytes(std::span<const std::byte> bytes) {
        return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
    }
    static std::string segment(const std::string& log, std::uint64_t id) {
        return log + "/" + promtact::wal::segment_name(id);
    }

    /// A line of a verb's text, without its name; empty when there is none.
    static std::string line_of(const Finish& finish, const std::string& name) {
        const std::size_t at = finish.out.find(name);
        if (at == std::string::npos) return {};
        const std::size_t begin = finish.out.find_first_not_of(' ', at + name.size());
        return finish.out.substr(begin, finish.out.find('\n', begin) - begin);
    }

  private:
    test_support::TemporaryDirectory folder_;
};

} // namespace promtact::harness::testing
