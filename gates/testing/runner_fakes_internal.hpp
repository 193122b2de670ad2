// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What tests of the runner share: a recording observer, a configuration, a look at what is left.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <promtact/gates/runner.hpp>

namespace promtact::gates::fakes {

namespace fs = std::filesystem;

class Recorder final : public RunnerObserver {
  public:
    void step(
        const GateInfo& gate, std::string_view phase, std::string_view what, std::size_t,
        std::size_t) override {
        if (!what.empty()) {
            steps.push_back(
                std::string(gate.id) + " " + std::string(phase) + " " + std::string(what));
        }
    }
    void finished(const GateRecord& record) override { finished_ids.push_back(record.id); }
    std::vector<std::string> steps{};
    std::vector<std::string> finished_ids{};
};

/// A run of the named gates of a catalog.
inline RunnerConfig config_for(
    std::span<const GateEntry> catalog, const fs::path& hosts, std::vector<std::string> selected) {
    RunnerConfig config;
    config.catalog = catalog;
    config.selected = std::move(selected);
    config.hosts = hosts;
    config.host = "test-host";
    config.run.commit = std::string(40, 'c');
    config.run.command = {"promtact", "gates", "run"};
    config.run.build = {"dev", "g++", "-O1", true};
    return config;
}

/// Every path below a folder, relative to it.
inline std::vector<fs::path> everything_in(const fs::path& folder) {
    std::vector<fs::path> all;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        all.push_back(entry.path().lexically_relative(folder));
    return all;
}

} // namespace promtact::gates::fakes
