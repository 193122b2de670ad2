// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One run driven twice, by the engine and by the reference, and compared at every step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <promtact/engine/engine.hpp>
#include <promtact/engine/testing/ring.hpp>
#include <promtact/reference/linear_engine.hpp>

namespace promtact::engine::testing {

/// A kind of run: the seven of the campaign, with the figures of the reference system.
struct Shape {
    const char* name = "";
    std::uint32_t nodes = 5;
    std::uint64_t steps = 500;
    std::uint32_t drop_ppm = 0;
    std::uint64_t max_delay = 0;
    std::uint32_t duplicate_ppm = 0;
    std::uint64_t restart_every = 0;
    std::vector<Fault> faults{};
};

inline std::vector<Shape> shapes() {
    const auto cut = [](FaultKind kind, std::vector<NodeId> a, std::vector<NodeId> b,
                        std::uint64_t start, std::uint64_t end) {
        return Fault{
            .kind = kind,
            .start = Step(start),
            .end = Step(end),
            .a = std::move(a),
            .b = std::move(b)};
    };
    const std::vector<NodeId> two{NodeId(1), NodeId(2)};
    const std::vector<NodeId> three{NodeId(3), NodeId(4), NodeId(5)};
    return {
        {.name = "quiet", .nodes = 3, .steps = 400},
        {.name = "lossy", .drop_ppm = 75'000, .max_delay = 5},
        {.name = "sweep", .steps = 600, .drop_ppm = 50'000, .max_delay = 5, .restart_every = 101},
        {.name = "restart storm", .drop_ppm = 60'000, .max_delay = 5, .restart_every = 37},
        {.name = "delay only", .nodes = 7, .steps = 300, .max_delay = 9, .restart_every = 71},
        {.name = "far and twice",
         .drop_ppm = 35'000,
         .max_delay = 700,
         .duplicate_ppm = 100'000,
         .restart_every = 53},
        {.name = "cut and crash",
         .drop_ppm = 25'000,
         .max_delay = 4,
         .duplicate_ppm = 20'000,
         .faults =
             {cut(FaultKind::split, two, three, 50, 200),
              cut(FaultKind::link, {NodeId(4)}, {NodeId(5)}, 0, 350),
              cut(FaultKind::crash, {NodeId(3), NodeId(1)}, {}, 150, 300),
              cut(FaultKind::isolate, {NodeId(2)}, {}, 250, 400)}},
    };
}

/// The first difference; nothing when the whole run agrees. delivered: how much there was to agree
/// on.
inline std::optional<std::string> first_difference(
    const Shape& shape, std::uint64_t seed, std::uint64_t other, std::uint64_t& delivered) {
    const RingOptions options{.nodes = shape.nodes, .period = 3, .hops = 3};
    Ring fast(options);
    Ring slow(options);
    Engine<Ring> engine(
        fast, RunConfig{
                  .seed = seed,
                  .drop = Ppm(shape.drop_ppm),
                  .max_delay = {shape.max_delay},
                  .duplicate = Ppm(shape.duplicate_ppm),
                  .faults = shape.faults});
    reference::LinearEngine<Ring> linear(
        slow, slow,
        {.seed = other,
         .drop_ppm = shape.drop_ppm,
         .max_delay = shape.max_delay,
         .duplicate_ppm = shape.duplicate_ppm,
         .faults = shape.faults});
    for (std::uint64_t step = 1; step <= shape.steps; ++step) {
        engine.step();
        linear.step();
        if (shape.restart_every > 0 && step % shape.restart_every == 0) {
            const NodeId node(
                static_cast<std::uint32_t>(step / shape.restart_every % shape.nodes) + 1);
            engine.crash(node);
            engine.restart(node);
            linear.crash(node);
            linear.restart(node);
        }
        if (step % 13 == 0) {
            const NodeId node(static_cast<std::uint32_t>(step % shape.nodes) + 1);
            fast.poke(node);
            slow.poke(node);
            engine.collect();
            linear.collect();
        }
        const std::string at = std::string(shape.name) + ", seed " + std::to_string(seed) +
                               ", step " + std::to_string(step) + ": ";
        if (engine.stop()) return at + engine.stop()->text;
        if (engine.trace() != linear.trace()) return at + "the traces differ";
        if (engine.under_way() != linear.under_way()) return at + "what is under way differs";
        for (const NodeId node : fast.nodes()) {
            if (fast.node(node) == slow.node(node)) continue;
            return at + "node " + std::to_string(node.value()) + " differs";
        }
    }
    delivered += engine.counts().delivered;
    return std::nullopt;
}

} // namespace promtact::engine::testing
