// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Properties of a whole history, which no look at the present can tell.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/engine/engine.hpp>
#include <promtact/engine/ledger.hpp>

namespace promtact::engine {
namespace {

/// Nodes whose state is what a script says, step by step; node 1 tells node 2 of every step.
class Scripted {
  public:
    struct Note {
        NodeId from{};
        NodeId to{};
    };
    using Message = Note;
    struct View {
        std::uint64_t term = 0;
        std::optional<NodeId> leader{};
        std::vector<std::uint64_t> committed{};
    };

    std::map<std::uint64_t, View> script{}; // by tick of node 1, until the next
    View during_delivery{};                 // seen only while node 2 receives in step 5
    View view{};

    [[nodiscard]] std::span<const NodeId> nodes() const { return ids_; }
    void tick(NodeId node) {
        if (node != ids_[0]) return;
        ++ticks_;
        if (const auto at = script.find(ticks_); at != script.end()) view = at->second;
        sends_ = 2;
    }
    void deliver(NodeId, const Note&) {
        if (ticks_ == 5 && during_delivery.leader) std::swap(view, during_delivery);
    }
    void drain(NodeId node, Outbox<Note>& outbox) {
        if (node != ids_[0]) return;
        for (; sends_ > 0; --sends_)
            outbox.send({ids_[0], ids_[1]});
    }
    [[nodiscard]] Route route(const Note& note) const { return {note.from, note.to}; }
    [[nodiscard]] Digest128 digest(const Note&) const { return {}; }

  private:
    std::vector<NodeId> ids_{NodeId(1), NodeId(2)};
    std::uint64_t ticks_ = 0;
    int sends_ = 0;
};

/// Watches a scripted history with and without a ledger; the step at which each stops it.
struct Watched {
    explicit Watched(Scripted& cluster, bool each_delivery = false)
        : engine(cluster, {.seed = 1, .check_each_delivery = each_delivery}), seen(cluster) {
        engine.watch("one leader per term", [this]() -> std::optional<Broken> {
            if (!seen.view.leader) return std::nullopt;
            const NodeId* before = leaders.note(seen.view.term, *seen.view.leader);
            if (before == nullptr) return std::nullopt;
            return Broken{
                .text = "term " + std::to_string(seen.view.term) + " had leader " +
                        std::to_string(before->value())};
        });
        engine.watch("a committed entry stays", [this]() -> std::optional<Broken> {
            for (std::size_t i = 0; i < seen.view.committed.size(); ++i) {
                if (entries.note(i, seen.view.committed[i]) != nullptr)
                    return Broken{.text = "entry " + std::to_string(i) + " was another one"};
            }
            return std::nullopt;
        });
        engine.watch("the committed log never falls", [this]() -> std::optional<Broken> {
            if (lengths.note(NodeId(1), seen.view.committed.size()) != nullptr)
                return Broken{.text = "it was longer"};
            return std::nullopt;
        });
    }
    Engine<Scripted> engine;
    Scripted& seen;
    Once<std::uint64_t, NodeId> leaders{};
    Once<std::size_t, std::uint64_t> entries{};
    Rising<NodeId, std::size_t> lengths{};
};

struct History {
    const char* property = "";
    std::map<std::uint64_t, Scripted::View> script{};
};

// Every state of these histories is a good one; only together they are not.
TEST(Ledger, W51WhatOnlyAHistoryTellsIsSeen) {
    const NodeId one(1);
    const NodeId two(2);
    const std::vector<History> histories{
        {"one leader per term",
         {{2, {.term = 7, .leader = one}}, {4, {.term = 7}}, {6, {.term = 7, .leader = two}}}},
        {"a committed entry stays", {{2, {.committed = {1, 2}}}, {6, {.committed = {1, 3}}}}},
        {"the committed log never falls", {{2, {.committed = {1, 2}}}, {6, {.committed = {1}}}}},
    };
    for (const History& history : histories) {
        Scripted cluster;
        cluster.script = history.script;
        Watched watched(cluster);
        EXPECT_FALSE(watched.engine.run_checked(20));
        ASSERT_TRUE(watched.engine.stop()) << history.property;
        ASSERT_TRUE(watched.engine.stop()->violation) << history.property;
        EXPECT_EQ(watched.engine.stop()->violation->property, history.property);
        EXPECT_EQ(watched.engine.stop()->place.step, Step(6));
    }
}

TEST(Ledger, AGoodHistoryPasses) {
    Scripted cluster;
    cluster.script = {
        {2, {.term = 7, .leader = NodeId(1), .committed = {1}}},
        {4, {.term = 8, .leader = NodeId(2), .committed = {1}}},
        {6, {.term = 9, .leader = NodeId(1), .committed = {1, 5}}}};
    Watched watched(cluster);
    EXPECT_TRUE(watched.engine.run_checked(20));
    EXPECT_EQ(watched.leaders.size(), 3U);
    EXPECT_EQ(watched.entries.size(), 2U);
}

// W51, second half: what goes wrong and heals within a step is seen by a look after each delivery.
TEST(Ledger, W51WhatHealsWithinAStepIsSeenAfterEachDelivery) {
    for (const bool each_delivery : {false, true}) {
        Scripted cluster;
        cluster.script = {{2, {.term = 7, .leader = NodeId(1)}}};
        cluster.during_delivery = {.term = 7, .leader = NodeId(2)};
        Watched watched(cluster, each_delivery);
        EXPECT_EQ(watched.engine.run_checked(20), !each_delivery);
        if (each_delivery) {
            ASSERT_TRUE(watched.engine.stop());
            EXPECT_EQ(watched.engine.stop()->place.step, Step(5));
        }
    }
}

TEST(Ledger, AFallIsAllowedWhereItIsForgotten) {
    Rising<int, int> rising;
    EXPECT_EQ(rising.note(1, 5), nullptr);
    EXPECT_EQ(rising.note(1, 5), nullptr);
    const int* before = rising.note(1, 4);
    ASSERT_NE(before, nullptr);
    EXPECT_EQ(*before, 5);
    rising.forget(1);
    EXPECT_EQ(rising.note(1, 4), nullptr);
}

} // namespace
} // namespace promtact::engine
