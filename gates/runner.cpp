// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <csignal>
#include <optional>
#include <set>

#include <promtact/base/clock.hpp>
#include <promtact/base/durations.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/gates/campaign.hpp>
#include <promtact/gates/isolated.hpp>
#include <promtact/gates/runner.hpp>

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

// Written by the handler, read by the one thread that runs gates.
volatile std::sig_atomic_t caught_signal = 0;

// Catches the signals of an operator who wants to stop, for the time of a run.
class ScopedSignals {
  public:
    ScopedSignals() {
        caught_signal = 0;
        struct sigaction action {};
        action.sa_handler = [](int signal) { caught_signal = signal; };
        for (std::size_t i = 0; i < signals.size(); ++i) {
            static_cast<void>(::sigaction(signals[i], &action, &before_[i]));
            // What nohup(1) and background jobs ignore stays ignored.
            if (before_[i].sa_handler == SIG_IGN)
                static_cast<void>(::sigaction(signals[i], &before_[i], nullptr));
        }
    }
    ScopedSignals(const ScopedSignals&) = delete;
    ScopedSignals& operator=(const ScopedSignals&) = delete;
    ~ScopedSignals() {
        for (std::size_t i = 0; i < signals.size(); ++i)
            static_cast<void>(::sigaction(signals[i], &before_[i], nullptr));
    }

  private:
    static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, 3> before_{};
};

// A directory of our own inside the one the operator named, or one inside the campaign.
struct WorkPlace {
    std::optional<TempDirectory> temporary{};
    fs::path path{};
};

Result<WorkPlace> open_work_place(const fs::path& named, CampaignWriter& writer) {
    WorkPlace place;
    if (named.empty()) {
        PROMTACT_TRY_ASSIGN(place.path, writer.work_directory());
        return place;
    }
    PROMTACT_TRY_ASSIGN(const std::vector<fs::path> reaped, reap_stale(named));
    static_cast<void>(reaped);
    PROMTACT_TRY_ASSIGN(TempDirectory temporary, TempDirectory::create(named));
    place.path = temporary.path();
    place.temporary.emplace(std::move(temporary));
    return place;
}

// One campaign under way.
class Run {
  public:
    Run(const RunnerConfig& config, RunnerObserver& observer, CampaignWriter& writer,
        WorkPlace& place, std::size_t total)
        : config_(config), observer_(observer), writer_(writer), place_(place),
          options_(config.options), total_(total) {
        options_.directory = place.path;
    }

    Result<GateRecord> gate(const GateEntry& entry) {
        GateRecord record = record_of(*entry.info, options_.sample);
        record.run = config_.run;
        record.run.seed = options_.seed;
        record.run.started_at = format_utc(unix_seconds_now());
        const std::uint64_t begin = clock_.now_ns();
        PROMTACT_TRY(answer(entry, record));
        record.run.duration_ns = clock_.now_ns() - begin;
        // The gate's own remedy is for a gate that failed; what is missing has another, and an
        // error says nothing about what the gate asks.
        if (record.remedy.empty() && record.verdict == Verdict::fail)
            record.remedy = entry.info->remedy;
        if (record.remedy.empty() && record.verdict == Verdict::error)
            record.remedy = "remove what the reason names, quieten the machine, and run " +
                            record.id + " again";
        PROMTACT_TRY(writer_.add(record));
        verdicts_.push_back({record.id, record.verdict});
        ++done_;
        return record;
    }

  private:
    struct Past {
        std::string id{};
        Verdict verdict = Verdict::error;
    };

    // Of the campaign's time.
    [[nodiscard]] std::chrono::nanoseconds left() const {
        return config_.limit - (clock_.now() - begun_);
    }

    static void end(GateRecord& record, Verdict verdict, std::string reason) {
        record.verdict = verdict;
        record.reason = std::move(reason);
    }

    // The reason why a gate may not run because of an earlier one, if there is any.
    std::optional<std::string> blocker(const GateInfo& info) const {
        for (const std::string_view needed : info.requires_gates) {
            const auto past = std::find_if(
                verdicts_.begin(), verdicts_.end(), [&](const Past& p) { return p.id == needed; });
            PROMTACT_ASSERT(past != verdicts_.end());
            if (past->verdict != Verdict::pass) {
                return "requires " + past->id + ", which ended in " +
                       std::string(to_string(past->verdict));
            }
        }
        return std::nullopt;
    }

