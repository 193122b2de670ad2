// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <optional>
#include <string>

#include <promtact/base/durations.hpp>
#include <promtact/base/numbers.hpp>

#include "fault_fields_internal.hpp"

namespace promtact::scenario {
namespace {

constexpr std::uint64_t steps_max = std::uint64_t{1} << 40;

std::string kinds() {
    std::string text;
    for (const FaultKind kind : all_fault_kinds)
        text += (text.empty() ? "" : ", ") + std::string(to_string(kind));
    return text;
}

// The fields of one fault; each is asked for by the kind that has it, so that finish() names all
// others.
class FaultReader {
  public:
    FaultReader(const JsonValue& value, const FaultContext& context, JsonProblems& problems)
        : value_(value), context_(context), problems_(problems), object_(value, problems) {}

    Fault run() {
        fault_.line = value_.at.line;
        fault_.column = value_.at.column;
        const std::string type = object_.require_string("type");
        const std::optional<FaultKind> kind = fault_kind_from(type);
        if (!kind) {
            // Its fields cannot be judged without a type.
            if (!type.empty()) object_.complain("type", "is an unknown type; one of " + kinds());
            return fault_;
        }
        fault_.kind = *kind;
        fault_.params = default_params(*kind);
        read_window();
        read_nodes();
        read_params();
        object_.finish();
        return fault_;
    }

  private:
    void read_window() {
        const auto start = object_.optional_u64("start", 0, steps_max);
        const auto end = object_.optional_u64("end", 0, steps_max);
        fault_.start = Step(start.value_or(0));
        if (end && *end != 0) fault_.end = Step(*end); // 0 is the reference's "unbounded"
        if (fault_.end <= fault_.start) object_.complain("end", "must be after start");
        if (context_.steps > 0 && fault_.start.value() > context_.steps) {
            object_.complain(
                "start", "is after the end of the run, which has " +
                             std::to_string(context_.steps) + " steps");
        }
    }

    void read_nodes() {
        const NodeFields names = node_fields(fault_.kind);
        fault_.a = node_list(names.a, names.required);
        if (!names.b.empty()) fault_.b = node_list(names.b, names.required);
        if (fault_.kind == FaultKind::split) {
            for (const NodeId node : fault_.a) {
                if (std::find(fault_.b.begin(), fault_.b.end(), node) != fault_.b.end()) {
                    object_.complain(
                        "b",
                        "has node " + std::to_string(node.value()) + ", which is on both sides");
                }
            }
        }
        if (fault_.kind == FaultKind::link && fault_.a.size() == 1 && fault_.a == fault_.b)
            object_.complain("to", "must name another node than \"from\": they are to be distinct");
    }
    /// An id or a list of ids. Without it: everybody, where that is allowed.
    std::vector<NodeId> node_list(std::string_view name, bool required) {
        const JsonValue* value = object_.any(name);
        if (value == nullptr) {
            if (required) {
                object_.complain(
                    name, "is missing: at least one node, 1.." +
                              std::to_string(std::max<std::uint64_t>(context_.nodes, 1)));
            }
            return {};
        }
        std::vector<NodeId> nodes;
        if (value->kind == JsonKind::array) {
            for (const JsonValue& item : value->children)
                add_node(item, nodes);
            if (value->children.empty()) problems_.add(value->at, "at least one node is needed");
        } else {
            add_node(*value, nodes);
        }
        return nodes;
    }
    void add_node(const JsonValue& item, std::vector<NodeId>& nodes) {
        const std::uint64_t limit = context_.nodes > 0 ? context_.nodes : nodes_max;
        if (item.kind != JsonKind::integer) {
            return problems_.add(
                item.at, "a node is a whole number, not " + std::string(to_string(item.kind)));
        }
        if (item.negative || item.integer < 1 || item.integer > limit) {
            return problems_.add(
                item.at, "node " + std::string(item.negative ? "-" : "") +
                             std::to_string(item.integer) + " is outside 1.." +
                             std::to_string(limit));
        }
        const NodeId node(static_cast<std::uint32_t>(item.integer));
        if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
            return problems_.add(
                item.at, "node " + std::to_string(item.integer) + " is named twice");
        }
        nodes.push_back(node);
    }

