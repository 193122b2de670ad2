// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Test helper: an empty directory that is gone after the test.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <promtact/base/assert.hpp>

namespace promtact::test_support {

/// A new directory, removed with its content by the destructor. Under TMPDIR or /tmp, unless a test
/// needs another filesystem.
class TemporaryDirectory {
  public:
    explicit TemporaryDirectory(
        const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
        std::string pattern = (parent / "promtact-test-XXXXXX").string();
        PROMTACT_ASSERT(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }

    /// Names in the directory, sorted.
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(path_))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

  private:
    std::filesystem::path path_{};
};

} // namespace promtact::test_support
