// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cstdlib>

#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/env.hpp>
#include <promtact/base/numbers.hpp>

namespace promtact {
namespace {

constexpr std::array known{
    EnvVariable{"COLUMNS", EnvStatus::read, "width of the terminal for progress lines"},
    EnvVariable{
        "JEPSEN_TIME_LIMIT", EnvStatus::reserved, "seconds a Jepsen workload runs (verification/)"},
    EnvVariable{"NO_COLOR", EnvStatus::read, "any value turns colour off"},
    EnvVariable{"PREFIX", EnvStatus::reserved, "where `make install` puts the programs"},
    EnvVariable{
        "PROMTACT_CLIENTS", EnvStatus::reserved,
        "client endpoints of a running cluster for the linearizability campaign"},
    EnvVariable{
        "PROMTACT_EQUIV_SEEDS", EnvStatus::reserved,
        "number of seeds for the engine's equivalence campaigns"},
    EnvVariable{
        "PROMTACT_ETCD_FILES", EnvStatus::reserved,
        "directory of data-driven files that raft_interaction_tests run, too"},
    EnvVariable{
        "PROMTACT_KILL_AT", EnvStatus::read,
        "raise SIGKILL at the n-th kill point, to prove that nothing is left behind"},
    EnvVariable{
        "PROMTACT_KILL_SIGNAL", EnvStatus::reserved,
        "signal the failover campaign sends to the leader: TERM or KILL"},
    EnvVariable{
        "PROMTACT_PHASE6_DEVICE", EnvStatus::refused,
        "use `promtact gates run durable_write_block --device`"},
    EnvVariable{
        "PROMTACT_PHASE6_OPERATIONS", EnvStatus::refused, "use `promtact raw-bench -operations`"},
    EnvVariable{
        "PROMTACT_RESULTS", EnvStatus::read,
        "directories searched for gate results, separated by colons"},
    EnvVariable{
        "PROMTACT_RUST_ADAPTER", EnvStatus::refused,
        "there is no Rust adapter: implement the C++ interfaces of promtact::engine"},
    EnvVariable{"PROMTACT_SEEDS", EnvStatus::reserved, "number of seeds for campaigns"},
    EnvVariable{
        "PROMTACT_URING_INTEGRATION", EnvStatus::accepted,
        "the io_uring tests run anyway, and say so when the kernel refuses"},
    EnvVariable{"TERM", EnvStatus::read, "\"dumb\" turns redrawn lines off"},
    EnvVariable{"TLA_TOOLS_JAR", EnvStatus::reserved, "path of tla2tools.jar for the model check"},
    EnvVariable{"VERSION", EnvStatus::reserved, "version `make dist` packs"},
};
static_assert(std::is_sorted(known.begin(), known.end(), [](const auto& a, const auto& b) {
    return a.name < b.name;
}));

const EnvVariable* find(std::string_view name) noexcept {
    const auto* at = std::find_if(
        known.begin(), known.end(), [name](const EnvVariable& v) { return v.name == name; });
    return at == known.end() ? nullptr : at;
}

/// Edits needed to turn one name into the other (Levenshtein distance).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    PROMTACT_ASSERT(row.size() == b.size() + 1);
    return row.back();
}

std::string unknown_variable(std::string_view name) {
    const std::string shown(name.substr(0, 80));
    const EnvVariable* nearest = nullptr;
    std::size_t best = 4; // further away is no suggestion
    for (const EnvVariable& variable : known) {
        if (!variable.name.starts_with("PROMTACT_") || name.size() > 80) continue;
        const std::size_t edits = distance(name, variable.name);
        if (edits < best) {
            best = edits;
            nearest = &variable;
        }
    }
    std::string text = shown + " is not a variable Promtact reads";
    if (nearest != nullptr) text += ": did you mean " + std::string(nearest->name) + "?";
    return text + (nearest == nullptr ? ": unset it" : "");
}

/// The problem with one NAME=value, empty when there is none.
std::string problem_with(std::string_view entry) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return {};
    const std::string_view name = entry.substr(0, equals);
    const std::string_view value = entry.substr(equals + 1);
    const EnvVariable* variable = find(name);
    if (variable == nullptr)
        return name.starts_with("PROMTACT_") ? unknown_variable(name) : std::string{};
    if (variable->status == EnvStatus::refused)
        return std::string(name) + " is not read any more: " + std::string(variable->meaning);
    if (name == "PROMTACT_KILL_AT") {
        const Result<std::uint64_t> number = parse_u64(value);
        if (!number) return "PROMTACT_KILL_AT: " + number.error().context;
    }
    return {};
}

} // namespace

std::span<const EnvVariable> known_environment() noexcept {
    return known;
}

std::vector<std::string> check_environment(std::span<const std::string_view> environment) {
    std::vector<std::string> problems;
    for (const std::string_view entry : environment) {
        std::string problem = problem_with(entry);
        if (!problem.empty()) problems.push_back(std::move(problem));
    }
    std::sort(problems.begin(), problems.end());
    return problems;
}

std::vector<std::string> check_environment() {
    std::vector<std::string_view> entries;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
        entries.emplace_back(*entry);
    return check_environment(entries);
}

std::optional<std::string> environment_value(std::string_view name) {
    const EnvVariable* variable = find(name);
    PROMTACT_ASSERT(variable != nullptr);
    PROMTACT_ASSERT(variable->status == EnvStatus::read || variable->status == EnvStatus::reserved);
    const char* value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return value;
}

} // namespace promtact
