// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/choice.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/sim/guide.hpp>

namespace promtact::sim {
namespace {

constexpr Purpose guide_purpose = user_purpose(5);

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

} // namespace

std::uint64_t shape_of(const std::vector<NodeState>& nodes) {
    TraceHash hash;
    std::string shape;
    for (const NodeState& node : nodes) {
        shape.clear();
        for (std::size_t i = 0; i < node.words.size(); ++i) {
            if (!is_digit(node.words[i])) {
                shape += node.words[i];
            } else if (i == 0 || !is_digit(node.words[i - 1])) {
                shape += '#';
            }
        }
        shape += node.up ? '+' : '-';
        hash.add(std::as_bytes(std::span(shape)));
    }
    return hash.value().low;
}

Case Guide::next(std::uint64_t seed) {
    const ChoiceStream stream(seed, guide_purpose, 0);
    // Half of the plans are new ones: what was kept must not be all there is.
    const bool fresh = kept_.empty() || stream.between({0}, 0, 1) == 0;
    if (fresh) return plan(options_, scenario_, abilities_, seed).run;
    const std::uint64_t at = stream.between({1}, 0, kept_.size() - 1);
    return changed(kept_[static_cast<std::size_t>(at)], seed);
}

Case Guide::changed(const Case& kept, std::uint64_t seed) const {
    const ChoiceStream stream(seed, guide_purpose, 1);
    const auto draw = [&stream](std::uint64_t n, std::uint64_t most) {
        return stream.between({n}, 0, most);
    };
    Case run = kept;
    std::vector<Fault>& faults = run.scenario.faults;
    const std::size_t own = scenario_.faults.size(); // the scenario's stay
    const std::vector<Fault> drawn =
        plan(options_, scenario_, abilities_, seed).run.scenario.faults;
    const auto any = [&] {
        return own + static_cast<std::size_t>(draw(1, faults.size() - own - 1));
    };
    const std::uint64_t change = draw(0, 3);
    if (change == 0 || drawn.size() == own) { // the same faults, other chances
        run.scenario.seed = seed;
    } else if (change == 1 || faults.size() == own) { // one fault more
        faults.push_back(drawn[own]);
    } else if (change == 2) { // one fault less
        faults.erase(faults.begin() + static_cast<std::ptrdiff_t>(any()));
    } else { // one fault at another time
        Fault& fault = faults[any()];
        fault.start = drawn[own].start;
        fault.end = drawn[own].end;
    }
    return run;
}

void Guide::learn(const Case& run, const std::set<std::uint64_t>& shapes) {
    const std::size_t before = shapes_.size();
    shapes_.insert(shapes.begin(), shapes.end());
    if (shapes_.size() == before) return;
    if (kept_.size() == kept_max) kept_.erase(kept_.begin());
    kept_.push_back(run);
}

} // namespace promtact::sim
