// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <string>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/raft/configuration_codec.hpp>

namespace promtact::raft {
namespace {

constexpr std::uint8_t auto_leave_flag = 1;

struct ConfigurationLayout {
    static constexpr std::size_t version = 0;
    static constexpr std::size_t flags = 1;
    static constexpr std::size_t zero = 2;
    static constexpr std::size_t counts = 4; // four of them, in the order of the sets
    static constexpr std::size_t members = 20;
};

struct ChangeLayout {
    static constexpr std::size_t version = 0;
    static constexpr std::size_t transition = 1;
    static constexpr std::size_t zero = 2;
    static constexpr std::size_t steps = 4;
    static constexpr std::size_t context_bytes = 8;
    static constexpr std::size_t content = 12;
    static constexpr std::size_t step_bytes = 16; // kind, 7 bytes 0, member
};

Error corrupt(std::string what) {
    return {Errc::corrupt, 0, std::move(what)};
}

Error another_version(const char* what, std::uint8_t version) {
    return {
        Errc::format, 0,
        std::string(what) + ": version " + std::to_string(version) + " is not " +
            std::to_string(configuration_version)};
}

Result<void> check_head(const char* what, std::span<const std::byte> bytes, std::size_t head) {
    PROMTACT_ASSERT(head >= ConfigurationLayout::zero + 2);
    if (bytes.empty()) return corrupt(std::string(what) + ": nothing there");
    const auto version = load_le<std::uint8_t>(bytes, 0);
    if (version != configuration_version) return another_version(what, version);
    if (bytes.size() < head) {
        return corrupt(
            std::string(what) + ": " + std::to_string(bytes.size()) + " bytes are too few");
    }
    if (load_le<std::uint16_t>(bytes, ConfigurationLayout::zero) != 0)
        return corrupt(std::string(what) + ": reserved bytes are not zero");
    return {};
}

std::uint32_t as_count(std::size_t size) {
    PROMTACT_ASSERT(size <= configuration_members_max);
    return static_cast<std::uint32_t>(size);
}

Result<ConfigurationStep> decode_step(std::span<const std::byte> bytes, std::size_t number) {
    PROMTACT_ASSERT(bytes.size() == ChangeLayout::step_bytes);
    const auto word = load_le<std::uint64_t>(bytes, 0);
    if (word > static_cast<std::uint64_t>(StepKind::add_learner))
        return corrupt("configuration change: step " + std::to_string(number) + " has no kind");
    return ConfigurationStep{
        .kind = static_cast<StepKind>(word), .member = load_le<std::uint64_t>(bytes, 8)};
}

} // namespace

void encode(const Configuration& configuration, std::vector<std::byte>& out) {
    using L = ConfigurationLayout;
    PROMTACT_ASSERT(validate(configuration).has_value());
    const std::array sets{
        &configuration.voters, &configuration.outgoing, &configuration.learners,
        &configuration.learners_next};
    std::size_t members = 0;
    for (const auto* set : sets)
        members += set->size();
    const std::size_t begin = out.size();
    out.resize(begin + L::members + 8 * members);
    const auto bytes = std::span(out).subspan(begin);
    store_le<std::uint8_t>(bytes, L::version, configuration_version);
    store_le<std::uint8_t>(bytes, L::flags, configuration.auto_leave ? auto_leave_flag : 0);
    store_le<std::uint16_t>(bytes, L::zero, 0);
    std::size_t at = L::members;
    for (std::size_t i = 0; i < sets.size(); ++i) {
        store_le<std::uint32_t>(bytes, L::counts + 4 * i, as_count(sets[i]->size()));
        for (const NodeId id : *sets[i]) {
            store_le<std::uint64_t>(bytes, at, id);
            at += 8;
        }
    }
    PROMTACT_ASSERT(at == bytes.size());
}

void encode(const ConfigurationChange& change, std::vector<std::byte>& out) {
    using L = ChangeLayout;
    PROMTACT_ASSERT(change.steps.size() <= change_steps_max);
    PROMTACT_ASSERT(change.context.size() <= change_context_max);
    const std::size_t begin = out.size();
    const std::size_t fixed = L::content + L::step_bytes * change.steps.size();
    out.resize(begin + fixed);
    const auto bytes = std::span(out).subspan(begin);
    store_le<std::uint8_t>(bytes, L::version, configuration_version);
    store_le<std::uint8_t>(bytes, L::transition, static_cast<std::uint8_t>(change.transition));
    store_le<std::uint16_t>(bytes, L::zero, 0);
    store_le<std::uint32_t>(bytes, L::steps, as_count(change.steps.size()));
    store_le<std::uint32_t>(
        bytes, L::context_bytes, static_cast<std::uint32_t>(change.context.size()));
    std::size_t at = L::content;
    for (const ConfigurationStep step : change.steps) {
        store_le<std::uint64_t>(bytes, at, static_cast<std::uint64_t>(step.kind));
        store_le<std::uint64_t>(bytes, at + 8, step.member);
        at += L::step_bytes;
    }
    PROMTACT_ASSERT(at == fixed);
    out.insert(out.end(), change.context.begin(), change.context.end());
}

Result<Configuration> decode_configuration(std::span<const std::byte> bytes) {
    using L = ConfigurationLayout;
    PROMTACT_TRY(check_head("configuration", bytes, L::members));
    const auto flags = load_le<std::uint8_t>(bytes, L::flags);
    if ((flags & ~auto_leave_flag) != 0)
        return Error{Errc::format, 0, "configuration: unknown flags " + std::to_string(flags)};
    Configuration made;
    made.auto_leave = flags == auto_leave_flag;
    std::size_t at = L::members;
    std::size_t counts_at = L::counts;
    for (auto* set : {&made.voters, &made.outgoing, &made.learners, &made.learners_next}) {
        const auto count = load_le<std::uint32_t>(bytes, counts_at);
        if (count > configuration_members_max || (bytes.size() - at) / 8 < count) {
            return corrupt(
                "configuration: byte " + std::to_string(counts_at) + " announces " +
                std::to_string(count) + " members");
        }
        set->resize(count);
        for (NodeId& id : *set) {
            id = load_le<std::uint64_t>(bytes, at);
            at += 8;
        }
        counts_at += 4;
    }
    PROMTACT_ASSERT(at <= bytes.size());
    if (at != bytes.size()) {
        return corrupt(
            "configuration: " + std::to_string(bytes.size() - at) + " bytes behind the end");
    }
    if (auto valid = validate(made); !valid) return corrupt(std::move(valid).error().context);
    return made;
}

Result<ConfigurationChange> decode_change(std::span<const std::byte> bytes) {
    using L = ChangeLayout;
    PROMTACT_TRY(check_head("configuration change", bytes, L::content));
    const auto transition = load_le<std::uint8_t>(bytes, L::transition);
    if (transition > static_cast<std::uint8_t>(Transition::joint_explicit)) {
        return corrupt(
            "configuration change: transition " + std::to_string(transition) + " does not exist");
    }
    const auto steps = load_le<std::uint32_t>(bytes, L::steps);
    const auto context_bytes = load_le<std::uint32_t>(bytes, L::context_bytes);
    if (steps > change_steps_max)
        return corrupt("configuration change: announces " + std::to_string(steps) + " steps");
    if (context_bytes > change_context_max) {
        return corrupt(
            "configuration change: announces " + std::to_string(context_bytes) +
            " bytes of context");
    }
    const std::size_t context_at = L::content + L::step_bytes * steps;
    if (bytes.size() != context_at + context_bytes) {
        return corrupt(
            "configuration change: " + std::to_string(bytes.size()) + " bytes instead of " +
            std::to_string(context_at + context_bytes));
    }
    ConfigurationChange change;
    change.transition = static_cast<Transition>(transition);
    change.steps.reserve(steps);
    for (std::size_t i = 0; i < steps; ++i) {
        const auto step = bytes.subspan(L::content + L::step_bytes * i, L::step_bytes);
        PROMTACT_TRY_ASSIGN(const ConfigurationStep decoded, decode_step(step, i));
        change.steps.push_back(decoded);
    }
    PROMTACT_ASSERT(change.steps.size() == steps);
    const auto context = bytes.subspan(context_at);
    change.context.assign(context.begin(), context.end());
    return change;
}

} // namespace promtact::raft
