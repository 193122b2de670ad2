// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Every order of events, up to bounds: breadth first over the states of a cluster that can be
// copied and fingerprinted. Messages are delivered in any order, lost, and nodes ticked and crashed
// as often as the bounds say. Source: Holzmann, The Model Checker SPIN (1997), sections 2 and 3
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <promtact/engine/fingerprint_set.hpp>
#include <promtact/engine/search_space.hpp>

namespace promtact::engine {

/// What a search needs of a cluster, besides the least.
template <class C>
concept Explorable = Fingerprinted<C> &&(std::copy_constructible<C> || Cloneable<C>);

/// Searches the states of a cluster. C is copied by clone(), or else by its copy constructor.
template <class C, class W = C>
class Explorer {
    static_assert(check_protocol<C, W>());
    static_assert(
        Fingerprinted<C>,
        "the cluster needs: Digest128 fingerprint() const, equal for equal states");
    static_assert(
        std::copy_constructible<C> || Cloneable<C>,
        "the cluster needs a copy constructor or: C clone() const");

  public:
    using Space = SearchSpace<C, W>;
    /// A property of one state.
    using Property = std::function<std::optional<Broken>(const C&)>;
    /// A property of two states, one action apart.
    using StepProperty = std::function<std::optional<Broken>(const C& before, const C& after)>;
    /// Asked now and then; false ends the search.
    using GoOn = std::function<bool(const ExploreReport& so_far)>;

    /// Lifetime: the wire outlives the explorer.
    Explorer(const C& start, const W& wire, const ExploreBounds& bounds)
        : space_(start, wire, bounds) {}
    Explorer(const C& start, const ExploreBounds& bounds) requires std::same_as<C, W>
        : Explorer(start, start, bounds) {}

    void watch(std::string name, Property property) {
        properties_.push_back({std::move(name), std::move(property)});
    }
    void watch_step(std::string name, StepProperty property) {
        step_properties_.push_back({std::move(name), std::move(property)});
    }
    /// A sentence that must be true of some state, or the search is vacuous.
    void goal(std::string sentence, std::function<bool(const C&)> holds) {
        goals_.push_back({std::move(sentence), std::move(holds)});
    }
    /// Commands of clients, each given at most once and in their order, at any moment.
    void commands(typename Space::Command command) { space_.commands(std::move(command)); }

    ExploreReport run(const GoOn& go_on = {}) {
        begin();
        std::vector<Known> level;
        if (enter(level)) search(std::move(level), go_on);
        return finish();
    }
    /// Takes a path once more from the start, in one piece, and looks at every property.
    Retrace retrace(std::span<const ExploredAction> path) {
        Retrace retrace;
        const std::string thrown = guarded([&] { walk(path, retrace); });
        if (!thrown.empty()) {
            retrace.verdict = Verdict::error;
            retrace.broken = {.text = thrown, .key = "threw"};
        }
        // An action that threw leads to no state.
        if (!thrown.empty() && retrace.places.size() < path.size())
            retrace.places.push_back({path[retrace.places.size()], {}, {}});
        const std::size_t taken = retrace.places.size();
        if (retrace.astray.empty() && taken < path.size()) {
            retrace.astray = "it ends after " + std::to_string(taken) + " of " +
                             std::to_string(path.size()) + " actions";
        }
        return retrace;
    }

  private:
    using State = typename Space::State;
    using Action = typename Space::Action;
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    static constexpr std::uint64_t asked_every = 1024; // states expanded

    /// A state that is to be expanded.
    struct Known {
        State state;
        std::uint64_t index = none; // in the order of discovery
    };
    /// How a state was reached first.
    struct Origin {
        std::uint64_t parent = none;
        Action action{};
    };
    struct Found {
        std::string property{};
        Broken broken{};
    };
    template <class Function>
    struct Named {
        std::string name{};
        Function function{};
    };

