// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact gates: parse, hand to the framework, print.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <promtact/base/build_info.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/destroy_guard.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/base/progress.hpp>
#include <promtact/base/terminal.hpp>
#include <promtact/gates/campaign.hpp>
#include <promtact/gates/compare.hpp>
#include <promtact/gates/qualification.hpp>
#include <promtact/gates/runner.hpp>
#include <promtact/harness/command.hpp>
#include <promtact/harness/flags.hpp>
#include <promtact/netns/named_namespace.hpp>

#include "commands/gates_text.hpp"

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view default_hosts = "results/hosts";

constexpr std::string_view usage =
    R"(Asks this host what it can be trusted with, and writes the answers down.

usage:
  promtact gates [run] [GATE…] [flags]   run a campaign, or the named gates and what they require
  promtact gates list [--json]           the gates in run order
  promtact gates explain GATE            what a gate asks, proves, breaks in its control, and needs
  promtact gates compare A B [--json]    two campaign directories side by side
  promtact gates reap                    remove what killed runs left behind

`promtact gates run -h` lists the flags of a run; each other verb has its own -h.

examples:
  promtact gates
  promtact gates run uring_probe
  promtact gates explain direct_wal

exit codes:
  0    done; of a run: nothing failed
  1    a gate failed or broke, or the results could not be written
  2    bad flag, unknown verb or gate, or a directory that is not there
  77   of a run: grey with --strict, or a named gate is grey
)";

constexpr std::string_view run_footer =
    R"(A whole campaign exits 0 when nothing failed, greys or not; with --strict greys exit 77.
Named gates exit 77 when one of them is grey. What a named gate requires runs first.

examples:
  promtact gates
  promtact gates run direct_wal
  promtact gates run --host my-server --class full --directory /var/lib/data

exit codes:
  0    all passed, or grey in a whole campaign without --strict
  1    a gate failed or broke, or the results could not be written
  2    bad flag, unknown gate, or a directory that is not there
  77   grey: unsupported, denied or blocked
  128+n  ended by signal n; nothing was written
)";

constexpr std::string_view look_exits =
    R"(exit codes:
  0   done
  1   something could not be removed or printed
  2   bad flag, unknown gate, or what was named cannot be read
)";

constexpr std::chrono::hours full_campaign_max{24};

struct RunOptions {
    std::string host{};
    std::string out{default_hosts};
    std::string gate_class = "quick";
    std::string directory{};
    std::string device{};
    std::string confirm_destroy{};
    std::string seed = "0x4A2C";
    std::uint64_t expected_size = 0;
    bool strict = false;
    bool json = false;
    std::vector<std::string> gates{};
};

int fail(std::string_view command, std::string_view message, int code) {
    std::fprintf(
        stderr, "promtact gates %.*s: %.*s\n", static_cast<int>(command.size()), command.data(),
        static_cast<int>(message.size()), message.data());
    return code;
}

int print(const std::string& text) {
    const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    return written ? 0 : fail("output", "cannot write to stdout", 1);
}

void add_run_flags(FlagSet& flags, RunOptions& options) {
    flags.text("host", options.host, "slug that names this host in results; default: derived");
    flags.text("out", options.out, "folder that holds one folder of campaigns per host");
    flags.choice("class", options.gate_class, {"quick", "full"}, "how much to run and to sample");
    flags.flag("strict", options.strict, "exit 77 when a gate of a whole campaign is grey");
    flags.flag("json", options.json, "print one JSON object instead of lines");
    flags.text(
        "directory", options.directory, "where storage gates put their files; default: below -out");
    flags.text("device", options.device, "block device for durable_write_block; ERASES IT");
    flags.text("confirm-destroy", options.confirm_destroy, "\"ERASE:<canonical path of -device>\"");
    flags.number("expected-size", options.expected_size, 0, UINT64_MAX, "size of -device in bytes");
    flags.text("seed", options.seed, "seed of every random choice");
    flags.positionals("GATE", options.gates, 0, 64, "gates to run; default: all of the class");
    flags.footer(run_footer);
}

