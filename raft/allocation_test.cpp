// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Heartbeats and steady replication take no memory beyond the payload. Counted by an operator new
// of this program's own.
#include <array>
#include <cstdlib>
#include <deque>
#include <new>

#include <gtest/gtest.h>

#include <promtact/raft/core.hpp>

namespace {
std::size_t allocations = 0;

void* take(std::size_t bytes) {
    ++allocations;
    void* at = std::malloc(bytes);
    if (at == nullptr) std::abort();
    return at;
}
} // namespace

void* operator new(std::size_t bytes) {
    return take(bytes);
}
void* operator new[](std::size_t bytes) {
    return take(bytes);
}
void operator delete(void* at) noexcept {
    std::free(at);
}
void operator delete[](void* at) noexcept {
    std::free(at);
}
void operator delete(void* at, std::size_t) noexcept {
    std::free(at);
}
void operator delete[](void* at, std::size_t) noexcept {
    std::free(at);
}

namespace promtact::raft {
namespace {

class InstantStore final : public Store {
  public:
    Result<void> begin(const Output& output) override {
        batch_ = output.id;
        return {};
    }
    Result<std::optional<Durable>> next() override {
        std::optional<Durable> durable;
        if (batch_) durable = proof(*batch_);
        batch_.reset();
        return durable;
    }

  private:
    std::optional<BatchId> batch_{};
};

struct Node {
    explicit Node(Core opened) : core(std::move(opened)) {}
    Core core;
    InstantStore store{};
    Output out{};
};

class Group {
  public:
    Group() {
        Recovered recovered;
        recovered.snapshot.configuration = make_configuration({1, 2, 3});
        for (NodeId id = 1; id <= 3; ++id) {
            Options options;
            options.id = id;
            options.trailing_entries = 100;
            nodes_.emplace_back(Core::open(options, recovered).value());
        }
        leader().campaign();
        settle();
    }

    Core& leader() { return nodes_[0].core; }

    void settle() {
        for (bool moved = true; moved;) {
            moved = false;
            for (Node& node : nodes_) {
                if (!node.core.has_output()) continue;
                moved = true;
                node.core.take(node.out);
                if (node.out.must_persist() && node.store.begin(node.out)) {
                    const auto durable = node.store.next();
                    node.core.persisted(**durable);
                }
                for (const Message& message : node.out.messages) {
                    nodes_[message.to - 1].core.step(message);
                    ++messages;
                }
            }
        }
    }

    std::size_t messages = 0;

  private:
    std::deque<Node> nodes_{};
};

TEST(RaftAllocations, HeartbeatsTakeNone) {
    Group group;
    ASSERT_EQ(group.leader().role(), Role::leader);
    for (int i = 0; i < 10; ++i) {
        group.leader().tick(2);
        group.settle();
    }
    const std::size_t before = allocations;
    group.messages = 0;
    for (int i = 0; i < 10'000; ++i) {
        group.leader().tick(2);
        group.settle();
    }
    const std::size_t taken = allocations - before;
    EXPECT_EQ(group.messages, 40'000U);
    EXPECT_EQ(taken, 0U);
    // The counter counts.
    const auto some = std::make_unique<std::array<char, 100>>();
    EXPECT_GT(allocations, before + taken) << some->size();
}

TEST(RaftAllocations, ReplicationTakesOnlyBlocksOfPayload) {
    Group group;
    const std::array<std::byte, 128> command{};
    const auto round = [&] {
        for (int i = 0; i < 64; ++i)
            ASSERT_TRUE(group.leader().propose(command).accepted());
        group.settle();
    };
    for (int i = 0; i < 100; ++i)
        round();
    const std::size_t before = allocations;
    group.messages = 0;
    for (int i = 0; i < 1000; ++i)
        round();
    const std::size_t taken = allocations - before;
    // 64,000 entries of 128 bytes in blocks of 64 KiB: three pieces of memory for each block, and
    // the lists of blocks of three members, which double now and then.
    const std::size_t blocks = 64'000 / 512 + 1;
    EXPECT_LE(taken, 3 * blocks + 3 * 12 + 3 * blocks);
    EXPECT_EQ(group.messages, 6'000U); // append, answer and commit, for two followers
    EXPECT_LT(taken * 6, group.messages);
    EXPECT_EQ(group.leader().commit(), 1 + 64U * 1100);
}

} // namespace
} // namespace promtact::raft