    void begin() {
        report_ = {};
        known_ = {};
        origins_.clear();
        expanded_ = 0;
        end_ = {};
        for (const auto& goal : goals_)
            report_.goals.push_back({.sentence = goal.name});
    }
    /// What the cluster or a property threw; empty: nothing.
    template <class Fn>
    static std::string guarded(Fn fn) {
        try {
            fn();
        } catch (const std::exception& thrown) {
            return std::string("the cluster threw: ") + thrown.what();
        } catch (...) {
            return "the cluster threw something that is no std::exception";
        }
        return {};
    }
    /// The first state. False when the search is over with it.
    bool enter(std::vector<Known>& level) {
        bool goes_on = false;
        const std::string thrown = guarded([&] { goes_on = admit(space_.first(), {}, 0, level); });
        return thrown.empty() ? goes_on : threw(thrown, {});
    }
    void search(std::vector<Known> level, const GoOn& go_on) {
        for (std::uint32_t depth = 0; !level.empty() && depth < space_.bounds().depth; ++depth) {
            std::vector<Known> next;
            for (Known& place : level) {
                const Known known = std::move(place); // its memory is free after this turn
                if (!expand(known, depth, next)) return;
                if (++expanded_ % asked_every != 0 || !go_on) continue;
                report_.frontier = report_.distinct - expanded_;
                if (go_on(report_)) continue;
                report_.text = "interrupted";
                return;
            }
            level = std::move(next);
        }
    }
    /// Every state that one action leads to. False once the search is over.
    bool expand(const Known& known, std::uint32_t depth, std::vector<Known>& next) {
        return space_.each_action(known.state, [&](const Action& action) {
            const Origin origin{known.index, action};
            bool goes_on = false;
            const std::string thrown =
                guarded([&] { goes_on = step(known.state, origin, depth + 1, next); });
            return thrown.empty() ? goes_on : threw(thrown, origin);
        });
    }
    bool
    step(const State& before, const Origin& origin, std::uint32_t depth, std::vector<Known>& next) {
        Space::copy_to(after_, before);
        if (!space_.take(*after_, origin.action)) return true;
        ++report_.transitions;
        ++report_.taken[static_cast<std::size_t>(origin.action.kind)];
        if (auto found = look_at_step(before, *after_)) return broke(std::move(*found), origin);
        return admit(*after_, origin, depth, next);
    }
    /// A new state is looked at and queued. False once the search is over.
    bool
    admit(const State& state, const Origin& origin, std::uint32_t depth, std::vector<Known>& next) {
        ++report_.states;
        if (state.flights.size() > space_.bounds().under_way) {
            ++report_.cut;
            return true;
        }
        const Digest128 fingerprint = Space::fingerprint(state);
        if (report_.distinct >= space_.bounds().states) {
            if (known_.contains(fingerprint)) return true;
            report_.text = "more than " + std::to_string(space_.bounds().states) + " states";
            return false;
        }
        if (!known_.insert(fingerprint)) return true;
        PROMTACT_ASSERT(depth >= report_.depth); // breadth first
        report_.depth = depth;
        deepest_ = fingerprint;
        origins_.push_back(origin);
        ++report_.distinct;
        PROMTACT_ASSERT(origins_.size() == report_.distinct);
        for (std::size_t n = 0; n < goals_.size(); ++n) {
            ExploredGoal& goal = report_.goals[n];
            if (goal.reached || !goals_[n].function(state.cluster)) continue;
            goal.reached = true;
            goal.depth = depth;
        }
        if (auto found = look(state)) return broke(std::move(*found), origin);
        std::optional<State> kept;
        Space::copy_to(kept, state);
        next.push_back({std::move(*kept), report_.distinct - 1});
        return true;
    }

    std::optional<Found> look(const State& state) const {
        for (const auto& one : properties_) {
            if (auto broken = one.function(state.cluster))
                return Found{one.name, std::move(*broken)};
        }
        return std::nullopt;
    }
    std::optional<Found> look_at_step(const State& before, const State& after) const {
        for (const auto& one : step_properties_) {
            if (auto broken = one.function(before.cluster, after.cluster))
                return Found{one.name, std::move(*broken)};
        }
        return std::nullopt;
    }
    bool broke(Found found, const Origin& last) {
        report_.verdict = Verdict::fail;
        report_.property = std::move(found.property);
        report_.broken = std::move(found.broken);
        report_.text = report_.property + ": " + report_.broken.text;
        end_ = last;
        return false;
    }
    bool threw(const std::string& what, const Origin& last) {
        report_.verdict = Verdict::error;
        report_.broken = {.text = what, .key = "threw"};
        report_.text = report_.broken.text;
        end_ = last;
        return false;
    }

