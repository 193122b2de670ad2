// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <promtact/base/assert.hpp>
#include <promtact/sim/run.hpp>

namespace promtact::sim {
namespace {

std::string list_of(const std::vector<NodeId>& nodes) {
    std::string text = "[";
    for (const NodeId node : nodes)
        text += (text.size() > 1 ? " " : "") + std::to_string(node.value());
    return text + "]";
}

/// The case's own fates first, then whoever else edits.
class Editors final : public engine::FateEditor {
  public:
    Editors(const Case& run, engine::FateEditor* next) : next_(next) {
        if (run.fates) replay_.emplace(*run.fates);
    }
    void edit(const engine::FateKey& key, engine::Fate& fate) override {
        if (replay_) replay_->edit(key, fate);
        if (next_ != nullptr) next_->edit(key, fate);
    }
    [[nodiscard]] std::size_t unmatched() const { return replay_ ? replay_->unmatched() : 0; }

  private:
    std::optional<engine::FateReplay> replay_{};
    engine::FateEditor* next_;
};

bool reached(const RunReport& report, const std::string& goal) {
    for (const engine::Goals::Goal& one : report.goals)
        if (one.sentence == goal && one.times > 0) return true;
    return false;
}

/// What a run that ended by itself amounts to.
void judge(const Case& run, RunReport& report) {
    if (report.stop) return;
    const auto vacuous = [&report](std::string text) {
        report.verdict = engine::Verdict::vacuous;
        report.text = std::move(text);
    };
    const std::size_t due = std::min(report.fault_counts.size(), run.faults_due);
    for (std::size_t i = 0; i < due; ++i) {
        if (report.fault_counts[i] == 0)
            return vacuous("fault never struck: " + name_of(run.scenario.faults[i]));
    }
    for (const std::string& goal : run.scenario.expect.goals)
        if (!reached(report, goal)) return vacuous("goal not reached: " + goal);
    using History = HistoryReport::Verdict;
    const HistoryReport& history = report.clients.history;
    if (history.verdict == History::vacuous) return vacuous(history.text);
    if (history.verdict == History::budget_exhausted) {
        report.verdict = engine::Verdict::budget_exhausted;
        report.text = history.text;
        return;
    }
    const std::optional<Digest128>& trace = run.scenario.expect.trace;
    if (!trace || *trace == report.end.trace) return;
    report.verdict = engine::Verdict::fail;
    report.text = "the trace is " + to_hex(report.end.trace) + ", expected was " + to_hex(*trace);
}

} // namespace

RunReport report_of(const Case& run, const Session& session) {
    RunReport report{
        .verdict = session.stop() ? session.stop()->verdict : engine::Verdict::pass,
        .text = session.stop() ? session.stop()->text : std::string(),
        .stop = session.stop(),
        .end = session.place(),
        .counts = session.counts(),
        .chance = session.chance(),
        .fault_counts = session.fault_counts(),
        .goals = session.goals(),
        .nodes = session.nodes(),
        .commands = session.commands(),
        .restarts = session.restarts(),
        .clients = session.clients()};
    judge(run, report);
    return report;
}

RunReport error_report(const Case& run, const std::string& text) {
    RunReport report{.verdict = engine::Verdict::error, .text = text};
    report.end.seed = run.scenario.seed;
    report.stop =
        engine::Stop{.verdict = engine::Verdict::error, .text = text, .place = report.end};
    report.fault_counts.resize(run.scenario.faults.size());
    return report;
}

std::string name_of(const Fault& fault) {
    std::string text(to_string(fault.kind));
    if (const auto* disk = std::get_if<DiskParams>(&fault.params))
        text += " " + std::string(to_string(disk->fault));
    if (fault.kind == FaultKind::split) {
        text += " " + list_of(fault.a) + "|" + list_of(fault.b);
    } else if (!fault.b.empty()) {
        text += " " + (fault.a.empty() ? "all" : list_of(fault.a)) + "->" + list_of(fault.b);
    } else if (!fault.a.empty()) {
        text += " " + list_of(fault.a);
    }
    if (fault.start == Step(0) && fault.end == end_of_run) return text;
    return text + " @[" + std::to_string(fault.start.value()) + "," +
           (fault.end == end_of_run ? "end" : std::to_string(fault.end.value())) + ")";
}

namespace {

/// While one lives the protocol runs: a process that ends meanwhile ended in the middle of a run,
/// and must not look as if that had passed.
class RunGuard {
  public:
    RunGuard() {
        static const bool registered = std::atexit(on_exit) == 0;
        PROMTACT_ASSERT(registered);
        ++running;
    }
    ~RunGuard() { --running; }
    RunGuard(const RunGuard&) = delete;
    RunGuard& operator=(const RunGuard&) = delete;

  private:
    static void on_exit() {
        if (running == 0) return;
        std::fputs("error: the protocol ended its process in the middle of a run\n", stderr);
        std::_Exit(EXIT_FAILURE);
    }
    static inline thread_local int running = 0;
};

} // namespace

RunReport run_case(const Protocol& protocol, const Case& run, const RunOptions& options) {
    const RunGuard guard;
    Editors editors(run, options.editor);
    try {
        const std::unique_ptr<Session> session = protocol.start(run);
        session->observe(options.sink);
        if (run.fates || options.editor != nullptr) session->edit_fates(&editors);
        for (std::uint64_t step = 0; step < run.scenario.steps; ++step) {
            const bool goes_on = session->step();
            if (options.after_step) options.after_step(*session);
            if (!goes_on) break;
        }
        session->finish();
        RunReport report = report_of(run, *session);
        report.fates_unmatched = editors.unmatched();
        return report;
    } catch (const std::exception& thrown) {
        return error_report(run, std::string("the protocol threw: ") + thrown.what());
    } catch (...) {
        return error_report(run, "the protocol threw something that is no std::exception");
    }
}

Case with_fates(const Protocol& protocol, const Case& run, engine::FateEditor* editor) {
    /// Lets the other edit, then keeps what came of it.
    class Both final : public engine::FateEditor {
      public:
        explicit Both(engine::FateEditor* first) : first_(first) {}
        void edit(const engine::FateKey& key, engine::Fate& fate) override {
            if (first_ != nullptr) first_->edit(key, fate);
            recorder.edit(key, fate);
        }
        engine::FateRecorder recorder{};

      private:
        engine::FateEditor* first_;
    };
    Both both(editor);
    static_cast<void>(run_case(protocol, run, {.editor = &both}));
    Case kept = run;
    kept.fates = both.recorder.book();
    return kept;
}

} // namespace promtact::sim
