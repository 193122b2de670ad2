// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The bounds of a search as people write them: key=value, or an object in a file.
#include <array>
#include <type_traits>

#include <promtact/base/numbers.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/sim/search.hpp>

namespace promtact::sim {
namespace {

constexpr Bytes file_max{std::uint64_t{1} << 20};
constexpr std::uint64_t actions_max = 1'000'000;
constexpr std::uint64_t states_max = std::uint64_t{1} << 40;

/// Where a bound is kept and how far it may go.
struct Bound {
    std::string_view name{};
    std::uint64_t least = 0;
    std::uint64_t most = actions_max;
    std::uint64_t (*get)(const engine::ExploreBounds&) = nullptr;
    void (*set)(SearchBounds&, std::uint64_t) = nullptr;
};

template <auto Member>
std::uint64_t get(const engine::ExploreBounds& bounds) {
    return bounds.*Member;
}
template <auto Member>
void set(SearchBounds& bounds, std::uint64_t value) {
    auto& target = bounds.explore.*Member;
    target = static_cast<std::remove_reference_t<decltype(target)>>(value);
}
template <auto Member>
constexpr Bound bound(std::string_view name, std::uint64_t least, std::uint64_t most) {
    return {name, least, most, get<Member>, set<Member>};
}

using Explore = engine::ExploreBounds;
constexpr std::array all_bounds{
    bound<&Explore::states>("states", 1, states_max),
    bound<&Explore::depth>("depth", 0, ~std::uint32_t{0}),
    bound<&Explore::commands>("commands", 0, actions_max),
    bound<&Explore::ticks>("ticks", 0, actions_max),
    bound<&Explore::timeouts>("timeouts", 0, actions_max),
    bound<&Explore::losses>("drops", 0, actions_max),
    bound<&Explore::copies>("duplicates", 0, actions_max),
    bound<&Explore::crashes>("crashes", 0, actions_max),
    bound<&Explore::under_way>("underWay", 1, actions_max),
};
constexpr std::string_view nodes_name = "nodes";

Result<void> take(SearchBounds& bounds, std::string_view name, std::string_view digits) {
    const auto wrong = [&](const std::string& why) {
        return Error{
            Errc::invalid_argument, 0,
            "\"" + std::string(name) + "=" + std::string(digits) + "\": " + why};
    };
    const auto value = parse_u64(digits);
    if (!value) return wrong(value.error().context);
    const auto outside = [&](std::uint64_t least, std::uint64_t most) {
        return wrong("must be " + std::to_string(least) + " to " + std::to_string(most));
    };
    if (name == nodes_name) {
        if (*value < 1 || *value > nodes_max) return outside(1, nodes_max);
        bounds.nodes = static_cast<std::uint32_t>(*value);
        return {};
    }
    for (const Bound& one : all_bounds) {
        if (one.name != name) continue;
        if (*value < one.least || *value > one.most) return outside(one.least, one.most);
        one.set(bounds, *value);
        return {};
    }
    return wrong("there are only the bounds " + bound_names());
}

Result<SearchBounds> bounds_of_list(std::string_view text) {
    SearchBounds bounds;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view one = text.substr(0, comma);
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
        const std::size_t equals = one.find('=');
        if (equals == std::string_view::npos) {
            return Error{
                Errc::invalid_argument, 0,
                "\"" + std::string(one) + "\" is no bound; write for example states=100000"};
        }
        PROMTACT_TRY(take(bounds, one.substr(0, equals), one.substr(equals + 1)));
    }
    return bounds;
}

} // namespace

std::string bound_names() {
    std::string names(nodes_name);
    for (const Bound& one : all_bounds)
        names += ", " + std::string(one.name);
    return names;
}

void write_bounds(JsonWriter& json, const engine::ExploreBounds& bounds) {
    for (const Bound& one : all_bounds) {
        const std::uint64_t value = one.get(bounds);
        const bool unlimited = one.most == ~std::uint32_t{0} && value == one.most;
        if (!unlimited) json.field(one.name, value);
    }
}

SearchBounds read_bounds(const JsonValue& value, JsonProblems& problems) {
    SearchBounds bounds;
    ObjectReader fields(value, problems);
    if (const auto nodes = fields.optional_u64(nodes_name, 1, nodes_max))
        bounds.nodes = static_cast<std::uint32_t>(*nodes);
    for (const Bound& one : all_bounds) {
        if (const auto given = fields.optional_u64(one.name, one.least, one.most))
            one.set(bounds, *given);
    }
    fields.finish();
    return bounds;
}

Result<SearchBounds> parse_bounds(const std::string& text) {
    if (text.empty() || text.find('=') != std::string::npos) return bounds_of_list(text);
    PROMTACT_TRY_ASSIGN(const std::string content, read_text_file(text, file_max));
    JsonProblems problems;
    const auto value = parse_json(content, problems);
    if (value && value->kind != JsonKind::object) problems.add(value->at, "bounds are an object");
    SearchBounds bounds;
    if (value && problems.empty()) bounds = read_bounds(*value, problems);
    if (!problems.empty()) return problems.to_error(text);
    return bounds;
}

} // namespace promtact::sim
