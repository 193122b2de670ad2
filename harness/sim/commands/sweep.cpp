// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// sweep: many seeds of a scenario, the first failure made small and kept.
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/durations.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/base/progress.hpp>
#include <promtact/scenario/read_scenario.hpp>
#include <promtact/sim/sweep.hpp>

#include "command_common_internal.hpp"
#include "exhaustive_internal.hpp"
#include "smallest_failure_internal.hpp"
#include "sweep_text_internal.hpp"

namespace promtact::sim {
namespace {

struct Flags {
    std::string config{};
    std::string protocol{};
    std::string from = "1";
    std::uint64_t seeds = 1000;
    std::string time{};
    std::uint64_t jobs = std::max(1U, std::thread::hardware_concurrency());
    std::string shard = "0/1";
    std::string strategy = "random";
    std::uint64_t faults = 0;
    std::string weights{};
    std::string bounds{};
    std::uint64_t twin_every = 16;
    std::string out{};
    bool resume = false;
    std::string corpus{};
    std::uint64_t shrink_runs = 20'000;
    std::string shrink_time = "30s";
    std::uint64_t seed_seconds = 60;
    bool keep_going = false;
    bool json = false;
    std::vector<std::string> merged{};
};

void define(harness::FlagSet& set, const Tool& tool, Flags& flags) {
    set.text("c,config", flags.config, "the scenario file; see docs/SCENARIO.md");
    add_protocol_flag(set, tool, flags.protocol);
    set.text("from", flags.from, "first seed");
    set.number("seeds", flags.seeds, 1, std::uint64_t{1} << 60, "how many");
    set.text("time", flags.time, "instead of a number of seeds: for so long, like 60s");
    set.number("jobs", flags.jobs, 1, 1024, "processes; default: one for each core");
    set.text(
        "shard", flags.shard, "i/n: the i-th of n parts, counted from 0, for several machines");
    std::vector<std::string> names;
    names.reserve(all_strategies.size() + 1);
    for (const StrategyKind kind : all_strategies)
        names.emplace_back(to_string(kind));
    names.emplace_back(exhaustive_name);
    set.choice("strategy", flags.strategy, names, "how a seed becomes a run");
    set.number(
        "faults", flags.faults, 0, 1000, "faults drawn for each seed, besides the scenario's");
    set.text("weights", flags.weights, "of the kinds drawn, like crash=5,pause=1");
    set.text(
        "bounds", flags.bounds,
        "of the strategy exhaustive: a file, or key=value,... of " + bound_names());
    set.number(
        "twin-every", flags.twin_every, 0, std::uint64_t{1} << 60,
        "every so many seeds are run twice and compared; 0: none");
    set.text("out", flags.out, "write what was found to this file, now and then and at the end");
    set.flag("resume", flags.resume, "go on where --out ended");
    set.text("corpus", flags.corpus, "a directory for the first failure, made small");
    set.number("shrink-runs", flags.shrink_runs, 0, 10'000'000, "to make it small; 0: leave it");
    set.text("shrink-time", flags.shrink_time, "to make it small, at most");
    set.number(
        "seed-seconds", flags.seed_seconds, 0, 86'400,
        "a run that takes longer is stuck; 0: no limit");
    set.flag("keep-going", flags.keep_going, "do not end at the first failure");
    set.flag("json", flags.json, "print JSON");
    set.positionals("file", flags.merged, 0, 1024, "parts of a sweep, to be put together");
    set.footer(footer(
        tool,
        {"sweep -c scenario.json --seeds 100000 --corpus found",
         "sweep -c scenario.json --strategy swarm --faults 4 --time 60s",
         "sweep -c scenario.json --shard 3/8 --out part3.json", "sweep part*.json",
         "sweep -c scenario.json --strategy exhaustive --bounds nodes=3,crashes=1"},
        std::string(verdict_exits) + "  77  unsupported: the protocol cannot be searched\n"
                                     "  130  interrupted; what was found is printed and kept\n"));
}

Result<Shard> parse_shard(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto index = parse_u64(text.substr(0, slash));
    const auto of = parse_u64(slash == std::string::npos ? "" : text.substr(slash + 1));
    if (!index || !of || *of == 0 || *index >= *of) {
        return Error{
            Errc::invalid_argument, 0,
            "--shard \"" + text + "\" is not i/n with i from 0 to n - 1"};
    }
    return Shard{.index = *index, .of = *of};
}

Result<SweepOptions> options_of(const Flags& flags) {
    SweepOptions options{
        .seeds = flags.seeds,
        .jobs = static_cast<std::uint32_t>(flags.jobs),
        .twin_every = flags.twin_every,
        .seed_seconds = static_cast<std::uint32_t>(flags.seed_seconds),
        .keep_going = flags.keep_going};
    options.strategy.kind = *strategy_from(flags.strategy);
    options.strategy.faults = static_cast<std::uint32_t>(flags.faults);
    if (!flags.weights.empty()) {
        PROMTACT_TRY_ASSIGN(options.strategy.weights, FaultWeights::parse(flags.weights));
    }
    PROMTACT_TRY_ASSIGN(options.first, parse_seed(flags.from));
    PROMTACT_TRY_ASSIGN(options.shard, parse_shard(flags.shard));
    if (!flags.time.empty()) {
        PROMTACT_TRY_ASSIGN(options.time, parse_duration(flags.time));
        if (options.time.count() == 0)
            return Error{Errc::invalid_argument, 0, "--time 0: nothing would be run"};
        options.seeds = 0;
    }
    return options;
}

/// The search that takes the place of seeds. Flags of one have no meaning for the other.
int sweep_exhaustively(const Tool& tool, const harness::FlagSet& set, const Flags& flags) {
    for (const char* name :
         {"from", "seeds", "jobs", "shard", "faults", "weights", "twin-every", "resume",
          "shrink-runs", "shrink-time", "seed-seconds", "keep-going"}) {
        if (!set.given(name)) continue;
        return refuse(
            tool, fmt::format("--{} has no meaning with --strategy {}", name, exhaustive_name));
    }
    return run_exhaustive(
        tool, {.config = flags.config,
               .protocol = flags.protocol,
               .bounds = flags.bounds,
               .time = flags.time,
               .out = flags.out,
               .corpus = flags.corpus,
               .json = flags.json});
}

/// What was found so far, to go on from. Errors: of the file; invalid_argument when it is of
/// another sweep
Result<SweepReport>
resumed(const Flags& flags, const SweepOptions& options, const Scenario& scenario) {
    PROMTACT_TRY_ASSIGN(SweepReport kept, load_sweep(flags.out));
    const bool same =
        scenario::write_scenario(kept.scenario) == scenario::write_scenario(scenario) &&
        kept.protocol == flags.protocol && kept.first == options.first &&
        kept.shard == options.shard && kept.strategy == flags.strategy &&
        kept.strategy_faults == options.strategy.faults && kept.merged.empty();
    if (!same) return Error{Errc::invalid_argument, 0, flags.out + " is of another sweep"};
    return kept;
}

/// Makes the first failure small and keeps it; tells where.
Result<std::string> keep_failure(
    const Tool& tool, const Flags& flags, const SweepOptions& options, const Protocol& protocol,
    const SweepReport& report) {
    if (report.failures.front().ended_process)
        return std::string("\nit ends its process, so it is not made small\n");
    MonotonicClock clock;
    PROMTACT_TRY_ASSIGN(const std::chrono::nanoseconds time, parse_duration(flags.shrink_time));
    const auto small = smallest_failure(
        protocol, report.scenario, options.strategy, report.failures.front(),
        {.runs = flags.shrink_runs, .time = time, .interrupted = InterruptGuard::seen}, clock);
    if (!small) {
        return std::string(
            "\nit did not fail again: the protocol is not deterministic; try --twin-every 1\n");
    }
    std::string text;
    const std::string seed = format_seed(small->small.run.scenario.seed);
    if (flags.shrink_runs > 0) {
        text = fmt::format(
            "\nmade small: seed {}: {} in {} runs{}\n\n{}", seed,
            sizes_text(small->before, small->after), small->runs,
            small->finished ? "" : ", the limit: shrink would make it smaller",
            story_of(protocol, small->small));
    }
    if (flags.corpus.empty()) return text;
    std::error_code failed;
    std::filesystem::create_directories(flags.corpus, failed);
    const std::filesystem::path path =
        std::filesystem::path(flags.corpus) / fmt::format("{}-{}.json", protocol.name, seed);
    PROMTACT_TRY(save_recording(path, small->small));
    return text + fmt::format("\nagain:    {} replay {}\n", called(tool), for_shell(path.string()));
}

int put_together(const Tool& tool, const Flags& flags) {
    std::vector<SweepReport> parts;
    for (const std::string& path : flags.merged) {
        const Result<SweepReport> part = load_sweep(path);
        if (!part) return refuse(tool, part.error());
        parts.push_back(*part);
    }
    const Result<SweepReport> sum = merge(parts);
    if (!sum) return refuse(tool, sum.error());
    std::fputs((flags.json ? write_sweep(*sum) : text_of(*sum)).c_str(), stdout);
    if (!flags.out.empty()) {
        const auto saved = write_file_atomic(flags.out, write_sweep(*sum));
        if (!saved) return refuse(tool, saved.error());
    }
    return exit_of(sum->verdict());
}

/// The bar with its rate and when it will be over; both are renewed now and then only.
class SweepProgress {
  public:
    SweepProgress(const Clock& clock, const SweepOptions& options, std::uint64_t before)
        : clock_(clock), begin_(clock.now()), before_(before),
          renew_(
              Progress::for_stderr().redraw ? std::chrono::seconds(1) : std::chrono::seconds(30)),
          bar_("sweep", options.seeds, clock, Progress::for_stderr()) {}

