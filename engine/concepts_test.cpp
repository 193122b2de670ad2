// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/engine/plan.hpp>
#include <promtact/engine/testing/ring.hpp>

namespace promtact::engine {
namespace {

using testing::Ring;
using testing::Token;

struct Nothing {};
struct WithoutDrain {
    using Message = Token;
    std::span<const NodeId> nodes() const { return {}; }
    void tick(NodeId) {}
    void deliver(NodeId, const Token&) {}
};
struct Least : WithoutDrain {
    void drain(NodeId, Outbox<Token>&) {}
    Route route(const Token&) const { return {}; }
    Digest128 digest(const Token&) const { return {}; }
};

static_assert(!Cluster<Nothing>);
static_assert(!Cluster<WithoutDrain>);
static_assert(Cluster<Least>);
static_assert(Wire<Least, Token>);
static_assert(!Crashable<Least>);
static_assert(!Cloneable<Least>);
static_assert(Cluster<Ring>);
static_assert(Crashable<Ring>);
static_assert(Corrupting<Ring, Token>);
static_assert(DescribesMessages<Ring, Token>);

std::vector<std::string>
problems(const std::vector<Fault>& faults, const Abilities& abilities, std::uint64_t tick_ns = 0) {
    const Ring ring({.nodes = 3});
    const RunConfig config{.tick_ns = tick_ns, .faults = faults};
    const Membership members(ring.nodes());
    std::vector<std::string> texts;
    for (const PlanProblem& problem : PlanCheck(config, members, abilities).run())
        texts.push_back(std::to_string(problem.fault) + ": " + problem.text);
    return texts;
}

TEST(Plan, AbilitiesAreFoundByTheFunctionsThatAreThere) {
    EXPECT_TRUE(abilities_of<Ring>().crash);
    EXPECT_TRUE(abilities_of<Ring>().size);
    EXPECT_FALSE(abilities_of<Least>().crash);
    EXPECT_FALSE(abilities_of<Least>().size);
}

TEST(Plan, EveryProblemIsNamedAtOnce) {
    const std::vector<Fault> faults{
        {.kind = FaultKind::crash, .a = {NodeId(9)}},
        {.kind = FaultKind::isolate, .start = Step(5), .end = Step(5), .a = {NodeId(1)}},
        {.kind = FaultKind::loss, .params = DelayParams{}},
        {.kind = FaultKind::mtu, .params = MtuParams{}},
        {.kind = FaultKind::rate, .params = RateParams{.bits_per_second = 8}},
        {.kind = FaultKind::disk, .a = {NodeId(1)}, .params = DiskParams{}},
    };
    EXPECT_EQ(
        problems(faults, {}),
        (std::vector<std::string>{
            "0: the cluster has no node 9",
            "0: the cluster has no crash() and restart()",
            "1: it ends before it begins",
            "2: its parameters are those of another kind",
            "3: mtu is of connections and packets; only the kernel runner can do it",
            "4: a rate needs the wire to have size()",
            "4: it is in wall time, and the run does not say how long a step is (tick)",
            "5: the cluster has no disks",
        }));
}

TEST(Plan, WallTimeNeedsATick) {
    const FaultDuration wall{.unit = FaultDuration::Unit::nanoseconds, .count = 5};
    const std::vector<Fault> faults{
        {.kind = FaultKind::delay, .params = DelayParams{.base = wall}},
        {.kind = FaultKind::reorder, .params = ReorderParams{.hold = wall}},
        {.kind = FaultKind::flap, .params = FlapParams{.down = wall}},
        {.kind = FaultKind::clock, .a = {NodeId(1)}, .params = ClockParams{.jump_ns = 7}},
    };
    EXPECT_EQ(problems(faults, {}).size(), faults.size());
    EXPECT_TRUE(problems(faults, {}, 1'000'000).empty());
}

} // namespace
} // namespace promtact::engine