// What is wrong with the flags taken together, or nothing.
std::optional<std::string> contradiction(const RunOptions& options) {
    if (!options.host.empty()) {
        if (const Result<void> named = gates::check_host_name(options.host); !named)
            return "-host: " + named.error().context;
    }
    const bool guarded = !options.confirm_destroy.empty() || options.expected_size != 0;
    if (options.device.empty() && guarded)
        return "-confirm-destroy and -expected-size are for -device, which is not given";
    if (!options.device.empty() &&
        (options.confirm_destroy.empty() || options.expected_size == 0)) {
        return "-device erases " + options.device +
               ": it needs -confirm-destroy ERASE:<its canonical path> and -expected-size <bytes>";
    }
    if (!options.directory.empty() && file_kind(options.directory) != FileKind::directory)
        return "-directory: " + options.directory + " is not a directory";
    if (options.out.empty()) return "-out is empty";
    const FileKind out = file_kind(options.out);
    if (out != FileKind::directory && out != FileKind::absent)
        return "-out: " + options.out + " is not a directory";
    if (options.device.empty()) return std::nullopt;
    // Refused before anything runs; the gate asks again.
    const auto checked = check_destruction(
        {.device = options.device,
         .confirmation = options.confirm_destroy,
         .expected_size = options.expected_size,
         .blocks = 1});
    if (!checked) return "-device: " + describe(checked.error());
    return std::nullopt;
}

gates::RunRecord run_record(std::span<const std::string> arguments) {
    const BuildInfo& build = build_info();
    gates::RunRecord run;
    run.commit = build.commit;
    run.dirty = build.dirty;
    run.command = {"promtact", "gates"};
    run.command.insert(run.command.end(), arguments.begin(), arguments.end());
    run.build.preset = build.preset.empty() ? build.build_type : build.preset;
    run.build.compiler = build.compiler;
    run.build.flags = build.flags;
    run.build.assertions = build.assertions;
    return run;
}

// Lines on stdout as gates finish, progress on stderr meanwhile.
class Printer final : public gates::RunnerObserver {
  public:
    Printer(std::size_t total, std::size_t id_width, bool lines)
        : progress_("gates", total, clock_, Progress::for_stderr()), id_width_(id_width),
          lines_(lines), coloured_(wants_colour(stdout)), steps_(is_terminal(stderr)) {}

    void step(
        const gates::GateInfo& gate, std::string_view phase, std::string_view what,
        std::size_t done, std::size_t) override {
        std::string activity = std::string(gate.id) + " " + std::string(phase);
        // A log wants one line per phase, a terminal shows each step in place.
        if (!what.empty() && !steps_) return;
        if (!what.empty()) activity += ": " + std::string(what);
        progress_.update(done, activity);
    }
    void finished(const gates::GateRecord& record) override {
        progress_.clear();
        if (lines_) static_cast<void>(print(gate_line(record, id_width_, coloured_)));
    }
    void clear() { progress_.clear(); }

  private:
    MonotonicClock clock_{};
    Progress progress_;
    std::size_t id_width_;
    bool lines_;
    bool coloured_;
    bool steps_;
};

int exit_code_of(const RunOptions& options, const std::vector<gates::GateRecord>& records) {
    bool grey = false;
    for (const gates::GateRecord& record : records) {
        const bool named =
            std::find(options.gates.begin(), options.gates.end(), record.id) != options.gates.end();
        if (gates::exit_code(record.verdict) == 1) return 1;
        grey = grey || (gates::is_grey(record.verdict) && (named || options.strict));
    }
    return grey ? 77 : 0;
}