    void update(std::uint64_t done, std::uint64_t total) {
        const std::chrono::nanoseconds ran = clock_.now() - begin_;
        if (ran >= next_) {
            next_ = ran + renew_;
            const double seconds = std::chrono::duration<double>(ran).count();
            const double rate = static_cast<double>(done - before_) / std::max(seconds, 0.001);
            words_ = fmt::format("{:.0f} seeds/s", rate);
            if (total > done && rate > 0)
                words_ += fmt::format(", {:.0f} s left", static_cast<double>(total - done) / rate);
        }
        if (!words_.empty()) bar_.update(done, words_);
    }

  private:
    const Clock& clock_;
    std::chrono::nanoseconds begin_;
    std::uint64_t before_;
    std::chrono::nanoseconds renew_;
    std::chrono::nanoseconds next_{std::chrono::seconds(1)};
    std::string words_{};
    Progress bar_;
};

/// The sweep itself, with its progress.
Result<SweepReport> carry_out(
    const Flags& flags, SweepOptions options, const Protocol& protocol, const Scenario& scenario) {
    SweepReport kept;
    const bool goes_on = flags.resume && std::filesystem::exists(flags.out);
    if (goes_on) {
        PROMTACT_TRY_ASSIGN(kept, resumed(flags, options, scenario));
    }
    MonotonicClock clock;
    SweepProgress progress(clock, options, kept.done);
    options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
        progress.update(done, total);
    };
    options.interrupted = InterruptGuard::seen;
    if (!flags.out.empty()) {
        options.checkpoint = [&flags](const SweepReport& report) {
            static_cast<void>(write_file_atomic(flags.out, write_sweep(report)));
        };
    }
    return sweep(protocol, scenario, options, goes_on ? &kept : nullptr);
}

} // namespace

