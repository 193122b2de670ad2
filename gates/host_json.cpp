// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// host.json in both directions from one list of fields, so that writer and reader cannot drift.
#include <promtact/base/json_writer.hpp>
#include <promtact/gates/host_facts.hpp>

namespace promtact::gates {
namespace {

template <class Facts, class Visitor>
void kernel_fields(Facts& facts, Visitor& visit) {
    visit("release", facts.release);
    visit("version", facts.version);
    visit("machine", facts.machine);
    visit("preemption", facts.preemption);
    visit("clocksource", facts.clocksource);
    visit("tick_hz", facts.tick_hz);
    visit("kconfig", facts.kconfig);
}

template <class Facts, class Visitor>
void machine_fields(Facts& facts, Visitor& visit) {
    visit("distribution", facts.distribution);
    visit("cpu_model", facts.cpu_model);
    visit("cpu_vendor", facts.cpu_vendor);
    visit("cpus", facts.cpus);
    visit("cpu_governor", facts.cpu_governor);
    visit("memory_bytes", facts.memory_bytes);
    visit("hypervisor", facts.hypervisor);
    visit("container", facts.container);
    visit("network_drivers", facts.network_drivers);
}

template <class Facts, class Visitor>
void storage_fields(Facts& facts, Visitor& visit) {
    visit("filesystem", facts.filesystem);
    visit("mount_options", facts.mount_options);
    visit("journal", facts.journal);
    visit("device", facts.device);
    visit("model", facts.model);
    visit("scheduler", facts.scheduler);
    visit("write_cache", facts.write_cache);
    visit("rotational", facts.rotational);
    visit("fua", facts.fua);
    visit("size_bytes", facts.size_bytes);
    visit("logical_block_bytes", facts.logical_block_bytes);
    visit("physical_block_bytes", facts.physical_block_bytes);
    visit("atomic_write_max_bytes", facts.atomic_write_max_bytes);
}

template <class Facts, class Visitor>
void limit_fields(Facts& facts, Visitor& visit) {
    visit("io_uring_disabled", facts.io_uring_disabled);
    visit("memlock_bytes", facts.memlock_bytes);
    visit("capabilities", facts.capabilities);
    visit("seccomp", facts.seccomp);
    visit("security_modules", facts.security_modules);
    visit("lockdown", facts.lockdown);
    visit("effective_root", facts.effective_root);
}

class Write {
  public:
    explicit Write(JsonWriter& json) : json_(json) {}
    void operator()(std::string_view name, const std::string& text) { json_.field(name, text); }
    void operator()(std::string_view name, std::uint64_t number) { json_.field(name, number); }
    void operator()(std::string_view name, const std::optional<std::uint64_t>& number) {
        if (number.has_value()) {
            json_.field(name, *number);
        } else {
            json_.field_null(name);
        }
    }
    void operator()(std::string_view name, const std::vector<std::string>& list) {
        json_.strings(name, list);
    }
    void operator()(std::string_view name, const std::vector<NamedFact>& list) {
        json_.object(name);
        for (const NamedFact& fact : list)
            json_.field(fact.name, fact.value);
        json_.end();
    }

  private:
    JsonWriter& json_;
};

std::vector<NamedFact> named_facts(const JsonValue* object, JsonProblems& problems) {
    std::vector<NamedFact> list;
    if (object == nullptr) return list;
    for (const JsonValue& child : object->children) {
        if (child.kind == JsonKind::text) {
            list.push_back({child.name, child.text});
        } else {
            problems.add(child.at, "must be a string, not " + std::string(to_string(child.kind)));
        }
    }
    return list;
}

class Read {
  public:
    Read(ObjectReader& reader, JsonProblems& problems) : reader_(reader), problems_(problems) {}
    void operator()(std::string_view name, std::string& text) {
        text = reader_.require_string(name);
    }
    void operator()(std::string_view name, std::uint64_t& number) {
        number = reader_.require_u64(name);
    }
    void operator()(std::string_view name, std::optional<std::uint64_t>& number) {
        const JsonValue* value = reader_.any(name);
        if (value == nullptr || value->kind != JsonKind::null) number = reader_.require_u64(name);
    }
    void operator()(std::string_view name, std::vector<std::string>& list) {
        if (const JsonValue* array = reader_.require_array(name); array != nullptr)
            list = string_items(*array, problems_);
    }
    void operator()(std::string_view name, std::vector<NamedFact>& list) {
        list = named_facts(reader_.require_object(name), problems_);
    }

  private:
    ObjectReader& reader_;
    JsonProblems& problems_;
};

template <class Fields>
void read_section(
    ObjectReader& root, std::string_view name, JsonProblems& problems, const Fields& fields) {
    const JsonValue* object = root.require_object(name);
    if (object == nullptr) return;
    ObjectReader reader(*object, problems);
    Read read(reader, problems);
    fields(read);
    reader.finish();
}

} // namespace

std::string to_json(const HostFacts& facts) {
    JsonWriter json;
    Write write(json);
    json.field("schema", host_schema);
    json.field("name", facts.name);
    json.object("kernel");
    kernel_fields(facts.kernel, write);
    json.end();
    json.object("machine");
    machine_fields(facts.machine, write);
    json.end();
    json.object("storage");
    storage_fields(facts.storage, write);
    json.end();
    json.object("limits");
    limit_fields(facts.limits, write);
    json.end();
    write("libraries", facts.libraries);
    write("tools", facts.tools);
    return json.finish();
}

Result<HostFacts> host_facts_from_json(std::string_view text, std::string_view source) {
    JsonProblems problems;
    const std::optional<JsonValue> root = parse_json(text, problems);
    if (!root.has_value()) return problems.to_error(source);
    require_printable(*root, problems);
    HostFacts facts;
    ObjectReader reader(*root, problems);
    if (reader.require_string("schema") != host_schema)
        reader.complain("schema", "must be \"" + std::string(host_schema) + "\"");
    facts.name = reader.require_string("name");
    if (const Result<void> named = check_host_name(facts.name); !named)
        reader.complain("name", named.error().context);
    read_section(
        reader, "kernel", problems, [&](Read& read) { kernel_fields(facts.kernel, read); });
    read_section(
        reader, "machine", problems, [&](Read& read) { machine_fields(facts.machine, read); });
    read_section(
        reader, "storage", problems, [&](Read& read) { storage_fields(facts.storage, read); });
    read_section(reader, "limits", problems, [&](Read& read) { limit_fields(facts.limits, read); });
    facts.libraries = named_facts(reader.require_object("libraries"), problems);
    facts.tools = named_facts(reader.require_object("tools"), problems);
    reader.finish();
    if (!problems.empty()) return problems.to_error(source);
    return facts;
}

} // namespace promtact::gates