    Result<GateOutcome> isolated(const GateEntry& entry, bool sabotaged) {
        const std::string_view phase = sabotaged ? "control" : "body";
        observer_.step(*entry.info, phase, "", done_, total_);
        IsolatedRun run;
        run.entry = &entry;
        run.options = &options_;
        run.sabotaged = sabotaged;
        // At least a moment, so that a campaign that ran out says so through its body.
        run.budget = std::clamp<std::chrono::nanoseconds>(
            left(), std::chrono::milliseconds{1}, budget_of(*entry.info, options_.sample));
        run.on_step = [&](std::string_view what) {
            observer_.step(*entry.info, phase, what, done_, total_);
        };
        run.in_child = [&] {
            writer_.disown();
            if (place_.temporary.has_value()) place_.temporary->disown();
        };
        run.stop = [] { return caught_signal != 0; };
        Result<GateOutcome> outcome = run_isolated(run);
        if (outcome && caught_signal != 0) return Error{Errc::cancelled, 0, "stopped by a signal"};
        if (!outcome) return outcome;
        settle(*outcome);
        forget_place(outcome->report);
        return outcome;
    }

    // The gates' folder is gone when a result is read, and its name differs every time: what lay in
    // it is called by its own name.
    void forget_place(GateReport& report) const {
        const std::string folder = (place_.path / "").string();
        const auto forget = [&](std::string& text) {
            for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
                text.erase(at, folder.size());
            // Whatever a device or program called itself must not act on a terminal.
            std::ranges::replace_if(
                text,
                [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; },
                '?');
        };
        forget(report.reason);
        forget(report.summary);
        forget(report.remedy);
        std::for_each(report.notes.begin(), report.notes.end(), forget);
    }

    // An error a body returned becomes a verdict; a report that breaks the rules becomes an error.
    static void settle(GateOutcome& outcome) {
        GateReport& report = outcome.report;
        if (outcome.error.has_value()) {
            const Errc code = outcome.error->code;
            report.verdict = code == Errc::unsupported ? Verdict::unsupported
                             : code == Errc::denied    ? Verdict::denied
                                                       : Verdict::error;
            report.reason = describe(*outcome.error);
        } else if (report.verdict == Verdict::blocked) {
            report.verdict = Verdict::error;
            report.reason = "the body answered blocked, which only the runner may";
        } else if (report.verdict != Verdict::pass && report.reason.empty()) {
            report.verdict = Verdict::error;
            report.reason = "the body did not pass and gave no reason";
        }
        if (report.verdict == Verdict::pass) report.reason.clear();
    }

    static void take(GateRecord& record, GateReport& report) {
        record.verdict = report.verdict;
        record.reason = std::move(report.reason);
        record.remedy = std::move(report.remedy);
        record.summary = std::move(report.summary);
        record.parameters = std::move(report.parameters);
        record.measurements = std::move(report.measurements);
        record.notes = std::move(report.notes);
    }

    // True when the control failed as it must; otherwise the record says why the gate has no
    // answer.
    static bool control_failed(const GateInfo& info, GateRecord& record, GateReport& report) {
        record.control = ControlRecord{
            std::string(info.control), "fail", std::string(to_string(report.verdict)),
            report.reason.empty() ? report.summary : report.reason};
        if (report.verdict == Verdict::fail) return true;
        const std::string name(info.control);
        if (report.verdict == Verdict::pass) {
            end(record, Verdict::error,
                "its control did not fail: with " + name + " the body still passed" +
                    (report.summary.empty() ? "" : " (" + report.summary + ")"));
        } else if (report.verdict == Verdict::error) {
            end(record, Verdict::error, "its control " + name + " broke: " + report.reason);
        } else {
            end(record, report.verdict, report.reason);
        }
        if (!report.remedy.empty()) record.remedy = report.remedy;
        return false;
    }

