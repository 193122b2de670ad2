// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// page_fixture <steps> <broken|whole>: prints the page of a run in which everything happens that a
// page can show: losses, copies, a crash, a pause, a slow disk, operations of clients and, when
// broken, a violation. viewer_test.py opens it in a browser.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <promtact/base/numbers.hpp>
#include <promtact/engine/sim_disk.hpp>
#include <promtact/sim/protocol.hpp>
#include <promtact/sim/viewer.hpp>

namespace promtact::sim {
namespace {

/// Every node tells the next one what it counted, and writes down what it heard.
class Counters {
  public:
    struct Count {
        NodeId from{}, to{};
        std::uint64_t value = 0;
    };
    using Message = Count;

    Counters(std::uint32_t nodes, std::uint64_t seed) : nodes_(nodes) {
        for (std::uint32_t id = 1; id <= nodes; ++id) {
            ids_.push_back(NodeId(id));
            disks_.push_back(std::make_unique<engine::SimDisk>(
                pool_,
                engine::SimDiskOptions{.seed = seed, .node = NodeId(id), .tick_ns = 10'000'000}));
        }
    }
    [[nodiscard]] std::span<const NodeId> nodes() const { return ids_; }
    void tick(NodeId node) {
        Node& self = at(node);
        self.pending = ++self.counted % 2 == 0;
    }
    void deliver(NodeId node, const Count& count) {
        Node& self = at(node);
        self.heard = std::max(self.heard, count.value);
        engine::SimDisk& own = disk(node);
        static_cast<void>(own.submit({.id = ++requests_, .kind = IoKind::sync_dir}));
        std::array<IoDone, 8> done{};
        while (own.poll(done) > 0) {
        }
    }
    void drain(NodeId node, engine::Outbox<Count>& outbox) {
        Node& self = at(node);
        if (!std::exchange(self.pending, false)) return;
        const auto count = static_cast<std::uint32_t>(nodes_.size());
        outbox.send({node, NodeId(node.value() % count + 1), self.counted});
    }
    [[nodiscard]] engine::Route route(const Count& count) const { return {count.from, count.to}; }
    [[nodiscard]] Digest128 digest(const Count& count) const { return {0, count.value}; }
    [[nodiscard]] std::string describe(const Count& count) const {
        return "count <" + std::to_string(count.value) + ">";
    }
    [[nodiscard]] std::string describe(NodeId node) const {
        return "heard " + std::to_string(nodes_[node.value() - 1].heard);
    }
    void crash(NodeId node) { at(node) = {}; }
    void restart(NodeId) {}
    engine::SimDisk& disk(NodeId node) { return *disks_[node.value() - 1]; }
    [[nodiscard]] const engine::SimDisk& disk(NodeId node) const {
        return *disks_[node.value() - 1];
    }
    [[nodiscard]] std::uint64_t heard() const {
        std::uint64_t most = 0;
        for (const Node& node : nodes_)
            most = std::max(most, node.heard);
        return most;
    }

  private:
    struct Node {
        std::uint64_t counted = 0;
        std::uint64_t heard = 0;
        bool pending = false;
    };
    Node& at(NodeId node) { return nodes_[node.value() - 1]; }

    std::vector<Node> nodes_;
    std::vector<NodeId> ids_{};
    disk::Pool pool_{512};
    std::vector<std::unique_ptr<engine::SimDisk>> disks_{};
    std::uint64_t requests_ = 0;
};

Protocol counters(std::uint64_t limit) {
    Parts<Counters> parts;
    parts.make = [](const Scenario& scenario) {
        return std::make_unique<Counters>(scenario.nodes, scenario.seed);
    };
    parts.prepare = [limit](Parts<Counters>::Engine& engine, Counters& cluster) {
        engine.watch("nobody hears of a high count", [&cluster, limit]() {
            return cluster.heard() <= limit
                       ? std::nullopt
                       : std::optional(engine::Broken{
                             .text = std::to_string(cluster.heard()) + " was heard"});
        });
    };
    return protocol<Counters>("counters", std::move(parts));
}

Case everything(std::uint64_t steps) {
    Scenario scenario{
        .name = "everything <b>happens</b>",
        .seed = 11,
        .nodes = 5,
        .steps = steps,
        .tick_ns = 10'000'000,
        .drop = Ppm(100'000),
        .max_delay = {6},
        .duplicate = Ppm(50'000)};
    const auto window = [](FaultKind kind, std::uint32_t node, std::uint64_t start,
                           std::uint64_t end, FaultParams params = {}) {
        return Fault{
            .kind = kind,
            .start = Step(start),
            .end = Step(end),
            .a = {NodeId(node)},
            .params = std::move(params)};
    };
    scenario.faults = {
        window(FaultKind::crash, 3, 10, 20), window(FaultKind::pause, 4, 12, 18),
        window(FaultKind::isolate, 1, 14, 24),
        window(
            FaultKind::disk, 2, 8, 30,
            DiskParams{
                .fault = DiskFault::slow, .probability = Ppm(Ppm::one), .delay = {.count = 2}})};
    return {.scenario = std::move(scenario)};
}

} // namespace
} // namespace promtact::sim

int main(int argc, char** argv) {
    using namespace promtact;
    const auto steps = argc == 3 ? parse_u64(argv[1]) : Result<std::uint64_t>(0);
    if (argc != 3 || !steps || *steps == 0) {
        std::fputs("usage: page_fixture <steps> <broken|whole>\n", stderr);
        return 2;
    }
    const bool broken = std::strcmp(argv[2], "broken") == 0;
    const sim::Protocol protocol = sim::counters(broken ? 30 : ~std::uint64_t{0});
    std::fputs(
        sim::render_page(protocol, sim::everything(*steps), "page_fixture again").c_str(), stdout);
    return 0;
}
