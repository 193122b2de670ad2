// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/scenario/read_scenario.hpp>
#include <promtact/sim/event_log.hpp>
#include <promtact/sim/recording.hpp>

namespace promtact::sim {
namespace {

constexpr std::string_view schema = "promtact.case/1";
constexpr Bytes file_max{std::uint64_t{64} << 20};

// --- writing ---

void write_fates(JsonWriter& json, const engine::FateBook& book) {
    json.array("fates");
    for (const auto& [key, fate] : book) {
        const std::array<std::uint64_t, 9> row{
            key.from.value(), key.to.value(),  key.position,      fate.lost.id,     fate.delay,
            fate.copied.id,   fate.copy_delay, fate.corrupted.id, fate.corrupt_bits};
        json.numbers_item(row);
    }
    json.end();
}

void write_events(JsonWriter& json, const std::vector<engine::Event>& events) {
    json.array("events");
    for (const engine::Event& event : events) {
        const std::array<std::uint64_t, 7> row{
            event.time.value(), static_cast<std::uint64_t>(event.kind),
            event.from.value(), event.to.value(),
            event.message,      event.digest.high,
            event.digest.low};
        json.numbers_item(row);
    }
    json.end();
}

std::vector<std::uint64_t> list_of(const std::set<std::uint64_t>& set) {
    return {set.begin(), set.end()};
}

// --- reading ---

class RecordingReader {
  public:
    RecordingReader(const JsonValue& root, JsonProblems& problems)
        : problems_(problems), object_(root, problems) {}

    Recording run() {
        if (object_.require_string("schema") != schema)
            object_.complain("schema", "must be \"" + std::string(schema) + "\"");
        recording_.protocol = object_.require_string("protocol");
        if (const JsonValue* value = object_.require_object("scenario"))
            recording_.run.scenario = scenario::read_scenario(*value, problems_);
        for (const std::uint64_t id : numbers("faultIds"))
            recording_.run.fault_ids.push_back(static_cast<std::uint32_t>(id));
        if (recording_.run.fault_ids.size() != recording_.run.scenario.faults.size())
            object_.complain("faultIds", "must be one for each fault of the scenario");
        for (const std::uint64_t number : numbers("withoutCommands"))
            recording_.run.without_commands.insert(number);
        for (const std::uint64_t number : numbers("withoutRestarts"))
            recording_.run.without_restarts.insert(number);
        read_fates();
        read_outcome();
        read_events();
        object_.finish();
        return std::move(recording_);
    }

  private:
    std::vector<std::uint64_t> numbers(std::string_view name) {
        const JsonValue* value = object_.require_array(name);
        return value == nullptr ? std::vector<std::uint64_t>{} : unsigned_items(*value, problems_);
    }
    /// fn(row) for every row of so many numbers.
    template <class Fn>
    void rows(const JsonValue& array, std::size_t width, Fn fn) {
        for (const JsonValue& item : array.children) {
            if (item.kind != JsonKind::array || item.children.size() != width) {
                problems_.add(item.at, "must be " + std::to_string(width) + " numbers");
                continue;
            }
            const std::vector<std::uint64_t> row = unsigned_items(item, problems_);
            if (row.size() == width) fn(item, row);
        }
    }
    NodeId node(const JsonValue& item, std::uint64_t id) {
        if (id > nodes_max) problems_.add(item.at, "no node has the id " + std::to_string(id));
        return NodeId(static_cast<std::uint32_t>(id));
    }
    void read_fates() {
        const JsonValue* array = object_.optional_array("fates");
        if (array == nullptr) return;
        engine::FateBook book;
        rows(*array, 9, [&](const JsonValue& item, const std::vector<std::uint64_t>& row) {
            engine::FateKey key;
            key.from = node(item, row[0]);
            key.to = node(item, row[1]);
            key.position = row[2];
            const auto cause = [](std::uint64_t id) {
                return engine::Cause{static_cast<std::uint32_t>(id)};
            };
            book[key] = {
                .lost = cause(row[3]),
                .delay = row[4],
                .copied = cause(row[5]),
                .copy_delay = row[6],
                .corrupted = cause(row[7]),
                .corrupt_bits = row[8]};
        });
        recording_.run.fates = std::move(book);
    }
    void read_outcome() {
        const JsonValue* value = object_.require_object("outcome");
        if (value == nullptr) return;
        ObjectReader fields(*value, problems_);
        recording_.outcome = read_outcome_fields(fields);
        fields.finish();
    }
    void read_events() {
        const JsonValue* array = object_.require_array("events");
        if (array == nullptr) return;
        rows(*array, 7, [&](const JsonValue& item, const std::vector<std::uint64_t>& row) {
            if (row[1] >= engine::all_event_kinds.size())
                return problems_.add(item.at, "no kind of event has this number");
            recording_.events.push_back(
                {.sequence = recording_.events.size() + 1,
                 .time = Step(row[0]),
                 .kind = static_cast<engine::EventKind>(row[1]),
                 .from = node(item, row[2]),
                 .to = node(item, row[3]),
                 .message = row[4],
                 .digest = {.high = row[5], .low = row[6]}});
        });
    }

