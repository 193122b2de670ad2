// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Makes a search of a cluster, where it can be copied and fingerprinted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <promtact/engine/explore.hpp>
#include <promtact/sim/search.hpp>

namespace promtact::sim::detail {

template <class C>
using MakeCluster = std::function<std::unique_ptr<C>(const Scenario&)>;
template <class C>
using PrepareSearch = std::function<void(engine::Explorer<C>&)>;

template <class C>
class TypedSearch final : public SearchSession {
  public:
    TypedSearch(
        std::unique_ptr<C> cluster, const PrepareSearch<C>& prepare,
        const engine::ExploreBounds& bounds)
        : cluster_(std::move(cluster)), explorer_(*cluster_, bounds) {
        prepare(explorer_);
    }
    engine::ExploreReport run(const SearchGoOn& go_on) override { return explorer_.run(go_on); }
    engine::Retrace retrace(std::span<const engine::ExploredAction> path) override {
        return explorer_.retrace(path);
    }

  private:
    std::unique_ptr<C> cluster_; // the start, and the wire
    engine::Explorer<C> explorer_;
};

/// What is missing, one after the other.
template <class C>
std::string search_lacks(bool prepared) {
    std::string lacks;
    const auto say = [&lacks](const std::string& what) {
        lacks += (lacks.empty() ? "" : "; ") + what;
    };
    if (!engine::Fingerprinted<C>) say("the cluster has no fingerprint()");
    if (!std::copy_constructible<C> && !engine::Cloneable<C>)
        say("the cluster has neither a copy constructor nor clone()");
    if (!prepared) say("its parts have no prepare_search");
    return lacks;
}

/// The search of a protocol's clusters, or what it lacks.
template <class C>
Searching searching_of(MakeCluster<C> make, PrepareSearch<C> prepare) {
    // A comparison would look for operators of Explorer<C>, which such a cluster may not have.
    Searching searching{.lacks = search_lacks<C>(static_cast<bool>(prepare))};
    if constexpr (engine::Explorable<C>) {
        if (!prepare) return searching;
        searching.start = [make = std::move(make), prepare = std::move(prepare)](
                              const Scenario& scenario, const engine::ExploreBounds& bounds) {
            return std::make_unique<TypedSearch<C>>(make(scenario), prepare, bounds);
        };
    }
    return searching;
}

} // namespace promtact::sim::detail