    // --- values ---

    Ppm ppm(std::string_view name, std::optional<Ppm> otherwise = std::nullopt) {
        const std::uint64_t parts =
            otherwise ? object_.optional_u64(name, 0, Ppm::one).value_or(otherwise->value)
                      : object_.require_u64(name, 0, Ppm::one);
        return Ppm(static_cast<std::uint32_t>(std::min<std::uint64_t>(parts, Ppm::one)));
    }
    /// A whole number of steps, or text such as "25ms".
    std::optional<FaultDuration> duration(std::string_view name) {
        const JsonValue* value = object_.any(name);
        if (value == nullptr) return std::nullopt;
        if (value->kind == JsonKind::integer && !value->negative && value->integer <= steps_max)
            return FaultDuration{.unit = FaultDuration::Unit::steps, .count = value->integer};
        if (value->kind == JsonKind::text) {
            const auto parsed = parse_duration(value->text);
            if (parsed) {
                return FaultDuration{
                    .unit = FaultDuration::Unit::nanoseconds,
                    .count = static_cast<std::uint64_t>(parsed->count())};
            }
            problems_.add(value->at, parsed.error().context);
            return std::nullopt;
        }
        problems_.add(
            value->at, "\"" + std::string(name) + "\" must be a number of steps, 0.." +
                           std::to_string(steps_max) + ", or a duration such as \"25ms\"");
        return std::nullopt;
    }
    FaultDuration required_duration(std::string_view name) {
        const auto value = duration(name);
        if (!value && object_.any(name) == nullptr)
            object_.complain(name, "is missing: a number of steps or a duration such as \"25ms\"");
        return value.value_or(FaultDuration{});
    }
    std::optional<Bytes> size(std::string_view name) {
        const JsonValue* value = object_.any(name);
        if (value == nullptr) return std::nullopt;
        if (value->kind == JsonKind::integer && !value->negative) return Bytes{value->integer};
        if (value->kind == JsonKind::text) {
            const auto parsed = parse_size(value->text);
            if (parsed) return *parsed;
            problems_.add(value->at, parsed.error().context);
            return std::nullopt;
        }
        problems_.add(
            value->at,
            "\"" + std::string(name) + "\" must be a number of bytes or a size such as \"64KiB\"");
        return std::nullopt;
    }

    // --- parameters ---