    JsonProblems& problems_;
    ObjectReader object_;
    Recording recording_{};
};

} // namespace

Outcome outcome_of(const RunReport& report) {
    Outcome outcome{
        .verdict = report.verdict,
        .text = report.text,
        .step = report.end.step.value(),
        .events = report.end.event,
        .trace = report.end.trace};
    if (report.stop && report.stop->violation) {
        outcome.property = report.stop->violation->property;
        outcome.key = report.stop->violation->broken.key;
    }
    return outcome;
}

void write_outcome_fields(JsonWriter& json, const Outcome& outcome) {
    json.field("verdict", to_string(outcome.verdict));
    json.field("property", outcome.property);
    json.field("key", outcome.key);
    json.field("text", outcome.text);
    json.field("step", outcome.step);
    json.field("events", outcome.events);
    json.field("trace", to_hex(outcome.trace));
}

Outcome read_outcome_fields(ObjectReader& fields) {
    Outcome outcome;
    const std::string verdict = fields.require_string("verdict");
    const auto known = std::find_if(
        engine::all_verdicts.begin(), engine::all_verdicts.end(),
        [&](engine::Verdict one) { return to_string(one) == verdict; });
    if (known == engine::all_verdicts.end()) {
        fields.complain("verdict", "is no verdict");
    } else {
        outcome.verdict = *known;
    }
    outcome.property = fields.require_string("property");
    outcome.key = fields.require_string("key");
    outcome.text = fields.require_string("text");
    outcome.step = fields.require_u64("step");
    outcome.events = fields.require_u64("events");
    const auto trace = parse_digest128(fields.require_string("trace"));
    if (trace) {
        outcome.trace = *trace;
    } else {
        fields.complain("trace", "says " + trace.error().context);
    }
    return outcome;
}

Recording record(const Protocol& protocol, const Case& run) {
    EventLog log(recording_events_max);
    engine::FateRecorder fates;
    const RunReport report = run_case(protocol, run, {.sink = &log, .editor = &fates});
    Recording recording{
        .protocol = protocol.name,
        .run = run,
        .outcome = outcome_of(report),
        .events = std::move(log.events())};
    recording.run.fates = fates.book();
    if (recording.run.fault_ids.empty()) {
        for (std::uint32_t id = 0; id < run.scenario.faults.size(); ++id)
            recording.run.fault_ids.push_back(id);
    }
    return recording;
}

std::string write_recording(const Recording& recording) {
    JsonWriter json;
    json.field("schema", schema);
    json.field("protocol", recording.protocol);
    json.object("scenario");
    scenario::write_scenario(json, recording.run.scenario);
    json.end();
    const std::vector<std::uint64_t> ids(
        recording.run.fault_ids.begin(), recording.run.fault_ids.end());
    json.numbers("faultIds", ids);
    json.numbers("withoutCommands", list_of(recording.run.without_commands));
    json.numbers("withoutRestarts", list_of(recording.run.without_restarts));
    if (recording.run.fates) write_fates(json, *recording.run.fates);
    json.object("outcome");
    write_outcome_fields(json, recording.outcome);
    json.end();
    write_events(json, recording.events);
    return json.finish();
}

Result<void> save_recording(const std::filesystem::path& path, const Recording& recording) {
    return write_file_atomic(path, write_recording(recording));
}

Result<Recording> read_recording(std::string_view text, std::string_view source) {
    JsonProblems problems;
    const auto value =
        parse_json(text, problems, {.bytes_max = static_cast<std::size_t>(file_max.value)});
    Recording recording;
    if (value && value->kind != JsonKind::object) problems.add(value->at, "a case is an object");
    if (value && problems.empty()) recording = RecordingReader(*value, problems).run();
    if (!problems.empty()) return problems.to_error(source);
    return recording;
}

Result<Recording> load_recording(const std::filesystem::path& path) {
    PROMTACT_TRY_ASSIGN(const std::string text, read_text_file(path, file_max));
    PROMTACT_TRY_ASSIGN(Recording recording, read_recording(text, path.string()));
    PROMTACT_TRY(scenario::load_tables(recording.run.scenario, path.parent_path()));
    return recording;
}

std::optional<std::string> first_difference(const Recording& a, const Recording& b) {
    const std::size_t both = std::min(a.events.size(), b.events.size());
    const auto words = [](const Recording& recording, std::size_t at) {
        return at < recording.events.size() ? line_of({recording.events[at], {}})
                                            : std::string("nothing");
    };
    for (std::size_t i = 0; i <= both; ++i) {
        if (i < both && a.events[i] == b.events[i]) continue;
        if (i == both && a.events.size() == b.events.size()) break;
        return "event " + std::to_string(i + 1) + ": " + words(a, i) + " | " + words(b, i);
    }
    if (a.outcome.trace != b.outcome.trace) {
        return "after the " + std::to_string(both) + " events that are kept: trace " +
               to_hex(a.outcome.trace) + " | " + to_hex(b.outcome.trace);
    }
    if (a.outcome == b.outcome) return std::nullopt;
    return "the same events, but " + std::string(to_string(a.outcome.verdict)) + " " +
           a.outcome.property + " | " + std::string(to_string(b.outcome.verdict)) + " " +
           b.outcome.property;
}

} // namespace promtact::sim