Result<gates::RunnerConfig>
config_of(const RunOptions& options, std::span<const std::string> arguments) {
    gates::RunnerConfig config;
    config.catalog = gates::catalog();
    config.selected = options.gates;
    config.gate_class =
        options.gate_class == "full" ? gates::GateClass::full : gates::GateClass::quick;
    config.options.directory = options.directory;
    config.options.device = options.device;
    config.options.confirm_destroy = options.confirm_destroy;
    config.options.expected_size = options.expected_size;
    config.options.sample = config.gate_class;
    if (config.gate_class == gates::GateClass::full) config.limit = full_campaign_max;
    PROMTACT_TRY_ASSIGN(config.options.seed, parse_seed(options.seed));
    config.hosts = options.out;
    config.host = options.host;
    config.run = run_record(arguments);
    return config;
}

int run_command(std::span<const std::string> arguments) {
    RunOptions options;
    FlagSet flags("promtact gates run", "Runs gates and writes a campaign of results.");
    add_run_flags(flags, options);
    std::span<const std::string> words = arguments;
    if (!words.empty() && words.front() == "run") words = words.subspan(1);
    if (const std::optional<int> code = flags.parse(words); code.has_value()) return *code;
    if (const auto wrong = contradiction(options); wrong.has_value()) return fail("run", *wrong, 2);
    const Result<gates::RunnerConfig> config = config_of(options, arguments);
    if (!config) return fail("run", "-seed: " + describe(config.error()), 2);
    const auto plan = gates::plan_gates(config->catalog, config->selected, config->gate_class);
    if (!plan) return fail("run", plan.error().context, 2);

    Printer printer(plan->size(), longest_id(*plan), !options.json);
    const Result<gates::RunOutcome> outcome = gates::run_gates(*config, printer);
    printer.clear();
    if (!outcome) return fail("run", describe(outcome.error()), 1);
    if (outcome->stopped_by != 0) {
        static_cast<void>(fail("run", "stopped by a signal; nothing was written", 0));
        return 128 + outcome->stopped_by;
    }
    const bool dirty = config->run.dirty || config->run.commit == "unknown";
    const int code = exit_code_of(options, outcome->records);
    const std::string text =
        options.json ? outcome_json(*outcome, dirty, code) : outcome_summary(*outcome, dirty);
    return print(text) != 0 ? 1 : code;
}

int list_command(std::span<const std::string> arguments) {
    bool json = false;
    FlagSet flags("promtact gates list", "Lists the gates in run order.");
    flags.flag("json", json, "print one JSON object");
    flags.footer("examples:\n  promtact gates list --json\n\n" + std::string(look_exits));
    if (const std::optional<int> code = flags.parse(arguments); code.has_value()) return *code;
    return print(json ? catalog_json(gates::catalog()) : catalog_table(gates::catalog()));
}

// The newest result of a gate whose control was observed.
std::optional<SeenControl> last_control(const std::vector<fs::path>& folders, std::string_view id) {
    std::optional<SeenControl> newest;
    for (const fs::path& folder : folders) {
        for (const gates::CampaignName& name : gates::list_campaigns(folder)) {
            const auto campaign = gates::load_campaign(folder / name.host / name.campaign);
            if (!campaign) continue;
            for (const gates::GateRecord& record : campaign->records) {
                if (record.id != id || !record.control.has_value()) continue;
                if (!newest.has_value() || newest->campaign < name.campaign)
                    newest = SeenControl{name.host, name.campaign, record};
            }
        }
    }
    return newest;
}

int explain_command(std::span<const std::string> arguments) {
    std::string results;
    std::vector<std::string> names;
    FlagSet flags("promtact gates explain", "Explains one gate.");
    flags.text(
        "results", results,
        "folders of results, colons between; default: PROMTACT_RESULTS or "
        "results/hosts");
    flags.positionals("GATE", names, 1, 1, "the gate");
    flags.footer("examples:\n  promtact gates explain direct_wal\n\n" + std::string(look_exits));
    if (const std::optional<int> code = flags.parse(arguments); code.has_value()) return *code;
    const auto plan = gates::plan_gates(gates::catalog(), names, gates::GateClass::full);
    if (!plan) return fail("explain", plan.error().context, 2);
    const gates::GateInfo& info = *plan->back()->info;
    return print(explanation(info, last_control(gates::result_folders(results), info.id)));
}