int run_sweep(const Tool& tool, std::span<const std::string> arguments) {
    Flags flags;
    harness::FlagSet set(
        tool.program + " sweep",
        "Runs many seeds of a scenario, and makes the first failure small.");
    define(set, tool, flags);
    if (const auto exit = set.parse(arguments)) return *exit;
    if (!flags.merged.empty()) return put_together(tool, flags);
    if (flags.config.empty()) return refuse(tool, "which scenario? give -c FILE");
    if (flags.strategy == exhaustive_name) return sweep_exhaustively(tool, set, flags);
    if (!flags.bounds.empty())
        return refuse(tool, fmt::format("--bounds needs --strategy {}", exhaustive_name));
    if (flags.resume && flags.out.empty()) return refuse(tool, "--resume needs --out");
    if (!flags.time.empty() && set.given("seeds"))
        return refuse(tool, "--seeds and --time exclude each other");
    const Result<SweepOptions> options = options_of(flags);
    if (!options) return refuse(tool, options.error());
    if (const auto time = parse_duration(flags.shrink_time); !time)
        return refuse(tool, time.error());
    const Protocol& protocol = *find_protocol(tool, flags.protocol);
    const Result<Scenario> scenario = scenario_for(protocol, flags.config, "");
    if (!scenario) return refuse(tool, scenario.error());
    const InterruptGuard guard;
    const Result<SweepReport> report = carry_out(flags, *options, protocol, *scenario);
    if (!report) return refuse(tool, report.error());
    if (!flags.out.empty()) {
        const auto saved = write_file_atomic(flags.out, write_sweep(*report));
        if (!saved) return refuse(tool, saved.error());
    }
    std::fputs((flags.json ? write_sweep(*report) : text_of(*report)).c_str(), stdout);
    std::fflush(stdout);
    if (!report->failures.empty()) {
        const auto kept = keep_failure(tool, flags, *options, protocol, *report);
        if (!kept) return refuse(tool, kept.error());
        std::fputs(kept->c_str(), flags.json ? stderr : stdout);
    }
    return InterruptGuard::seen() ? exit_interrupted : exit_of(report->verdict());
}

} // namespace promtact::sim
