// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Every order of events of a protocol within bounds, without its types: the search, its report, its
// file, and a path of it taken once more.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/scenario.hpp>
#include <promtact/engine/explore_types.hpp>

namespace promtact::sim {

struct Protocol;

/// Asked now and then; false ends the search.
using SearchGoOn = std::function<bool(const engine::ExploreReport& so_far)>;

/// A search of one cluster; see engine::Explorer.
class SearchSession {
  public:
    SearchSession() = default;
    SearchSession(const SearchSession&) = delete;
    SearchSession& operator=(const SearchSession&) = delete;
    virtual ~SearchSession() = default;

    virtual engine::ExploreReport run(const SearchGoOn& go_on) = 0;
    virtual engine::Retrace retrace(std::span<const engine::ExploredAction> path) = 0;
};

/// How a protocol is searched.
struct Searching {
    std::string lacks = "a search"; // what is missing for it, in words; empty: nothing
    std::function<std::unique_ptr<SearchSession>(const Scenario&, const engine::ExploreBounds&)>
        start{};
};

// --- bounds ---

/// The bounds as somebody gives them.
struct SearchBounds {
    std::uint32_t nodes = 0; // 0: as many as the scenario has
    engine::ExploreBounds explore{};
};
/// "states=1000000,crashes=1", or a file with an object of the same names. Errors: invalid_argument
/// and format, naming what is wrong; not_found, io
Result<SearchBounds> parse_bounds(const std::string& text);
/// Their names, for messages.
std::string bound_names();
/// As fields of an object that is open; those that limit nothing are left out.
void write_bounds(JsonWriter& json, const engine::ExploreBounds& bounds);
/// Of such an object. Notes what is wrong.
SearchBounds read_bounds(const JsonValue& value, JsonProblems& problems);

// --- the search ---

struct SearchReport {
    std::string protocol{};
    Scenario scenario{}; // what of it counts: name, nodes and goals
    engine::ExploreBounds bounds{};
    std::chrono::nanoseconds wall{};
    engine::ExploreReport found{};
    engine::Retrace story{}; // the path to a violation, taken once more by another cluster
};

/// Of the scenario only its nodes and the goals it expects count: what a run draws or plans, a
/// search tries. Errors: unsupported, naming what the protocol lacks
Result<SearchReport> search(
    const Protocol& protocol, const Scenario& scenario, const engine::ExploreBounds& bounds,
    const SearchGoOn& go_on = {});

/// The report with its path taken by the protocol as it is now. Errors: unsupported
Result<engine::Retrace> retrace(const Protocol& protocol, const SearchReport& report);
/// The first place at which a path went another way than it was kept, in words.
std::optional<std::string>
first_difference(const engine::Retrace& kept, const engine::Retrace& now);

// --- its file ---

/// As the text of a file; read_search() is its inverse.
std::string write_search(const SearchReport& report);
/// The same as fields of an object that is open.
void write_search(JsonWriter& json, const SearchReport& report);
/// Whether a text is meant to be one.
bool is_search(std::string_view text) noexcept;
/// Errors: format, naming line and column
Result<SearchReport> read_search(std::string_view text, std::string_view source);

} // namespace promtact::sim
