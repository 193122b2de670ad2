// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/gates/freshness.hpp>

namespace promtact::gates {
namespace {

std::vector<std::string> folders_of(const GateRecord& record) {
    std::vector<std::string> folders = record.qualifies;
    if (record.kind != RecordKind::gate) return folders;
    folders.push_back("gates/" + record.id);
    folders.push_back("gates/" + record.tier + "_support"); // shared by the bodies of a tier
    return folders;
}

Freshness stale(std::string reason) {
    return {Freshness::State::stale, std::move(reason)};
}

} // namespace

bool changes_answers(std::string_view path) {
    for (const std::string_view end :
         {".md", "_test.cpp", "_test_internal.hpp", "_fixture_internal.hpp", "_bench.cpp",
          "_fuzz.cpp", "_campaign.cpp"})
        if (path.ends_with(end)) return false;
    for (const std::string_view part : {"/corpus/", "/testdata/", "/testing/"})
        if (path.find(part) != std::string_view::npos) return false;
    return true;
}

Freshness
freshness_of(const GateRecord& record, std::span<const GateEntry> catalog, History& history) {
    if (record.kind == RecordKind::gate) {
        const auto entry = std::find_if(catalog.begin(), catalog.end(), [&](const GateEntry& e) {
            return e.info->id == record.id;
        });
        if (entry == catalog.end()) return stale("the gate is gone");
        if (entry->info->revision != record.revision) {
            return stale(
                "the gate is at revision " + std::to_string(entry->info->revision) +
                ", the result at " + std::to_string(record.revision));
        }
    }
    const auto changed = history.changed_since(record.run.commit, folders_of(record));
    if (!changed.has_value()) return {Freshness::State::unknown, "no history to compare with"};
    for (const std::string& path : *changed)
        if (changes_answers(path)) return stale(path + " changed since");
    return {Freshness::State::current, ""};
}

std::string to_string(const Freshness& freshness) {
    switch (freshness.state) {
    case Freshness::State::current:
        return "current";
    case Freshness::State::stale:
        return "stale: " + freshness.reason;
    case Freshness::State::unknown:
        return "unknown: " + freshness.reason;
    }
    return "unknown";
}

} // namespace promtact::gates