    void read_params() {
        switch (fault_.kind) {
        case FaultKind::loss:
            fault_.params = LossParams{.probability = ppm("probability")};
            return;
        case FaultKind::burst:
            fault_.params = BurstParams{
                .enter_bad = ppm("enterBad"),
                .leave_bad = ppm("leaveBad"),
                .loss_good = ppm("lossGood", Ppm{}),
                .loss_bad = ppm("lossBad", Ppm(Ppm::one))};
            return;
        case FaultKind::delay:
            return read_delay();
        case FaultKind::reorder:
            fault_.params = ReorderParams{
                .probability = ppm("probability"),
                .hold = required_duration("hold"),
                .held_max = static_cast<std::uint32_t>(
                    object_.optional_u64("heldMax", 1, 1'000'000).value_or(1))};
            return;
        case FaultKind::duplicate:
            fault_.params = DuplicateParams{.probability = ppm("probability")};
            return;
        case FaultKind::corrupt:
            fault_.params = CorruptParams{
                .probability = ppm("probability"),
                .detected = object_.optional_bool("detected").value_or(true),
                .bits =
                    static_cast<std::uint32_t>(object_.optional_u64("bits", 1, 64).value_or(1))};
            return;
        case FaultKind::rate:
            fault_.params = RateParams{
                .bits_per_second = object_.require_u64("bitsPerSecond", 8, 1'000'000'000'000ULL),
                .queue = size("queue").value_or(Bytes{64U << 10})};
            return;
        case FaultKind::flap:
            return read_flap();
        case FaultKind::clock:
            return read_clock();
        case FaultKind::disk:
            return read_disk();
        case FaultKind::reset:
            fault_.params = ResetParams{.probability = ppm("probability")};
            return;
        case FaultKind::syn:
            fault_.params = SynParams{.probability = ppm("probability")};
            return;
        case FaultKind::mtu: {
            const auto largest = size("largest");
            if (!largest && object_.any("largest") == nullptr)
                object_.complain("largest", "is missing: a number of bytes");
            fault_.params = MtuParams{.largest = largest.value_or(Bytes{})};
            return;
        }
        case FaultKind::split:
        case FaultKind::isolate:
        case FaultKind::link:
        case FaultKind::crash:
        case FaultKind::restart:
        case FaultKind::pause:
            return;
        }
    }
    void read_delay() {
        DelayParams params;
        const std::string shape = object_.optional_string("distribution").value_or("");
        const auto found = std::find(delay_shapes.begin(), delay_shapes.end(), shape);
        params.jitter = duration("jitter").value_or(FaultDuration{});
        if (found != delay_shapes.end()) {
            params.shape = static_cast<DelayShape>(found - delay_shapes.begin());
        } else if (!shape.empty()) {
            object_.complain(
                "distribution",
                "is an unknown distribution; one of fixed, uniform, normal, pareto, table");
        } else if (params.jitter.count > 0) {
            params.shape = DelayShape::uniform;
        }
        params.keep_order = object_.optional_bool("keepOrder").value_or(false);
        if (params.shape == DelayShape::table) {
            params.results_file = object_.require_string("results");
            params.base = duration("base").value_or(FaultDuration{});
        } else {
            params.base = required_duration("base");
        }
        if (params.shape == DelayShape::fixed && params.jitter.count > 0)
            object_.complain("jitter", "does not go with a fixed delay");
        fault_.params = std::move(params);
    }
    void read_flap() {
        FlapParams params{
            .up = required_duration("up"),
            .down = required_duration("down"),
            .phase = duration("phase").value_or(FaultDuration{})};
        if (params.down.count == 0 && object_.any("down") != nullptr)
            object_.complain("down", "must not be 0: a link that is never down does not flap");
        fault_.params = params;
    }
    void read_clock() {
        ClockParams params{
            .rate_ppm = static_cast<std::int32_t>(
                object_.optional_i64("rate", -1'000'000, 10'000'000).value_or(0))};
        if (const auto jump = object_.optional_string("jump")) {
            std::string_view text = *jump;
            const bool back = text.starts_with('-');
            if (back || text.starts_with('+')) text.remove_prefix(1);
            const auto parsed = parse_duration(text);
            if (!parsed) object_.complain("jump", "says " + parsed.error().context);
            if (parsed) params.jump_ns = back ? -parsed->count() : parsed->count();
        }
        if (object_.any("rate") == nullptr && object_.any("jump") == nullptr)
            object_.complain("rate", "or \"jump\" is needed by a clock fault");
        fault_.params = params;
    }
    void read_disk() {
        DiskParams params;
        const std::string name = object_.require_string("fault");
        const auto kind = disk_fault_from(name);
        if (kind) {
            params.fault = *kind;
        } else if (!name.empty()) {
            std::string all;
            for (const DiskFault one : all_disk_faults)
                all += (all.empty() ? "" : ", ") + std::string(to_string(one));
            object_.complain("fault", "is an unknown disk fault; one of " + all);
        }
        const bool by_chance = params.fault != DiskFault::full;
        if (by_chance) params.probability = ppm("probability", Ppm(Ppm::one));
        if (params.fault == DiskFault::slow) params.delay = required_duration("delay");
        if (params.fault == DiskFault::full) params.capacity = size("capacity").value_or(Bytes{});
        fault_.params = params;
    }

    const JsonValue& value_;
    const FaultContext& context_;
    JsonProblems& problems_;
    ObjectReader object_;
    Fault fault_{};
};

} // namespace

Fault read_fault(const JsonValue& value, const FaultContext& context, JsonProblems& problems) {
    return FaultReader(value, context, problems).run();
}

} // namespace promtact::scenario
