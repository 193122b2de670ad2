// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// sweep --strategy exhaustive: every order of events instead of seeds.
#pragma once

#include <string>
#include <string_view>

#include <promtact/sim/search.hpp>
#include <promtact/sim/sim_main.hpp>

namespace promtact::sim {

inline constexpr std::string_view exhaustive_name = "exhaustive";

struct ExhaustiveFlags {
    std::string config{};
    std::string protocol{};
    std::string bounds{};
    std::string time{};
    std::string out{};
    std::string corpus{};
    bool json = false;
};

/// Searches, prints what was found, keeps it where the flags say. Returns the exit code.
int run_exhaustive(const Tool& tool, const ExhaustiveFlags& flags);

/// replay of a search's file: its path once more, compared state by state.
int replay_search(const Tool& tool, const std::string& path, const std::string& text, bool json);

/// What was searched and found, one line a fact.
std::string text_of(const SearchReport& report);
/// The path to a violation, action by action, with what the nodes say where that changes.
std::string path_text(const SearchReport& report);

} // namespace promtact::sim
