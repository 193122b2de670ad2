// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <exception>
#include <vector>

#include <promtact/sim/twin.hpp>

#include "heap_shuffle_internal.hpp"

namespace promtact::sim {
namespace {

/// The events of the present step.
class StepEvents final : public EventSink {
  public:
    [[nodiscard]] bool wants_words() const override { return true; }
    void on_event(const engine::Event& event, std::string_view words) override {
        events.push_back({event, std::string(words)});
    }
    std::vector<ToldEvent> events{};
};

/// One of the two runs.
struct Twin {
    Twin(const Protocol& protocol, const Case& run, std::uint64_t heap, unsigned char byte)
        : fill(byte) {
        shuffle_heap(heap);
        stir_heap(fill, 1024);
        session = protocol.start(run);
        session->observe(&sink);
        if (!run.fates) return;
        fates.emplace(*run.fates);
        session->edit_fates(&*fates);
    }
    bool step() {
        stir_heap(fill, 256); // larger ones cost too much at every step
        return session->step();
    }
    unsigned char fill;
    StepEvents sink{};
    std::optional<engine::FateReplay> fates{};
    std::unique_ptr<Session> session{};
};

std::optional<Divergence> compare(Twin& a, Twin& b) {
    const std::size_t most = std::max(a.sink.events.size(), b.sink.events.size());
    for (std::size_t i = 0; i < most; ++i) {
        const ToldEvent* first = i < a.sink.events.size() ? &a.sink.events[i] : nullptr;
        const ToldEvent* second = i < b.sink.events.size() ? &b.sink.events[i] : nullptr;
        if (first != nullptr && second != nullptr && first->event == second->event) continue;
        Divergence found;
        if (first != nullptr) found.first = *first;
        if (second != nullptr) found.second = *second;
        found.step = first != nullptr ? first->event.time : second->event.time;
        found.text = "two runs of one seed differ at event " +
                     std::to_string((first != nullptr ? first : second)->event.sequence) + ": " +
                     (first != nullptr ? line_of(*first) : std::string("nothing")) + " | " +
                     (second != nullptr ? line_of(*second) : std::string("nothing"));
        return found;
    }
    a.sink.events.clear();
    b.sink.events.clear();
    return std::nullopt;
}

/// Where both agree on every event, but one stops and the other goes on.
std::optional<Divergence> compare_stops(const Session& a, const Session& b) {
    const bool same = a.stop().has_value() == b.stop().has_value() &&
                      (!a.stop() || a.stop()->verdict == b.stop()->verdict);
    if (same) return std::nullopt;
    const auto words = [](const Session& session) {
        return session.stop() ? "stops (" + session.stop()->text + ")" : std::string("goes on");
    };
    const Step step = a.place().step;
    return Divergence{
        .step = step,
        .text = "two runs of one seed differ after step " + std::to_string(step.value()) +
                ": one " + words(a) + ", the other " + words(b)};
}

} // namespace

TwinReport run_twice(const Protocol& protocol, const Case& run) {
    TwinReport twins;
    try {
        Twin a(protocol, run, 1, 0x5A);
        Twin b(protocol, run, 2, 0xC3);
        for (std::uint64_t step = 0; step < run.scenario.steps; ++step) {
            const bool first = a.step();
            const bool second = b.step();
            twins.divergence = compare(a, b);
            if (!twins.divergence) twins.divergence = compare_stops(*a.session, *b.session);
            if (twins.divergence || !first || !second) break;
        }
        a.session->finish();
        twins.report = report_of(run, *a.session);
    } catch (const std::exception& thrown) {
        twins.report = error_report(run, std::string("the protocol threw: ") + thrown.what());
    }
    if (twins.divergence) {
        twins.report.verdict = engine::Verdict::error;
        twins.report.text = twins.divergence->text;
    }
    return twins;
}

} // namespace promtact::sim
