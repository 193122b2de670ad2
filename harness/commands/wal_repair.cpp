// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact wal repair: says what would mend a log, and does it with the flag of its case.
#include <promtact/base/json_writer.hpp>
#include <promtact/harness/flags.hpp>
#include <promtact/wal/repair.hpp>

#include "commands/wal_directory.hpp"
#include "commands/wal_verbs.hpp"

namespace promtact::harness {
namespace {

constexpr std::string_view footer =
    R"(Without a flag nothing is changed. What a repair takes away is first copied or renamed to a
name that ends in .quarantine; remove that by hand when it is not needed any more. A repair that was
killed is begun again with the same flag.
)";

/// What is shown of a plan: where it was made, and how far it was carried out.
struct Shown {
    const std::string& directory;
    bool json = false;
    bool done = false;
};

wal::Explanation explain_at(const wal::RepairPlan& plan, const std::string& directory) {
    wal::Explanation words = wal::explain(plan.report);
    const std::string place = wal::place_of(plan.report);
    if (plan.report.refusal == wal::Refusal::denied)
        words.helps = wal_denied_words({.directory = directory, .file = place});
    return words;
}

std::string as_json(const wal::RepairPlan& plan, const wal::Explanation& words, bool done) {
    JsonWriter out;
    out.field("schema", "promtact.wal-repair/1");
    out.field("verdict", to_string(plan.report.verdict));
    out.field("refusal", to_string(plan.report.refusal));
    out.field("where", words.where);
    out.field("found", words.why);
    out.field("case", to_string(plan.which));
    out.field("impossible", plan.refusal);
    out.field("lost_first", plan.lost_first);
    out.field("lost_last", plan.lost_last);
    out.strings("steps", plan.steps());
    out.field_bool("done", done);
    return out.finish();
}

std::string as_text(const wal::RepairPlan& plan, const wal::Explanation& words, bool done) {
    const bool refused = plan.report.verdict == wal::Verdict::refuse;
    const std::vector<std::string> steps = plan.steps();
    std::string text = "verdict   " + words.verdict + "\n";
    if (refused) text += "where     " + words.where + "\nfound     " + words.why + "\n";
    if (refused && plan.report.refusal == wal::Refusal::denied) {
        text += "helps     " + words.helps + "\n";
    } else if (!plan.refusal.empty()) {
        text += "helps     " + plan.refusal + "\n";
    }
    for (const std::string& step : steps)
        text += (done ? "done      " : "would     ") + step + "\n";
    if (!refused && steps.empty()) text += "nothing to do\n";
    if (done || !refused || !plan.refusal.empty()) return text;
    text += "flag      -" + std::string(to_string(plan.which));
    if (plan.which == wal::RepairCase::truncate_at) text += " " + std::to_string(plan.lost_first);
    return text + "\n";
}

int show(const wal::RepairPlan& plan, const Shown& shown) {
    const wal::Explanation words = explain_at(plan, shown.directory);
    const std::string text =
        shown.json ? as_json(plan, words, shown.done) : as_text(plan, words, shown.done);
    std::fputs(text.c_str(), stdout);
    const bool refused = plan.report.verdict == wal::Verdict::refuse;
    if (!shown.done && refused) return wal_exit(words.code);
    return plan.report.verdict == wal::Verdict::fresh ? 1 : 0;
}

Result<int> run(const std::string& path, const wal::RepairConsent& consent, bool json) {
    // Looked at first: where there is no log not even LOCK is made.
    PROMTACT_TRY_ASSIGN(const WalContent content, wal_content(path));
    if (content == WalContent::other) return no_wal(path, content);
    if (!consent.any() || content == WalContent::nothing) {
        PROMTACT_TRY_ASSIGN(const WalDirectory log, open_wal_to_look(path));
        PROMTACT_TRY_ASSIGN(
            const wal::RepairPlan plan, wal::plan_repair(*log.storage, consent.strict));
        return show(plan, {.directory = path, .json = json});
    }
    PROMTACT_TRY_ASSIGN(const WalDirectory log, open_wal_to_change(path));
    PROMTACT_TRY_ASSIGN(const wal::RepairPlan plan, wal::plan_repair(*log.storage, consent.strict));
    PROMTACT_TRY(wal::repair(*log.storage, plan, consent));
    return show(plan, {.directory = path, .json = json, .done = true});
}

} // namespace

int wal_repair(std::span<const std::string> words) {
    std::vector<std::string> paths;
    wal::RepairConsent consent;
    std::uint64_t lsn = 0;
    bool json = false;
    FlagSet flags("promtact wal repair", "Says what would mend a log, and mends it if told to.");
    flags.positionals("directory", paths, 1, 1, "of the log");
    flags.flag("drop-tail", consent.drop_tail, "cut the newest segment where its tail is damaged");
    flags.number(
        "truncate-at", lsn, 1, wal::lsn_last,
        "give up every record from this LSN on; exactly the one that verify names");
    flags.flag("rebuild-super", consent.rebuild_super, "write SUPER anew from the segments");
    flags.flag("strict", consent.strict, "judge as verify -strict");
    flags.flag("json", json, "print JSON");
    flags.footer(std::string(footer) + "\n" + wal_footer("repair /data/log --drop-tail"));
    if (const auto exit = flags.parse(words)) return *exit;
    if (lsn != 0) consent.truncate_at = lsn;
    const Result<int> done = run(paths.front(), consent, json);
    if (done) return *done;
    return wal_fail("repair", done.error(), {.directory = paths.front(), .changes = consent.any()});
}

} // namespace promtact::harness