int compare_command(std::span<const std::string> arguments) {
    bool json = false;
    std::vector<std::string> directories;
    FlagSet flags("promtact gates compare", "Shows two campaigns side by side; ratios are B/A.");
    flags.flag("json", json, "print one JSON object");
    flags.positionals("CAMPAIGN", directories, 2, 2, "campaign directories A and B");
    flags.footer(
        "examples:\n  promtact gates compare results/hosts/h/A results/hosts/h/B\n\n" +
        std::string(look_exits));
    if (const std::optional<int> code = flags.parse(arguments); code.has_value()) return *code;
    const auto a = gates::load_campaign(directories[0]);
    if (!a) return fail("compare", describe(a.error()), 2);
    const auto b = gates::load_campaign(directories[1]);
    if (!b) return fail("compare", describe(b.error()), 2);
    const gates::Comparison comparison = gates::compare_campaigns(*a, *b);
    return print(
        json ? gates::comparison_json(*a, *b, comparison)
             : gates::comparison_text(*a, *b, comparison));
}

int reap_namespaces() {
    const auto report = netns::reap_dead_owners();
    if (!report) return fail("reap", describe(report.error()), 1);
    for (const std::string& name : report->removed)
        static_cast<void>(print("removed namespace " + name + "\n"));
    for (const std::string& name : report->left)
        static_cast<void>(print("left " + name + "\n"));
    return 0;
}

int reap_command(std::span<const std::string> arguments) {
    std::string out{default_hosts};
    std::string directory;
    FlagSet flags("promtact gates reap", "Removes what killed runs left behind, and only that.");
    flags.text("out", out, "folder that holds one folder of campaigns per host");
    flags.text("directory", directory, "the -directory of the killed run, when it had one");
    flags.footer(
        "examples:\n  promtact gates reap --directory /var/lib/data\n\n" + std::string(look_exits));
    if (const std::optional<int> code = flags.parse(arguments); code.has_value()) return *code;
    for (const std::string& folder : {out, directory}) {
        const FileKind kind = file_kind(folder);
        const bool fine = folder.empty() || kind == FileKind::directory ||
                          (folder == default_hosts && kind == FileKind::absent);
        if (!fine) return fail("reap", folder + " is not a directory", 2);
    }
    auto removed = gates::reap_campaigns(out);
    if (!removed) return fail("reap", describe(removed.error()), 1);
    if (!directory.empty()) {
        const auto more = gates::reap_stale(directory);
        if (!more) return fail("reap", describe(more.error()), 1);
        removed->insert(removed->end(), more->begin(), more->end());
    }
    for (const fs::path& path : *removed)
        static_cast<void>(print("removed " + path.string() + "\n"));
    if (removed->empty()) static_cast<void>(print("nothing to remove in " + out + "\n"));
    return reap_namespaces();
}

struct Verb {
    std::string_view name{};
    int (*run)(std::span<const std::string>) = nullptr;
};
constexpr std::array<Verb, 4> verbs{{
    {"list", list_command},
    {"explain", explain_command},
    {"compare", compare_command},
    {"reap", reap_command},
}};

} // namespace

int run_gates(std::span<const std::string> arguments) {
    if (arguments.empty()) return run_command(arguments);
    const std::string& first = arguments.front();
    if (first == "help" || first == "-h" || first == "-help" || first == "--help")
        return print(std::string(usage));
    for (const Verb& verb : verbs)
        if (first == verb.name) return verb.run(arguments.subspan(1));
    if (first == "run" || first.starts_with("-")) return run_command(arguments);
    return fail(
        first,
        "is not list, run, explain, compare or reap; to run a gate: "
        "promtact gates run GATE",
        2);
}

} // namespace promtact::harness
