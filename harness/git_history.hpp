// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What git knows about results, by its plumbing commands.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/gates/freshness.hpp>

namespace promtact::harness {

/// Answers unknown when git is not installed, root is no checkout, or the commit is not in it (a
/// shallow clone lacks old ones).
class GitHistory final : public gates::History {
  public:
    explicit GitHistory(std::filesystem::path root);

    gates::Ancestry ancestry(std::string_view commit) override;
    std::optional<std::vector<std::string>>
    changed_since(std::string_view commit, const std::vector<std::string>& folders) override;

  private:
    struct Answer {
        int status = -1; // exit status; -1 when git could not be run
        std::string output{};
    };
    [[nodiscard]] Answer git(std::vector<std::string> arguments) const;
    bool has_commit(std::string_view commit);

    std::filesystem::path root_;
    std::map<std::string, bool, std::less<>> known_{}; // commits asked for before
};

} // namespace promtact::harness