    void walk(std::span<const ExploredAction> path, Retrace& retrace) {
        State state = space_.first();
        std::optional<State> before; // for properties of two states; never gone on from
        std::optional<Found> found = look(state);
        for (std::size_t n = 0; n < path.size() && !found; ++n) {
            Space::copy_to(before, state);
            retrace.astray = follow(state, path[n]);
            if (!retrace.astray.empty()) return;
            retrace.places.push_back({path[n], Space::fingerprint(state), Space::words(state)});
            found = look_at_step(*before, state);
            if (!found) found = look(state);
        }
        if (!found) return;
        retrace.verdict = Verdict::fail;
        retrace.property = std::move(found->property);
        retrace.broken = std::move(found->broken);
    }
    /// Takes the named action. Returns why it cannot.
    std::string follow(State& state, const ExploredAction& wanted) {
        std::optional<Action> action;
        space_.each_action(state, [&](const Action& one) {
            if (space_.told(state, one).names_same(wanted)) action = one;
            return !action;
        });
        if (action && space_.take(state, *action)) return {};
        return "the action \"" + std::string(to_string(wanted.kind)) + "\" of node " +
               std::to_string(wanted.node.value()) + " cannot be taken there";
    }

    ExploreReport finish() {
        PROMTACT_ASSERT(expanded_ <= report_.distinct);
        report_.frontier = report_.distinct - expanded_;
        if (report_.verdict == Verdict::pass) judge();
        const bool ended = report_.verdict == Verdict::fail || report_.verdict == Verdict::error;
        retell(ended);
        known_ = {};
        origins_.clear();
        after_.reset();
        return std::move(report_);
    }
    /// Of a search that broke nothing.
    void judge() {
        const auto is = [this](Verdict verdict, std::string text) {
            report_.verdict = verdict;
            if (report_.text.empty()) report_.text = std::move(text);
        };
        if (report_.frontier > 0) {
            return is(
                Verdict::budget_exhausted,
                "nothing is broken within " + std::to_string(space_.bounds().depth) + " actions");
        }
        if (report_.cut > 0) {
            return is(
                Verdict::budget_exhausted, std::to_string(report_.cut) + " states had more than " +
                                               std::to_string(space_.bounds().under_way) +
                                               " messages under way");
        }
        for (const ExploredGoal& goal : report_.goals)
            if (!goal.reached) return is(Verdict::vacuous, "goal not reached: " + goal.sentence);
        for (const ActionKind kind : all_action_kinds) {
            const bool limited = kind != ActionKind::deliver && kind != ActionKind::restart;
            if (kind == ActionKind::command && !space_.has_commands()) continue;
            if (!limited || space_.bounds().limit(kind) == 0) continue;
            if (report_.taken[static_cast<std::size_t>(kind)] > 0) continue;
            return is(Verdict::vacuous, "never happened: " + std::string(engine::to_string(kind)));
        }
        if (report_.transitions == 0) is(Verdict::vacuous, "nothing happened");
    }
    /// Takes the way to the end, or else to the last state that was found, in one piece: it leads
    /// there only when copies of the cluster are whole and it is deterministic.
    void retell(bool ended) {
        std::vector<Action> actions;
        if (ended && end_.parent != none) actions.push_back(end_.action);
        std::uint64_t at = end_.parent;
        if (!ended) at = origins_.empty() ? none : origins_.size() - 1;
        for (; at != none && origins_[at].parent != none; at = origins_[at].parent)
            actions.push_back(origins_[at].action);
        std::reverse(actions.begin(), actions.end());
        Digest128 reached;
        const std::string thrown = guarded([&] {
            State state = space_.first();
            for (const Action& action : actions) {
                const bool absent = space_.each_action(state, [&](const Action& one) {
                    return one.kind != action.kind || one.at != action.at;
                });
                if (absent) return; // no such action: each_action() went to its end
                if (ended) report_.path.push_back(space_.told(state, action));
                if (!space_.take(state, action)) return;
            }
            reached = Space::fingerprint(state);
        });
        if (!ended) {
            if (!thrown.empty() || reached != deepest_) lost();
            return;
        }
        report_.depth = static_cast<std::uint32_t>(actions.size());
        const Retrace again = retrace(report_.path);
        const bool same = again.verdict == report_.verdict && again.astray.empty() &&
                          again.property == report_.property &&
                          again.broken.text == report_.broken.text;
        if (!same) lost();
    }
    void lost() {
        report_.verdict = Verdict::error;
        report_.text = "taken in one piece, a path leads elsewhere: a copy of the cluster is not "
                       "whole, or it is not deterministic";
    }

    Space space_;
    std::vector<Named<Property>> properties_{};
    std::vector<Named<StepProperty>> step_properties_{};
    std::vector<Named<std::function<bool(const C&)>>> goals_{};
    FingerprintSet known_{};
    std::vector<Origin> origins_{};
    std::uint64_t expanded_ = 0;
    std::optional<State> after_{};
    Origin end_{}; // parent none: at the first state
    Digest128 deepest_{};
    ExploreReport report_{};
};

} // namespace promtact::engine