    Result<void> answer(const GateEntry& entry, GateRecord& record) {
        const GateInfo& info = *entry.info;
        // What the gate itself lacks says more than that another did not pass.
        if (const std::vector<MissingNeed> missing = missing_needs(info); !missing.empty()) {
            const bool denied = missing.front().error.code == Errc::denied;
            std::string reason;
            for (const MissingNeed& one : missing) {
                reason += (reason.empty() ? "" : "; ") + one.error.context;
                if (record.remedy.find(one.remedy) == std::string::npos)
                    record.remedy += (record.remedy.empty() ? "" : "; ") + one.remedy;
            }
            end(record, denied ? Verdict::denied : Verdict::unsupported, std::move(reason));
            return {};
        }
        if (std::optional<std::string> reason = blocker(info); reason.has_value()) {
            end(record, Verdict::blocked, std::move(*reason));
            record.remedy = "make the required gate pass first";
            return {};
        }
        if (left().count() <= 0) {
            end(record, Verdict::error,
                "the campaign's " + format_duration(config_.limit) + " ended before it began");
            return {};
        }
        PROMTACT_TRY_ASSIGN(GateOutcome control, isolated(entry, true));
        if (!control_failed(info, record, control.report)) return {};
        PROMTACT_TRY_ASSIGN(GateOutcome body, isolated(entry, false));
        take(record, body.report);
        return {};
    }

    const RunnerConfig& config_;
    RunnerObserver& observer_;
    CampaignWriter& writer_;
    WorkPlace& place_;
    GateOptions options_{};
    std::vector<Past> verdicts_{};
    std::size_t done_ = 0;
    std::size_t total_ = 0;
    MonotonicClock clock_{};
    std::chrono::nanoseconds begun_ = clock_.now();
};

// What is needed for one gate, depth first is not needed: the catalog lists requirements earlier.
void select_with_requirements(
    std::span<const GateEntry> catalog, std::set<std::string_view>& wanted) {
    for (auto entry = catalog.rbegin(); entry != catalog.rend(); ++entry) {
        if (wanted.contains(entry->info->id))
            wanted.insert(entry->info->requires_gates.begin(), entry->info->requires_gates.end());
    }
}

Error unknown_gate(std::span<const GateEntry> catalog, const std::string& name) {
    std::string known;
    for (const GateEntry& entry : catalog)
        known += (known.empty() ? "" : ", ") + std::string(entry.info->id);
    return Error{
        Errc::invalid_argument, 0, "there is no gate \"" + name + "\"; there are " + known};
}

} // namespace

Result<std::vector<const GateEntry*>> plan_gates(
    std::span<const GateEntry> catalog, const std::vector<std::string>& selected,
    GateClass gate_class) {
    std::set<std::string_view> wanted;
    for (const std::string& name : selected) {
        const bool known = std::any_of(catalog.begin(), catalog.end(), [&](const GateEntry& entry) {
            return entry.info->id == name;
        });
        if (!known) return unknown_gate(catalog, name);
        wanted.insert(name);
    }
    if (selected.empty()) {
        for (const GateEntry& entry : catalog) {
            if (entry.info->gate_class == GateClass::quick || gate_class == GateClass::full)
                wanted.insert(entry.info->id);
        }
    }
    select_with_requirements(catalog, wanted);
    std::vector<const GateEntry*> plan;
    for (const GateEntry& entry : catalog) {
        if (!wanted.contains(entry.info->id)) continue;
        for (const std::string_view needed : entry.info->requires_gates) {
            PROMTACT_ASSERT(std::any_of(plan.begin(), plan.end(), [&](const GateEntry* earlier) {
                return earlier->info->id == needed;
            }));
        }
        plan.push_back(&entry);
    }
    return plan;
}

Result<RunOutcome> run_gates(const RunnerConfig& config, RunnerObserver& observer) {
    PROMTACT_TRY_ASSIGN(
        const std::vector<const GateEntry*> plan,
        plan_gates(config.catalog, config.selected, config.gate_class));
    const ScopedSignals signals;
    const std::int64_t started = unix_seconds_now();
    const fs::path& target = config.options.directory;
    const HostFacts facts = collect_host_facts(config.host, target.empty() ? config.hosts : target);
    RunOutcome outcome;
    outcome.host = facts.name;
    PROMTACT_TRY_ASSIGN(CampaignWriter writer, CampaignWriter::open(config.hosts, facts.name));
    PROMTACT_TRY(writer.write_host(facts));
    PROMTACT_TRY_ASSIGN(WorkPlace place, open_work_place(target, writer));
    Run run(config, observer, writer, place, plan.size());
    for (const GateEntry* entry : plan) {
        Result<GateRecord> record = run.gate(*entry);
        if (!record && caught_signal != 0) {
            outcome.stopped_by = caught_signal;
            return outcome;
        }
        if (!record) return std::move(record).error();
        observer.finished(*record);
        outcome.records.push_back(std::move(*record));
    }
    PROMTACT_TRY_ASSIGN(outcome.campaign, writer.finish(started, config.run.commit));
    return outcome;
}

} // namespace promtact::gates
