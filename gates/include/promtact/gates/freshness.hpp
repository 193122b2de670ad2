// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Whether a result still speaks of the code in the tree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/gates/gate.hpp>
#include <promtact/gates/record.hpp>

namespace promtact::gates {

enum class Ancestry : std::uint8_t { ancestor, stranger, unknown };

/// What version control knows. Implemented outside this library, which starts no program.
class History {
  public:
    History() = default;
    History(const History&) = delete;
    History& operator=(const History&) = delete;
    virtual ~History() = default;
    /// Of a commit to the one checked out.
    virtual Ancestry ancestry(std::string_view commit) = 0;
    /// Files under the folders that differ between the commit and the working tree, sorted; nothing
    /// when that cannot be told.
    virtual std::optional<std::vector<std::string>>
    changed_since(std::string_view commit, const std::vector<std::string>& folders) = 0;
};

/// Knows nothing; for trees without version control.
class NoHistory final : public History {
  public:
    Ancestry ancestry(std::string_view) override { return Ancestry::unknown; }
    std::optional<std::vector<std::string>>
    changed_since(std::string_view, const std::vector<std::string>&) override {
        return std::nullopt;
    }
};

struct Freshness {
    enum class State : std::uint8_t { current, stale, unknown } state = State::unknown;
    std::string reason{}; // empty when current
};

/// Stale when the gate's body has a newer revision, or when a file that can change the answer
/// changed since the commit: anything under the qualified units, the gate's folder or what the
/// bodies of its tier share, but Markdown, tests, benchmarks, fuzz targets and their data.
Freshness
freshness_of(const GateRecord& record, std::span<const GateEntry> catalog, History& history);

/// "current", "stale: …", "unknown: …"
std::string to_string(const Freshness& freshness);

/// False for files that cannot change what a gate finds (see freshness_of).
bool changes_answers(std::string_view path);

} // namespace promtact::gates
