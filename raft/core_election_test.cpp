// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

TEST(RaftElection, AMemberIsElectedAndCommits) {
    Network net(3);
    net.elect(1);
    EXPECT_EQ(net.core(1).term(), 1U);
    EXPECT_TRUE(net.propose(1, "a").accepted());
    net.settle();
    for (const NodeId id : net.ids()) {
        EXPECT_EQ(net[id].applied, std::vector<std::string>{"a"}) << net.core(id).describe();
        EXPECT_EQ(net.core(id).leader(), 1U);
    }
}

} // namespace
} // namespace promtact::raft::testing
