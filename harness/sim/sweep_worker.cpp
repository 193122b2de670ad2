// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstring>

#include <unistd.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/sim/guide.hpp>
#include <promtact/sim/twin.hpp>

#include "sweep_worker_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::size_t text_max = 4096; // of a failure's words
/// Steps from one look at the shape of the state to the next: what nodes say costs more than a
/// step, and most of what they say lasts.
constexpr std::uint64_t shape_every = 8;
constexpr std::size_t case_max = std::size_t{4} << 20;

void put(std::string& bytes, std::uint64_t value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put(std::string& bytes, const std::string& text, std::size_t most = text_max) {
    const std::string_view kept = std::string_view(text).substr(0, most);
    put(bytes, kept.size());
    bytes.append(kept);
}

/// Takes what put() wrote; the processes are of one program.
class Taker {
  public:
    explicit Taker(std::string_view bytes) : bytes_(bytes) {}
    std::uint64_t number() {
        std::uint64_t value = 0;
        if (bytes_.size() - at_ < sizeof value) {
            complete_ = false;
            return 0;
        }
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::string text() {
        const std::uint64_t size = number();
        if (!complete_ || bytes_.size() - at_ < size) {
            complete_ = false;
            return {};
        }
        std::string text(bytes_.substr(at_, static_cast<std::size_t>(size)));
        at_ += text.size();
        return text;
    }
    [[nodiscard]] bool complete() const noexcept { return complete_; }
    [[nodiscard]] std::size_t taken() const noexcept { return at_; }

  private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    bool complete_ = true;
};

void add(SharedCount& count, std::uint64_t value) {
    count.fetch_add(value, std::memory_order_relaxed);
}

/// Adds a run to what is counted.
void count_run(const RunReport& report, bool twin, const SweepShared& shared, SweepSlot& slot) {
    add(slot.seeds, 1);
    add(slot.steps, report.end.step.value());
    add(slot.deliveries, report.counts.delivered);
    add(slot.twins, twin ? 1 : 0);
    add(slot.verdicts[static_cast<std::size_t>(report.verdict)], 1);
    for (std::size_t i = 0; i < shared.faults().size() && i < report.fault_counts.size(); ++i)
        add(shared.faults()[i], report.fault_counts[i]);
    for (std::size_t i = 0; i < shared.goals().size() && i < report.goals.size(); ++i)
        add(shared.goals()[i], report.goals[i].times);
}

/// Runs a plan, twice when it is to be compared; a guide learns from it.
RunReport carry_out(const Protocol& protocol, const Planned& planned, bool twin, Guide* guide) {
    if (twin) return run_twice(protocol, planned.run).report;
    RunOptions options{.editor = planned.editor.get()};
    std::set<std::uint64_t> shapes;
    if (guide != nullptr) {
        options.after_step = [&shapes](const Session& session) {
            if (session.place().step.value() % shape_every == 0)
                shapes.insert(shape_of(session.nodes()));
        };
    }
    RunReport report = run_case(protocol, planned.run, options);
    if (guide != nullptr) guide->learn(planned.run, shapes);
    return report;
}

/// With an id for every fault, as a file has them.
Case numbered(Case run) {
    run.fault_ids.clear();
    for (std::uint32_t id = 0; id < run.scenario.faults.size(); ++id)
        run.fault_ids.push_back(id);
    return run;
}

/// Writes a failure to the parent.
void tell(int fd, std::uint64_t seed, const Outcome& outcome, const std::string& case_text) {
    std::string bytes;
    put(bytes, seed);
    put(bytes, static_cast<std::uint64_t>(outcome.verdict));
    put(bytes, outcome.property);
    put(bytes, outcome.key);
    put(bytes, outcome.text);
    put(bytes, outcome.step);
    put(bytes, outcome.events);
    put(bytes, outcome.trace.high);
    put(bytes, outcome.trace.low);
    put(bytes, case_text, case_max);
    static_cast<void>(write_all(fd, std::as_bytes(std::span(bytes)), "the pipe of a sweep"));
}

void stop_after(SweepControl& control, std::uint64_t index) {
    std::uint64_t last = control.last;
    while (index < last && !control.last.compare_exchange_weak(last, index)) {
    }
}

bool is_failure(engine::Verdict verdict) {
    return verdict != engine::Verdict::pass && verdict != engine::Verdict::vacuous;
}

} // namespace

void sweep_worker(
    const Protocol& protocol, const Scenario& scenario, const SweepOptions& options,
    const SweepShared& shared, std::uint32_t worker, int failures_fd) {
    SweepControl& control = shared.control();
    SweepSlot& slot = shared.slots()[worker];
    std::optional<Guide> guide;
    if (options.strategy.kind == StrategyKind::guided)
        guide.emplace(options.strategy, scenario, protocol.abilities);
    while (!control.stop) {
        const std::uint64_t index = control.next.fetch_add(1);
        while (index >= control.limit && !control.stop)
            ::usleep(200);
        // What is below the limit was promised, unless it comes after a failure.
        if (index >= control.limit || index > control.last) break;
        slot.index = index;
        ::alarm(options.seed_seconds); // a protocol that never comes back is ended by it
        const std::uint64_t seed = seed_at(options, index);
        Planned planned;
        if (guide) {
            planned.run = guide->next(seed);
        } else {
            planned = plan(options.strategy, scenario, protocol.abilities, seed);
        }
        const bool twin =
            planned.editor == nullptr && options.twin_every > 0 && index % options.twin_every == 0;
        const RunReport report = carry_out(protocol, planned, twin, guide ? &*guide : nullptr);
        count_run(report, twin, shared, slot);
        if (is_failure(report.verdict)) {
            std::string case_text;
            if (guide) {
                case_text =
                    write_recording({.protocol = protocol.name, .run = numbered(planned.run)});
            }
            tell(failures_fd, seed, outcome_of(report), case_text);
            if (!options.keep_going) stop_after(control, index);
        }
        ::alarm(0);
        slot.index = SweepSlot::idle;
    }
    slot.index = SweepSlot::idle;
}

std::vector<SweepFailure> take_failures(std::string& bytes) {
    std::vector<SweepFailure> all;
    std::size_t taken = 0;
    while (taken < bytes.size()) {
        Taker taker(std::string_view(bytes).substr(taken));
        SweepFailure failure{.seed = taker.number()};
        Outcome& outcome = failure.outcome;
        outcome.verdict = static_cast<engine::Verdict>(taker.number());
        outcome.property = taker.text();
        outcome.key = taker.text();
        outcome.text = taker.text();
        outcome.step = taker.number();
        outcome.events = taker.number();
        outcome.trace.high = taker.number();
        outcome.trace.low = taker.number();
        failure.case_text = taker.text();
        if (!taker.complete()) break;
        all.push_back(std::move(failure));
        taken += taker.taken();
    }
    bytes.erase(0, taken);
    return all;
}

} // namespace promtact::sim
