// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <map>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/engine/fates.hpp>
#include <promtact/sim/shrink.hpp>

#include "minimise_internal.hpp"

namespace promtact::sim {
namespace {

/// Numbers 1..count without those in `out`.
std::vector<std::uint64_t> numbers(std::uint64_t count, const std::set<std::uint64_t>& out) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t number = 1; number <= count; ++number)
        if (out.count(number) == 0) all.push_back(number);
    return all;
}

/// All of 1..count that are not in `kept`.
std::set<std::uint64_t> all_but(std::uint64_t count, const std::vector<std::uint64_t>& kept) {
    std::set<std::uint64_t> out;
    for (std::uint64_t number = 1; number <= count; ++number)
        out.insert(number);
    for (const std::uint64_t number : kept)
        out.erase(number);
    return out;
}

class Shrinker {
  public:
    Shrinker(
        const Protocol& protocol, const Case& failing, const ShrinkOptions& options, bool by_index)
        : protocol_(protocol), options_(options), by_index_(by_index) {
        const RunReport first = run_case(protocol, failing);
        ++runs_;
        wanted_ = outcome_of(first);
        PROMTACT_ASSERT(
            wanted_.verdict == engine::Verdict::fail || wanted_.verdict == engine::Verdict::stuck ||
            wanted_.verdict == engine::Verdict::error);
        best_ = failing;
        accept(first);
        before_ = size_of(with_fates(protocol, failing));
    }

    ShrinkReport run() {
        make_fates_explicit();
        make_restarts_explicit();
        CaseSize size;
        bool settled = false; // one round more, in the other order of fates
        bool softened = false;
        do {
            size = size_of(best_);
            shrink_faults();
            shrink_commands();
            shrink_restarts();
            shrink_nodes();
            shrink_fates();
            shrink_pairs_of_fates();
            softened = soften_fates();
            shorten_windows();
        } while ((softened || size_of(best_) != size || !std::exchange(settled, true)) &&
                 !exhausted());
        ShrinkReport report{
            .small = record(protocol_, best_),
            .before = before_,
            .runs = runs_,
            .finished = !ended_};
        report.after = size_of(report.small.run);
        return report;
    }

  private:
    [[nodiscard]] bool exhausted() {
        ended_ = ended_ || runs_ >= options_.runs_max || (options_.give_up && options_.give_up());
        return ended_;
    }
    [[nodiscard]] CaseSize size_of(const Case& run) const {
        return {
            .faults = run.scenario.faults.size(),
            .commands = numbers(commands_, run.without_commands).size(),
            .restarts = numbers(restarts_, run.without_restarts).size(),
            .nodes = run.scenario.nodes,
            .steps = run.scenario.steps,
            .fates = run.fates ? run.fates->size() : 0};
    }
    /// The case that was run is the best one: nothing after its end matters.
    void accept(const RunReport& report) {
        best_.scenario.steps = std::max<std::uint64_t>(report.end.step.value(), 1);
        commands_ = report.commands;
        restarts_ = report.restarts;
        if (options_.progress) options_.progress(runs_, size_of(best_));
    }
    /// Whether the case fails as wanted; then it is the best one.
    bool try_case(const Case& candidate) {
        if (exhausted()) return false;
        ++runs_;
        if (!protocol_.problems(candidate).empty()) return false;
        const RunReport report = run_case(protocol_, candidate);
        if (!same_failure(outcome_of(report), wanted_)) return false;
        best_ = candidate;
        accept(report);
        return true;
    }

    template <class Item, class Fails>
    void smaller(std::vector<Item> items, Fails fails) {
        static_cast<void>(minimise(std::move(items), fails, [this] { return exhausted(); }));
    }

