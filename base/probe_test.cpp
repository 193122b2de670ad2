// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/probe.hpp>

#include "testing/probe_fixture.hpp"

namespace promtact {
namespace {

std::vector<ProbeState> sites_of(std::string_view sentence) {
    std::vector<ProbeState> found;
    for (const ProbeState& state : probes())
        if (state.sentence == sentence) found.push_back(state);
    return found;
}

ProbeState site(std::string_view sentence) {
    const std::vector<ProbeState> found = sites_of(sentence);
    EXPECT_EQ(found.size(), 1U) << sentence;
    return found.empty() ? ProbeState{} : found.front();
}

TEST(Probe, UnhitSitesOfAStaticLibraryAreListed) {
    reset_probes();

    test_support::called(3);

    EXPECT_TRUE(site("fixture: called").hit);
    EXPECT_TRUE(site("fixture: exactly three").hit);
    EXPECT_FALSE(site("fixture: not called").hit);
    EXPECT_FALSE(site("fixture: not called").passed);
    EXPECT_FALSE(site("fixture: a function nobody calls").hit);
}

TEST(Probe, SometimesNeedsItsConditionOnce) {
    reset_probes();

    test_support::called(3);
    EXPECT_TRUE(site("fixture: value above five").passed);
    EXPECT_FALSE(site("fixture: value above five").hit);
    test_support::called(6);
    test_support::called(3);

    EXPECT_TRUE(site("fixture: value above five").hit);
    EXPECT_FALSE(site("fixture: value below zero").hit);
    EXPECT_EQ(site("fixture: value below zero").kind, ProbeKind::sometimes);
}

TEST(Probe, ConditionsAreEvaluatedExactlyOnce) {
    int evaluated = 0;
    PROMTACT_SOMETIMES(++evaluated == 1, "probe test: counts its evaluations");
    EXPECT_EQ(evaluated, 1);
}

TEST(Probe, AnInlineFunctionIsOneSiteAndEachTemplateLineToo) {
    reset_probes();

    test_support::shared_inline(1);
    test_support::generic(7);
    test_support::generic(7L);

    EXPECT_TRUE(site("fixture: inline function in a header").hit);
    EXPECT_TRUE(site("fixture: template").hit);
}

TEST(Probe, SitesKnowTheirPlaceAndComeInItsOrder) {
    const ProbeState state = site("fixture: called");

    EXPECT_TRUE(state.file.ends_with("probe_fixture.cpp")) << state.file;
    EXPECT_GT(state.line, 0U);
    const std::vector<ProbeState> all = probes();
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_LE(all[i - 1].file, all[i].file);
}

TEST(Probe, ResetForgetsAndThreadsShareOneMark) {
    reset_probes();
    EXPECT_FALSE(site("fixture: called").hit);
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([] {
                for (int n = 0; n < 1000; ++n)
                    test_support::called(1);
            });
        }
    }
    EXPECT_TRUE(site("fixture: called").hit);
    reset_probes();
    EXPECT_FALSE(site("fixture: called").hit);
}

} // namespace
} // namespace promtact
