// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The smallest protocol: node 1 asks every node every tenth tick, and counts the answers.
#include <cstdio>

#include <promtact/engine.hpp>

namespace engine = promtact::engine;
using promtact::NodeId;

struct Ping {
    NodeId from{}, to{};
    std::uint64_t number = 0;
    bool answer = false;
};

class Cluster {
  public:
    using Message = Ping;

    std::span<const NodeId> nodes() const { return ids_; }
    void tick(NodeId node) {
        if (node != NodeId(1) || ++ticks_ % 10 != 0) return;
        ++asked;
        for (const NodeId to : ids_)
            if (to != node) out_[0].push_back({node, to, asked});
    }
    void deliver(NodeId node, const Ping& ping) {
        if (ping.answer) {
            ++answered;
        } else {
            out_[node.value() - 1].push_back({node, ping.from, ping.number, true});
        }
    }
    void drain(NodeId node, engine::Outbox<Ping>& outbox) {
        for (const Ping& ping : out_[node.value() - 1])
            outbox.send(ping);
        out_[node.value() - 1].clear();
    }
    engine::Route route(const Ping& ping) const { return {ping.from, ping.to}; }
    promtact::Digest128 digest(const Ping& ping) const {
        return {ping.answer ? 1U : 0U, ping.number};
    }

    std::uint64_t asked = 0;
    std::uint64_t answered = 0;

  private:
    std::vector<NodeId> ids_{NodeId(1), NodeId(2), NodeId(3)};
    std::vector<Ping> out_[3];
    std::uint64_t ticks_ = 0;
};

int main() {
    Cluster cluster;
    engine::Engine<Cluster> run(
        cluster, {.seed = 0x4A2C, .drop = promtact::Ppm(50'000), .max_delay = {3}});
    run.watch("no answer without a question", [&]() -> std::optional<engine::Broken> {
        if (cluster.answered <= 2 * cluster.asked) return std::nullopt;
        return engine::Broken{.text = std::to_string(cluster.answered) + " answers"};
    });
    const bool held = run.run_checked(1000);
    std::printf(
        "asked %lu, answered %lu, trace %s\n", cluster.asked * 2, cluster.answered,
        to_hex(run.trace()).c_str());
    if (!held) std::printf("%s\n", run.stop()->text.c_str());
    return held && cluster.answered > 0 ? 0 : 1;
}
