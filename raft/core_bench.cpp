// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a step costs. The counter `steps` is Core::step() calls a second; the store says at once
// that everything is durable, and the network is a function call.
#include <array>
#include <cstdlib>
#include <deque>
#include <vector>

#include <benchmark/benchmark.h>

#include <promtact/raft/core.hpp>

namespace promtact::raft {
namespace {

class InstantStore final : public Store {
  public:
    Result<void> begin(const Output& output) override {
        batch_ = output.id;
        return {};
    }
    Result<std::optional<Durable>> next() override {
        if (!batch_) return std::optional<Durable>{};
        const Durable durable = proof(*batch_);
        batch_.reset();
        return std::optional<Durable>{durable};
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
    explicit Group(std::size_t count) {
        std::vector<NodeId> voters;
        for (NodeId id = 1; id <= count; ++id)
            voters.push_back(id);
        Recovered recovered;
        recovered.snapshot.configuration = make_configuration(voters);
        for (const NodeId id : voters) {
            Options options;
            options.id = id;
            options.append_entries_max = 64;
            options.trailing_entries = 1000;
            nodes_.emplace_back(Core::open(options, recovered).value());
        }
        nodes_[0].core.campaign();
        settle();
        if (nodes_[0].core.role() != Role::leader) std::abort();
    }

    Core& leader() { return nodes_[0].core; }
    Node& node(std::size_t at) { return nodes_[at]; }

    void settle() {
        for (bool moved = true; moved;) {
            moved = false;
            for (Node& node : nodes_)
                while (node.core.has_output()) {
                    turn(node);
                    moved = true;
                }
        }
    }

    /// One turn of an owner's loop.
    void turn(Node& node) {
        node.core.take(node.out);
        if (node.out.must_persist()) {
            benchmark::DoNotOptimize(node.store.begin(node.out));
            node.core.persisted(**node.store.next());
        }
        for (const Message& message : node.out.messages) {
            nodes_[message.to - 1].core.step(message);
            ++steps;
        }
    }

    void compact() {
        for (Node& node : nodes_) {
            const auto meta = node.core.snapshot_at(node.core.applied());
            if (meta) benchmark::DoNotOptimize(node.core.compact(*meta));
        }
    }

    std::uint64_t steps = 0;

  private:
    std::deque<Node> nodes_{};
};

/// Everything: 64 proposals of 128 bytes on the leader, their way to all and back, and out to be
/// applied.
void replicate_64_entries_of_128_bytes(benchmark::State& state) {
    Group group(static_cast<std::size_t>(state.range(0)));
    const std::array<std::byte, 128> command{};
    std::uint64_t rounds = 0;
    for (auto _ : state) {
        for (int i = 0; i < 64; ++i)
            benchmark::DoNotOptimize(group.leader().propose(command));
        group.settle();
        if (++rounds % 64 == 0) group.compact();
    }
    state.counters["steps"] =
        benchmark::Counter(static_cast<double>(group.steps), benchmark::Counter::kIsRate);
    state.counters["entries"] =
        benchmark::Counter(static_cast<double>(64 * rounds), benchmark::Counter::kIsRate);
}
BENCHMARK(replicate_64_entries_of_128_bytes)->Arg(3)->Arg(5);

/// The follower alone: an append of 64 entries of 128 bytes, stored, applied and acknowledged.
void follower_appends_64_entries_of_128_bytes(benchmark::State& state) {
    Options options;
    options.id = 2;
    Recovered recovered;
    recovered.snapshot.configuration = make_configuration({1, 2, 3});
    Node node(Core::open(options, recovered).value());
    const std::array<std::byte, 128> command{};
    Message append;
    append.type = MessageType::append;
    append.from = 1;
    append.to = 2;
    append.term = 1;
    std::uint64_t steps = 0;
    Index last = 0;
    for (auto _ : state) {
        // The payload as a decoder would make it; its cost is not the core's.
        state.PauseTiming();
        std::vector<Message> messages;
        for (int batch = 0; batch < 256; ++batch) {
            EntriesBuilder builder(last + 1, 64, 64 * command.size());
            for (int i = 0; i < 64; ++i)
                builder.push(1, EntryKind::command, command);
            append.index = last;
            append.log_term = last == 0 ? 0 : 1;
            append.commit = last;
            append.entries = builder.build();
            last += 64;
            messages.push_back(append);
        }
        state.ResumeTiming();
        for (const Message& message : messages) {
            node.core.step(message);
            ++steps;
            while (node.core.has_output()) {
                node.core.take(node.out);
                if (!node.out.must_persist()) continue;
                benchmark::DoNotOptimize(node.store.begin(node.out));
                node.core.persisted(**node.store.next());
            }
        }
        state.PauseTiming();
        const auto meta = node.core.snapshot_at(node.core.applied());
        if (meta) benchmark::DoNotOptimize(node.core.compact(*meta));
        state.ResumeTiming();
    }
    state.counters["steps"] =
        benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}
BENCHMARK(follower_appends_64_entries_of_128_bytes);

void heartbeat_and_answer(benchmark::State& state) {
    Group group(3);
    for (auto _ : state) {
        group.leader().tick(2);
        group.settle();
    }
    state.counters["steps"] =
        benchmark::Counter(static_cast<double>(group.steps), benchmark::Counter::kIsRate);
}
BENCHMARK(heartbeat_and_answer);

void clone_and_fingerprint(benchmark::State& state) {
    Group group(5);
    const std::array<std::byte, 16> command{};
    for (int i = 0; i < 20; ++i)
        benchmark::DoNotOptimize(group.leader().propose(command));
    group.settle();
    for (auto _ : state) {
        const Core copy = group.leader();
        benchmark::DoNotOptimize(copy.fingerprint());
    }
}
BENCHMARK(clone_and_fingerprint);

/// A follower so many entries behind; per iteration all of it. `messages` is the number of appends.
void catch_up(benchmark::State& state) {
    const auto lag = static_cast<std::uint64_t>(state.range(0));
    const std::array<std::byte, 128> command{};
    Recovered recovered;
    recovered.snapshot.configuration = make_configuration({1, 2});
    EntriesBuilder builder(1, lag, lag * command.size());
    for (std::uint64_t i = 0; i < lag; ++i)
        builder.push(1, EntryKind::command, command);
    recovered.hard.term = 1;
    Recovered behind = recovered;
    recovered.entries.push_back(builder.build());
    std::uint64_t messages = 0;
    for (auto _ : state) {
        Options options;
        options.append_entries_max = 256;
        options.id = 1;
        Node leader(Core::open(options, recovered).value());
        options.id = 2;
        Node follower(Core::open(options, behind).value());
        leader.core.campaign();
        while (leader.core.has_output() || follower.core.has_output()) {
            for (Node* node : {&leader, &follower}) {
                node->core.take(node->out);
                if (node->out.must_persist()) {
                    benchmark::DoNotOptimize(node->store.begin(node->out));
                    node->core.persisted(**node->store.next());
                }
                for (const Message& message : node->out.messages) {
                    messages += message.type == MessageType::append ? 1U : 0U;
                    (message.to == 1 ? leader : follower).core.step(message);
                }
            }
        }
        if (follower.core.log().last() != leader.core.log().last()) std::abort();
    }
    state.counters["messages"] =
        benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kAvgIterations);
}
BENCHMARK(catch_up)->Arg(1000)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(
    benchmark::kMillisecond);

} // namespace
} // namespace promtact::raft