    /// From here on fates say what chance and faults of links said.
    void make_fates_explicit() {
        const Case recorded = by_index_ ? with_fates_by_index() : with_fates(protocol_, best_);
        if (!try_case(recorded)) return;
        Case bare = recorded;
        bare.scenario.drop = Ppm{};
        bare.scenario.max_delay = {};
        bare.scenario.duplicate = Ppm{};
        keep_faults(bare, [](const Fault& fault) { return !engine::is_link_fault(fault.kind); });
        static_cast<void>(try_case(bare));
    }
    /// Fates named by the index on their link: where one is left out, the others keep their names
    /// even when what happens shifts in time.
    Case with_fates_by_index() {
        class Recorder final : public engine::FateEditor {
          public:
            void edit(const engine::FateKey& key, engine::Fate& fate) override {
                engine::FateKey named{.from = key.from, .to = key.to};
                named.position = next_[{key.from, key.to}]++;
                if (!fate.is_neutral()) book[named] = fate;
            }
            engine::FateBook book{};

          private:
            std::map<std::pair<NodeId, NodeId>, std::uint64_t> next_{};
        };
        Recorder recorder;
        static_cast<void>(run_case(protocol_, best_, {.editor = &recorder}));
        Case run = best_;
        run.scenario.key = DecisionKey::index;
        run.fates = std::move(recorder.book);
        return run;
    }
    /// Restarts become faults, so that they stay what they are when nodes leave. restartEvery acts
    /// at the end of its step, a fault at the beginning of the next.
    void make_restarts_explicit() {
        Case candidate = best_;
        Scenario& scenario = candidate.scenario;
        const std::uint64_t every = std::exchange(scenario.restart_every, Ticks{}).value;
        if (every == 0) return;
        keep_faults(candidate, [](const Fault&) { return true; });
        std::uint32_t id = 0;
        for (const std::uint32_t taken : candidate.fault_ids)
            id = std::max(id, taken + 1);
        for (const std::uint64_t number : numbers(restarts_, candidate.without_restarts)) {
            const Step start(number * every + 1);
            const NodeId node(static_cast<std::uint32_t>(number % scenario.nodes) + 1);
            scenario.faults.push_back(
                {.kind = FaultKind::restart, .start = start, .end = start + 1, .a = {node}});
            candidate.fault_ids.push_back(id++);
        }
        candidate.without_restarts.clear();
        ++scenario.steps;
        static_cast<void>(try_case(candidate));
    }
    /// Leaves out faults without renaming the others.
    template <class Keep>
    static void keep_faults(Case& run, Keep keep) {
        if (run.fault_ids.empty()) {
            for (std::uint32_t id = 0; id < run.scenario.faults.size(); ++id)
                run.fault_ids.push_back(id);
        }
        std::vector<Fault> faults;
        std::vector<std::uint32_t> ids;
        for (std::size_t i = 0; i < run.scenario.faults.size(); ++i) {
            Fault fault = run.scenario.faults[i];
            if (!keep(fault)) continue;
            faults.push_back(std::move(fault));
            ids.push_back(run.fault_ids[i]);
        }
        run.scenario.faults = std::move(faults);
        run.fault_ids = std::move(ids);
    }

