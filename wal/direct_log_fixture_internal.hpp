// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A log file in a directory of its own, for the tests of the direct log.
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/uring/direct_file.hpp>
#include <promtact/wal/direct_log.hpp>

#include <temporary_directory.hpp>

namespace promtact::wal {

inline Record make(std::uint64_t n) {
    return {
        .index = n * 3,
        .term = n / 7,
        .command = ~n,
        .kind = static_cast<std::uint8_t>(n % 4),
        .old_voters = 7,
        .new_voters = n,
        .operation = static_cast<std::uint8_t>(n % 3),
        .client_id = n % 5,
        .request_id = n,
        .key = n * 1'000'003,
        .value = n * n};
}

class DirectLogTest : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto ring = uring::Ring::open({});
        if (!ring) GTEST_SKIP() << "needs io_uring: " << describe(ring.error());
        const auto file = uring::open_direct_scratch(directory.path());
        if (!file) GTEST_SKIP() << "needs O_DIRECT: " << describe(file.error());
        path = directory / "log";
    }

    // Creates the log with `count` records, closed.
    void write(std::uint64_t count, const DirectLogOptions& options = {}) {
        auto log = DirectLog::create(path, options);
        ASSERT_TRUE(log) << describe(log.error());
        for (std::uint64_t n = 1; n <= count; ++n)
            ASSERT_EQ(*log->append(make(n)), n);
        const auto closed = log->close();
        ASSERT_TRUE(closed) << describe(closed.error());
    }

    Result<std::vector<Record>> read(const DirectLogOptions& options = {}) const {
        std::vector<Record> records;
        const auto recovery = read_direct_log(
            path, options, [&records](const Record& record) { records.push_back(record); });
        if (!recovery) return recovery.error();
        PROMTACT_ASSERT(recovery->records == records.size());
        return records;
    }

    void expect_records(std::uint64_t count, const DirectLogOptions& options = {}) const {
        const auto records = read(options);
        ASSERT_TRUE(records) << describe(records.error());
        ASSERT_EQ(records->size(), count);
        for (std::uint64_t n = 1; n <= count; ++n) {
            Record expected = make(n);
            expected.sequence = n;
            ASSERT_EQ((*records)[n - 1], expected);
        }
    }

    std::vector<char> image() const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    void patch(std::uint64_t at, std::string_view bytes) const {
        const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        PROMTACT_ASSERT(
            ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(bytes.size()));
        PROMTACT_ASSERT(::fsync(file.get()) == 0);
    }
    void resize(std::uint64_t bytes) const {
        PROMTACT_ASSERT(::truncate(path.c_str(), static_cast<off_t>(bytes)) == 0);
    }

    test_support::TemporaryDirectory directory;
    std::filesystem::path path;
};

} // namespace promtact::wal
