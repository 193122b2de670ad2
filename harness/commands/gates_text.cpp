// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "commands/gates_text.hpp"

#include <algorithm>

#include <promtact/base/durations.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/base/terminal.hpp>
#include <promtact/gates/format.hpp>
#include <promtact/gates/text_table.hpp>

namespace promtact::harness {
namespace {

using gates::GateInfo;
using gates::GateRecord;
using gates::Verdict;

constexpr std::size_t verdict_width = 11; // "UNSUPPORTED"
constexpr std::string_view indent = "             ";

std::string upper(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return out;
}

std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}

Colour colour_of(Verdict verdict) {
    if (verdict == Verdict::pass) return Colour::green;
    return gates::is_grey(verdict) ? Colour::grey : Colour::red;
}

// A text of several lines, each under the first.
std::string indented(std::string_view label, std::string_view text) {
    std::string out = std::string(indent) + std::string(label);
    for (const char c : text) {
        out += c;
        if (c == '\n') out += indent;
    }
    return out + "\n";
}

struct Counts {
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t errors = 0;
    std::size_t grey = 0;
    std::string grey_names{};
};

Counts count(const std::vector<GateRecord>& records) {
    Counts counts;
    for (const GateRecord& record : records) {
        if (record.verdict == Verdict::pass) {
            ++counts.passed;
        } else if (gates::is_grey(record.verdict)) {
            ++counts.grey;
            counts.grey_names += (counts.grey_names.empty() ? ": " : ", ") + record.id + " " +
                                 std::string(to_string(record.verdict));
        } else if (record.verdict == Verdict::error) {
            ++counts.errors;
        } else {
            ++counts.failed;
        }
    }
    return counts;
}

template <class Range>
std::string joined(const Range& texts) {
    std::string out;
    for (const std::string_view text : texts)
        out += (out.empty() ? "" : ", ") + std::string(text);
    return out.empty() ? "-" : out;
}

std::string needs_text(const GateInfo& info) {
    std::string out;
    for (const gates::Need& need : info.needs) {
        out +=
            (out.empty() ? "" : ", ") +
            (need.kind == gates::Need::Kind::root ? std::string("root") : std::string(need.name));
    }
    return out.empty() ? "-" : out;
}

std::string budget_text(const GateInfo& info) {
    return format_duration(info.budget);
}

} // namespace

std::size_t longest_id(const std::vector<const gates::GateEntry*>& plan) {
    std::size_t longest = 0;
    for (const gates::GateEntry* entry : plan)
        longest = std::max(longest, entry->info->id.size());
    return longest;
}

std::string gate_line(const GateRecord& record, std::size_t id_width, bool coloured) {
    const std::string word = padded(upper(to_string(record.verdict)), verdict_width);
    std::string line =
        paint(colour_of(record.verdict), word, coloured) + "  " + padded(record.id, id_width);
    // A summary that is the reason comes on the next line anyway; what never ran took no time.
    const bool said = record.summary.empty() || record.summary == record.reason;
    if (!said) line += "  " + record.summary;
    if (record.control.has_value()) line += "  " + gates::duration_text(record.run.duration_ns);
    line.erase(line.find_last_not_of(' ') + 1);
    line += "\n";
    if (record.verdict == Verdict::pass) return line;
    line += indented("", record.reason);
    if (!record.remedy.empty()) line += indented("remedy: ", record.remedy);
    return line;
}

std::string outcome_summary(const gates::RunOutcome& outcome, bool dirty) {
    const Counts counts = count(outcome.records);
    std::string text = "\n" + std::to_string(counts.passed) + " passed, " +
                       std::to_string(counts.failed) + " failed, " +
                       (counts.errors > 0 ? std::to_string(counts.errors) + " in error, " : "") +
                       std::to_string(counts.grey) + " grey" + counts.grey_names +
                       "\nresults: " + outcome.campaign.string() + "\n";
    if (dirty) {
        text += "note: this build does not match a commit, so the results cannot be accepted as "
                "evidence\n";
    }
    return text;
}