    void shrink_faults() {
        const Case all = best_;
        std::vector<std::size_t> indices(all.scenario.faults.size());
        for (std::size_t i = 0; i < indices.size(); ++i)
            indices[i] = i;
        smaller(indices, [&](const std::vector<std::size_t>& kept) {
            Case candidate = all;
            candidate.scenario.faults.clear();
            candidate.fault_ids.clear();
            for (const std::size_t i : kept) {
                candidate.scenario.faults.push_back(all.scenario.faults[i]);
                candidate.fault_ids.push_back(
                    all.fault_ids.empty() ? static_cast<std::uint32_t>(i) : all.fault_ids[i]);
            }
            return try_case(candidate);
        });
    }
    void shrink_commands() {
        const Case all = best_;
        const std::uint64_t count = commands_;
        smaller(numbers(count, all.without_commands), [&](const std::vector<std::uint64_t>& kept) {
            Case candidate = all;
            candidate.without_commands = all_but(count, kept);
            return try_case(candidate);
        });
    }
    void shrink_restarts() {
        const Case all = best_;
        const std::uint64_t count = restarts_;
        smaller(numbers(count, all.without_restarts), [&](const std::vector<std::uint64_t>& kept) {
            Case candidate = all;
            candidate.without_restarts = all_but(count, kept);
            return try_case(candidate);
        });
    }
    void shrink_fates() {
        if (!best_.fates) return;
        const Case all = best_;
        std::vector<std::pair<engine::FateKey, engine::Fate>> fates(
            all.fates->begin(), all.fates->end());
        // In the order of links, then of time: what belongs together lies together once this way,
        // once that.
        by_time_ = !by_time_;
        if (by_time_) {
            std::stable_sort(fates.begin(), fates.end(), [](const auto& a, const auto& b) {
                return a.first.position < b.first.position;
            });
        }
        smaller(fates, [&](const std::vector<std::pair<engine::FateKey, engine::Fate>>& kept) {
            Case candidate = all;
            candidate.fates = engine::FateBook(kept.begin(), kept.end());
            return try_case(candidate);
        });
    }
    /// Two that only make up for each other: none of them can be left out alone.
    void shrink_pairs_of_fates() {
        constexpr std::size_t fates_max = 40;
        if (!best_.fates || best_.fates->size() > fates_max) return;
        std::vector<engine::FateKey> keys;
        for (const auto& [key, fate] : *best_.fates)
            keys.push_back(key);
        for (std::size_t a = 0; a < keys.size(); ++a) {
            for (std::size_t b = a + 1; b < keys.size(); ++b) {
                Case candidate = best_;
                if (candidate.fates->erase(keys[a]) + candidate.fates->erase(keys[b]) == 2)
                    static_cast<void>(try_case(candidate));
            }
        }
    }
    /// A fate becomes a simpler one: a message that is late is lost instead, or less late. Then
    /// others may have nothing left to do.
    bool soften_fates() {
        if (!best_.fates) return false;
        bool softened = false;
        const engine::FateBook fates = *best_.fates;
        for (const auto& [key, fate] : fates) {
            if (exhausted()) break;
            if (fate.is_lost() || fate.delay == 0) continue;
            const engine::Fate lost{.lost = {engine::Cause::editor}};
            if (try_fate(key, lost)) {
                softened = true;
                continue;
            }
            for (std::uint64_t delay = fate.delay / 2; delay > 0; delay /= 2) {
                engine::Fate sooner = fate;
                sooner.delay = delay;
                if (!try_fate(key, sooner)) break;
                softened = true;
            }
        }
        return softened;
    }
    bool try_fate(const engine::FateKey& key, const engine::Fate& fate) {
        Case candidate = best_;
        const auto at = candidate.fates->find(key);
        if (at == candidate.fates->end()) return false;
        at->second = fate;
        return try_case(candidate);
    }
    /// One node leaves after the other, with whatever faults and fates name it.
    void shrink_nodes() {
        for (std::uint32_t id = best_.scenario.nodes; id > 0 && best_.scenario.nodes > 1; --id)
            static_cast<void>(try_case(without_node(best_, NodeId(id))));
    }
    /// Those above it move down by one, since ids have no gap.
    static Case without_node(const Case& all, NodeId node) {
        Case run = all;
        --run.scenario.nodes;
        const auto moved = [node](NodeId id) { return id > node ? NodeId(id.value() - 1) : id; };
        keep_faults(run, [&](Fault& fault) {
            const bool named = !fault.a.empty();
            const bool named_too = !fault.b.empty();
            for (auto* nodes : {&fault.a, &fault.b}) {
                std::erase(*nodes, node);
                std::transform(nodes->begin(), nodes->end(), nodes->begin(), moved);
            }
            return (!named || !fault.a.empty()) && (!named_too || !fault.b.empty());
        });
        if (!all.fates) return run;
        run.fates->clear();
        for (const auto& [key, fate] : *all.fates) {
            if (key.from == node || key.to == node) continue;
            run.fates->insert(
                {{.from = moved(key.from), .to = moved(key.to), .position = key.position}, fate});
        }
        return run;
    }
    /// Windows end with the run, then half as late, begin half as early.
    void shorten_windows() {
        for (std::size_t i = 0; i < best_.scenario.faults.size(); ++i) {
            while (halve(i, true)) {
            }
            while (halve(i, false)) {
            }
        }
    }
    bool halve(std::size_t index, bool end) {
        Case candidate = best_;
        if (index >= candidate.scenario.faults.size()) return false;
        Fault& fault = candidate.scenario.faults[index];
        const Step last = std::min(fault.end, Step(candidate.scenario.steps + 1));
        const std::uint64_t length = last > fault.start ? last - fault.start : 0;
        if (length < 2 || fault.kind == FaultKind::restart) return false;
        if (end) {
            fault.end = fault.start + length / 2;
        } else {
            fault.start = fault.start + length / 2;
            fault.end = last;
        }
        return try_case(candidate);
    }

    const Protocol& protocol_;
    const ShrinkOptions& options_;
    bool by_index_;
    bool by_time_ = true;
    Outcome wanted_{};
    Case best_{};
    CaseSize before_{};
    std::uint64_t commands_ = 0; // in the best case, left out ones too
    std::uint64_t restarts_ = 0;
    std::uint64_t runs_ = 0;
    bool ended_ = false; // before it was as small as can be
};

} // namespace

bool same_failure(const Outcome& a, const Outcome& b) {
    if (a.verdict != b.verdict || a.property != b.property || a.key != b.key) return false;
    return !a.property.empty() || a.text == b.text;
}

ShrinkReport shrink(const Protocol& protocol, const Case& failing, const ShrinkOptions& options) {
    ShrinkOptions half = options;
    half.runs_max = (options.runs_max + 1) / 2;
    ShrinkReport a = Shrinker(protocol, failing, half, false).run();
    ShrinkReport b = Shrinker(protocol, failing, half, true).run();
    ShrinkReport& smaller = b.after.weight() < a.after.weight() ? b : a;
    smaller.runs = a.runs + b.runs;
    return std::move(smaller);
}

} // namespace promtact::sim
