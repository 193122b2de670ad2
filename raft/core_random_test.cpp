// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Random schedules of everything at once. The network watches what must hold; here is only what
// strikes, and that a run came to something. Failing seeds run alone with PROMTACT_RAFT_SEED.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <promtact/base/choice.hpp>
#include <promtact/base/numbers.hpp>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

/// Draws by name: the n-th choice of a purpose does not move when others are added.
class Chance {
  public:
    explicit Chance(std::uint64_t seed) : seed_(seed) {}
    std::uint32_t operator()(std::uint32_t below) {
        return promtact_bounded(promtact_choose(seed_, PROMTACT_PURPOSE_CRASH, 0, draws_++), below);
    }
    bool one_in(std::uint32_t n) { return (*this)(n) == 0; }

  private:
    std::uint64_t seed_;
    std::uint64_t draws_ = 0;
};

struct Totals {
    std::uint64_t leaderships = 0;
    std::uint64_t truncations = 0;
    std::uint64_t installs = 0;
    std::uint64_t changes = 0;
    std::uint64_t reads = 0;
    std::uint64_t commits = 0;
    std::uint64_t transfers = 0;
    std::uint64_t held = 0;
    std::uint64_t resumed = 0;
};

class Storm {
  public:
    explicit Storm(std::uint64_t seed) : chance_(seed), net_(make(seed)) {
        for (const NodeId id : {6U, 7U})
            net_.add_blank(id);
    }

    void run(std::size_t moves) {
        for (std::size_t i = 0; i < moves && !::testing::Test::HasFailure(); ++i)
            move();
    }

    /// After the storm: everything works again, everybody agrees.
    void calm() {
        net_.heal();
        for (const NodeId id : net_.ids()) {
            net_[id].store.held = false;
            net_[id].store.complete();
            if (!net_[id].up) net_.restart(id);
        }
        for (int i = 0; i < 400 && !::testing::Test::HasFailure(); ++i)
            net_.pass(1);
        const NodeId leader = net_.leader();
        ASSERT_NE(leader, no_node) << "no leader after the storm\n" << state();
        ASSERT_TRUE(net_.propose(leader, "last").accepted()) << state();
        net_.core(leader).read_index(4711);
        for (int i = 0; i < 60; ++i)
            net_.pass(1);
        EXPECT_TRUE(net_[leader].reads.count(4711) > 0) << state();
        for (const NodeId id : members_of(net_.core(leader).configuration())) {
            EXPECT_EQ(net_.core(id).commit(), net_.core(leader).commit()) << state();
            EXPECT_EQ(net_[id].applied, net_[leader].applied) << state();
        }
        EXPECT_EQ(net_.core(leader).uncommitted_bytes(), 0U);
    }

    void add_to(Totals& totals) {
        for (const NodeId id : net_.ids()) {
            const Counters& counters = net_.core(id).counters();
            totals.leaderships += counters.leaderships;
            totals.truncations += counters.truncations;
            totals.installs += counters.snapshots_installed;
            totals.changes += counters.changes;
            totals.reads += counters.reads_answered;
            totals.transfers += counters.transfers;
            totals.held += counters.held;
            totals.resumed += counters.snapshots_resumed;
        }
        totals.commits += net_.committed();
    }

  private:
    static Network make(std::uint64_t seed) {
        Options options;
        options.seed = seed;
        options.election_ticks = 6;
        options.heartbeat_ticks = 2;
        options.trailing_entries = seed % 3 == 0 ? 0 : 4;
        options.snapshot_chunk_bytes = 16;
        options.append_entries_max = 1 + static_cast<std::uint32_t>(seed % 4);
        options.inflight_messages = 1 + static_cast<std::uint32_t>(seed % 5);
        options.stall_ticks = 30;
        options.pre_vote = seed % 7 != 0;
        return Network(3 + 2 * (seed % 2), options);
    }

    NodeId any() {
        const auto& ids = net_.ids();
        return ids[chance_(static_cast<std::uint32_t>(ids.size()))];
    }

    void move() {
        const std::uint32_t what = chance_(100);
        if (what < 17) return tick();
        if (what < 72) return deliver();
        if (what < 82) return client();
        if (what < 90) return disk();
        if (what < 92) return network();
        if (what < 94) return machine();
        return admin();
    }

    void tick() {
        const std::uint64_t ticks = chance_.one_in(200) ? 30 : 1;
        const NodeId one = chance_.one_in(3) ? any() : no_node;
        for (const NodeId id : net_.ids()) {
            if (!net_[id].up || (one != no_node && id != one)) continue;
            net_.core(id).tick(ticks);
            net_.drain(id);
        }
    }

