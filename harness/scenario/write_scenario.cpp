// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <chrono>
#include <string>
#include <variant>

#include <promtact/base/durations.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/scenario/read_scenario.hpp>

#include "fault_fields_internal.hpp"

namespace promtact::scenario {
namespace {

std::string in_words(std::uint64_t nanoseconds) {
    return format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds)));
}

// One fault as an object that is open already.
class FaultWriter {
  public:
    explicit FaultWriter(JsonWriter& json) : json_(json) {}

    void write(const Fault& fault) {
        json_.field("type", to_string(fault.kind));
        const NodeFields names = node_fields(fault.kind);
        nodes(names.a, fault.a);
        nodes(names.b, fault.b);
        if (fault.start.value() > 0) json_.field("start", fault.start.value());
        if (fault.end != end_of_run) json_.field("end", fault.end.value());
        std::visit([this](const auto& params) { write_params(params); }, fault.params);
    }

  private:
    void nodes(std::string_view name, const std::vector<NodeId>& nodes) {
        if (nodes.empty()) return;
        std::vector<std::uint64_t> ids;
        ids.reserve(nodes.size());
        for (const NodeId node : nodes)
            ids.push_back(node.value());
        json_.numbers(name, ids);
    }
    void duration(std::string_view name, const FaultDuration& value) {
        if (value.unit == FaultDuration::Unit::steps) return json_.field(name, value.count);
        json_.field(name, in_words(value.count));
    }
    void optional_duration(std::string_view name, const FaultDuration& value) {
        if (value != FaultDuration{}) duration(name, value);
    }
    void ppm(std::string_view name, Ppm value) { json_.field(name, std::uint64_t{value.value}); }

    void write_params(const std::monostate&) {}
    void write_params(const LossParams& params) { ppm("probability", params.probability); }
    void write_params(const DuplicateParams& params) { ppm("probability", params.probability); }
    void write_params(const ResetParams& params) { ppm("probability", params.probability); }
    void write_params(const SynParams& params) { ppm("probability", params.probability); }
    void write_params(const BurstParams& params) {
        ppm("enterBad", params.enter_bad);
        ppm("leaveBad", params.leave_bad);
        ppm("lossGood", params.loss_good);
        ppm("lossBad", params.loss_bad);
    }
    void write_params(const DelayParams& params) {
        if (params.shape == DelayShape::table) {
            json_.field("results", params.results_file);
            optional_duration("base", params.base);
        } else {
            duration("base", params.base);
        }
        optional_duration("jitter", params.jitter);
        json_.field("distribution", to_string(params.shape));
        if (params.keep_order) json_.field_bool("keepOrder", true);
    }
    void write_params(const ReorderParams& params) {
        ppm("probability", params.probability);
        duration("hold", params.hold);
        json_.field("heldMax", std::uint64_t{params.held_max});
    }
    void write_params(const CorruptParams& params) {
        ppm("probability", params.probability);
        json_.field_bool("detected", params.detected);
        json_.field("bits", std::uint64_t{params.bits});
    }
    void write_params(const RateParams& params) {
        json_.field("bitsPerSecond", params.bits_per_second);
        json_.field("queue", params.queue.value);
    }
    void write_params(const FlapParams& params) {
        duration("up", params.up);
        duration("down", params.down);
        optional_duration("phase", params.phase);
    }
    void write_params(const ClockParams& params) {
        if (params.rate_ppm != 0 || params.jump_ns == 0)
            json_.field_signed("rate", params.rate_ppm);
        if (params.jump_ns == 0) return;
        const bool back = params.jump_ns < 0;
        const auto length = static_cast<std::uint64_t>(back ? -params.jump_ns : params.jump_ns);
        json_.field("jump", (back ? "-" : "+") + in_words(length));
    }
    void write_params(const DiskParams& params) {
        json_.field("fault", to_string(params.fault));
        if (params.fault == DiskFault::full) return json_.field("capacity", params.capacity.value);
        ppm("probability", params.probability);
        if (params.fault == DiskFault::slow) duration("delay", params.delay);
    }
    void write_params(const MtuParams& params) { json_.field("largest", params.largest.value); }

    JsonWriter& json_;
};

void write_workload(JsonWriter& json, const Workload& workload) {
    json.object("workload");
    json.field("clients", std::uint64_t{workload.clients});
    json.field("keys", std::uint64_t{workload.keys});
    json.field("reads", std::uint64_t{workload.reads.value});
    json.field("start", workload.start.value());
    if (workload.end != end_of_run) json.field("end", workload.end.value());
    json.end();
}

void write_expectation(JsonWriter& json, const Expectation& expect) {
    json.object("expect");
    json.strings("goals", expect.goals);
    if (expect.trace) json.field("trace", to_hex(*expect.trace));
    json.end();
}

void optional_number(JsonWriter& json, std::string_view name, std::uint64_t value) {
    if (value > 0) json.field(name, value);
}

} // namespace

void write_scenario(JsonWriter& json, const Scenario& scenario) {
    json.field("name", scenario.name);
    json.field("seed", format_seed(scenario.seed));
    json.field("nodes", std::uint64_t{scenario.nodes});
    json.field("steps", scenario.steps);
    if (scenario.tick_ns > 0) json.field("tick", in_words(scenario.tick_ns));
    if (scenario.key == DecisionKey::index) json.field("key", "index");
    optional_number(json, "dropPpm", scenario.drop.value);
    optional_number(json, "maxDelay", scenario.max_delay.value);
    optional_number(json, "duplicatePpm", scenario.duplicate.value);
    optional_number(json, "proposeEvery", scenario.propose_every.value);
    optional_number(json, "restartEvery", scenario.restart_every.value);
    if (scenario.workload) write_workload(json, *scenario.workload);
    if (!scenario.faults.empty()) {
        json.array("faults");
        for (const Fault& fault : scenario.faults) {
            json.object_item();
            FaultWriter(json).write(fault);
            json.end();
        }
        json.end();
    }
    if (scenario.expect != Expectation{}) write_expectation(json, scenario.expect);
}

std::string write_scenario(const Scenario& scenario) {
    JsonWriter json;
    write_scenario(json, scenario);
    return json.finish();
}

} // namespace promtact::scenario