std::string outcome_json(const gates::RunOutcome& outcome, bool dirty, int exit_code) {
    const Counts counts = count(outcome.records);
    JsonWriter json;
    json.field("schema", "promtact.gates-run/1");
    json.field("host", outcome.host);
    json.field("campaign", outcome.campaign.string());
    json.field_bool("acceptable", !dirty);
    json.field("passed", counts.passed);
    json.field("failed", counts.failed);
    json.field("errors", counts.errors);
    json.field("grey", counts.grey);
    json.field("exit_code", static_cast<std::uint64_t>(exit_code));
    json.array("gates");
    for (const GateRecord& record : outcome.records) {
        json.object_item();
        json.field("id", record.id);
        json.field("verdict", to_string(record.verdict));
        json.field("reason", record.reason);
        json.field("remedy", record.remedy);
        json.field("summary", record.summary);
        json.field("control", record.control.has_value() ? record.control->observed : "not run");
        json.field("duration_ns", record.run.duration_ns);
        json.end();
    }
    json.end();
    return json.finish();
}

std::string catalog_table(std::span<const gates::GateEntry> catalog) {
    gates::TextTable table({"gate", "tier", "class", "budget", "requires", "needs", "asks"});
    for (const gates::GateEntry& entry : catalog) {
        const GateInfo& info = *entry.info;
        table.row(
            {std::string(info.id), std::string(to_string(info.tier)),
             std::string(to_string(info.gate_class)), budget_text(info),
             joined(info.requires_gates), needs_text(info), std::string(info.title)});
    }
    return table.plain();
}

std::string catalog_json(std::span<const gates::GateEntry> catalog) {
    JsonWriter json;
    json.field("schema", "promtact.gate-catalog/1");
    json.array("gates");
    for (const gates::GateEntry& entry : catalog) {
        const GateInfo& info = *entry.info;
        json.object_item();
        json.field("id", info.id);
        json.field("revision", std::uint64_t{info.revision});
        json.field("tier", to_string(info.tier));
        json.field("class", to_string(info.gate_class));
        json.field("title", info.title);
        json.strings("qualifies", info.qualifies);
        json.strings("requires", info.requires_gates);
        json.field("needs", needs_text(info));
        json.field("budget_ms", static_cast<std::uint64_t>(info.budget.count()));
        json.field("establishes", info.establishes);
        json.field("does_not_establish", info.does_not_establish);
        json.field("control", info.control);
        json.field("control_breaks", info.control_breaks);
        json.field("remedy", info.remedy);
        json.end();
    }
    json.end();
    return json.finish();
}

std::string explanation(const GateInfo& info, const std::optional<SeenControl>& seen) {
    std::string text = std::string(info.id) + ": " + std::string(info.title) + "\n\n";
    const auto line = [&](std::string_view name, std::string_view value) {
        text += padded(std::string(name), 20) + std::string(value) + "\n";
    };
    line("tier", to_string(info.tier));
    line("class", to_string(info.gate_class));
    line("revision", std::to_string(info.revision));
    line("qualifies", joined(info.qualifies));
    line("requires", joined(info.requires_gates));
    for (const gates::Need& need : info.needs) {
        line(
            "needs", (need.kind == gates::Need::Kind::root ? "root" : std::string(need.name)) +
                         (need.remedy.empty() ? "" : " (" + std::string(need.remedy) + ")"));
    }
    line("budget", budget_text(info) + " for the body, the same for its control");
    line("establishes", info.establishes);
    line("does not establish", info.does_not_establish);
    line("negative control", std::string(info.control) + ": " + std::string(info.control_breaks));
    line("when it fails", info.remedy);
    if (!seen.has_value()) {
        line(
            "control observed",
            "no result holds it yet: promtact gates run " + std::string(info.id));
        return text;
    }
    const gates::ControlRecord& control = *seen->record.control;
    line(
        "control observed", control.observed + " in " + seen->host + "/" + seen->campaign +
                                (control.reason.empty() ? "" : ": " + control.reason));
    line("gate observed", to_string(seen->record.verdict));
    return text;
}

} // namespace promtact::harness