    void deliver() {
        for (std::uint32_t i = chance_(6); i > 0 && !net_.flight.empty(); --i) {
            const auto size = static_cast<std::uint32_t>(net_.flight.size());
            const std::uint32_t at = chance_.one_in(4) ? chance_(size) : 0;
            const Message message = net_.flight[at];
            if (!chance_.one_in(20)) // else it comes again
                net_.flight.erase(net_.flight.begin() + at);
            if (chance_.one_in(25)) continue; // or never
            net_.deliver(message);
            if (net_[message.to].up) net_.drain(message.to);
        }
        while (net_.flight.size() > 400)
            net_.flight.pop_front();
    }

    void client() {
        const NodeId id = any();
        if (!net_[id].up) return;
        if (chance_.one_in(3)) {
            net_.core(id).read_index(++numbers_);
        } else {
            for (std::uint32_t i = chance_(4); i > 0; --i)
                net_.propose(id, "c" + std::to_string(++numbers_));
        }
        net_.drain(id);
    }

    void disk() {
        const NodeId id = any();
        Member& member = net_[id];
        if (!member.up) return;
        if (chance_.one_in(8)) member.store.held = !member.store.held;
        member.store.complete(chance_(3));
        net_.drain(id);
        if (chance_.one_in(6) && member.core.snapshot_at(member.core.applied()) &&
            member.applied_index == member.core.applied() &&
            member.core.oldest_snapshot_in_use() == member.core.snapshot().index &&
            idle_snapshots(member))
            net_.compact(id);
    }

    /// The fixture keeps one snapshot: none may be replaced while it is sent.
    bool idle_snapshots(const Member& member) {
        return std::all_of(net_.ids().begin(), net_.ids().end(), [&](NodeId id) {
            const Progress* follower = member.core.progress(id);
            return follower == nullptr || follower->state != ProgressState::snapshot;
        });
    }

    void network() {
        if (chance_.one_in(2)) return net_.heal();
        if (chance_.one_in(2)) return net_.isolate(any());
        net_.cut(any(), any());
    }

    void machine() {
        const NodeId id = any();
        Member& member = net_[id];
        if (!member.up) return net_.restart(id);
        // A minority at a time, as a cluster is built to bear.
        std::size_t down = 0;
        for (const NodeId other : net_.ids())
            down += net_[other].up ? 0U : 1U;
        if (down >= 1) return;
        if (chance_.one_in(2)) member.store.complete_in_part(chance_(6));
        net_.crash(id);
    }

    void admin() {
        const NodeId id = any();
        if (!net_[id].up) return;
        if (chance_.one_in(3)) {
            net_.core(id).transfer(any());
        } else {
            std::vector<ConfigurationStep> steps;
            for (std::uint32_t i = 1 + chance_(2); i > 0; --i)
                steps.push_back({static_cast<StepKind>(chance_(4)), any()});
            net_.change(id, steps, chance_.one_in(4) ? Force::yes : Force::no);
        }
        net_.drain(id);
    }

    std::string state() {
        std::string text;
        for (const NodeId id : net_.ids())
            text += net_.core(id).describe() + '\n';
        return text;
    }

    Chance chance_;
    Network net_;
    std::uint64_t numbers_ = 0;
};

TEST(RaftRandom, NothingIsLostInAnyStormAndAllAgreeAfterIt) {
    std::uint64_t first = 1;
    std::uint64_t last = 60;
    if (const char* given = std::getenv("PROMTACT_RAFT_SEED")) {
        first = last = parse_u64(given).value_or(1);
    }
    if (const char* given = std::getenv("PROMTACT_RAFT_SEEDS")) last = parse_u64(given).value_or(1);
    Totals totals;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        SCOPED_TRACE("PROMTACT_RAFT_SEED=" + std::to_string(seed));
        Storm storm(seed);
        storm.run(6000);
        if (!HasFailure()) storm.calm();
        storm.add_to(totals);
        if (HasFailure()) return;
    }
    if (first == last) return;
    // It got to where it hurts.
    EXPECT_GT(totals.leaderships, last);
    EXPECT_GT(totals.commits, 20 * last);
    EXPECT_GT(totals.truncations, last / 10);
    EXPECT_GT(totals.installs, last / 2);
    EXPECT_GT(totals.changes, last);
    EXPECT_GT(totals.reads, last);
    EXPECT_GT(totals.transfers, last / 10);
    EXPECT_GT(totals.held, last);
    EXPECT_GT(totals.resumed, 0U);
}

} // namespace
} // namespace promtact::raft::testing
