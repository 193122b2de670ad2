// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/scenario/read_scenario.hpp>

#include "command_common_internal.hpp"

namespace promtact::sim {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) {
    interrupted = 1;
    static_cast<void>(std::signal(SIGINT, SIG_DFL));
}

} // namespace

InterruptGuard::InterruptGuard() : before_(std::signal(SIGINT, on_interrupt)) {}
InterruptGuard::~InterruptGuard() {
    static_cast<void>(std::signal(SIGINT, before_));
}
bool InterruptGuard::seen() noexcept {
    return interrupted != 0;
}

int refuse(const Tool& tool, const std::string& text) {
    std::fputs(fmt::format("{}: {}\n", tool.program, text).c_str(), stderr);
    return exit_usage;
}
int refuse(const Tool& tool, const Error& error) {
    const bool says_all = error.sys_errno == 0 && !error.context.empty();
    return refuse(tool, says_all ? error.context : describe(error));
}

std::string called(const Tool& tool) {
    std::error_code failed;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
    if (failed || self.filename() != tool.program) return for_shell(tool.program);
    const std::filesystem::path near = std::filesystem::proximate(self, failed);
    const bool below = !failed && near.begin()->string() != "..";
    if (!below) return for_shell(self.string());
    return for_shell(near.has_parent_path() ? near.string() : "./" + near.string());
}

std::string
footer(const Tool& tool, const std::vector<std::string>& examples, std::string_view exits) {
    std::string text = "examples:\n";
    for (const std::string& example : examples)
        text += "  " + tool.program + " " + example + "\n";
    return text + "\nexit codes:\n" + std::string(exits);
}

void add_protocol_flag(harness::FlagSet& flags, const Tool& tool, std::string& name) {
    name = tool.protocols.front().name;
    if (tool.protocols.size() < 2) return;
    std::vector<std::string> names;
    for (const Protocol& protocol : tool.protocols)
        names.push_back(protocol.name);
    flags.choice("protocol", name, names, "which protocol runs");
}
const Protocol* find_protocol(const Tool& tool, const std::string& name) {
    for (const Protocol& protocol : tool.protocols)
        if (protocol.name == name) return &protocol;
    return nullptr;
}

std::string problems_text(const Protocol& protocol, const Case& run, const std::string& path) {
    std::string text;
    for (const engine::PlanProblem& problem : protocol.problems(run)) {
        std::string place = path;
        if (problem.fault < run.scenario.faults.size()) {
            const Fault& fault = run.scenario.faults[problem.fault];
            if (fault.line > 0) place += fmt::format(":{}:{}", fault.line, fault.column);
        }
        text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", place, problem.text);
    }
    return text;
}

Result<Scenario>
scenario_for(const Protocol& protocol, const std::string& path, const std::string& seed) {
    PROMTACT_TRY_ASSIGN(Scenario scenario, scenario::load_scenario(path));
    if (scenario.name.empty()) scenario.name = path;
    if (!seed.empty()) {
        PROMTACT_TRY_ASSIGN(scenario.seed, parse_seed(seed));
    }
    const std::string problems = problems_text(protocol, {.scenario = scenario}, path);
    if (!problems.empty()) return Error{Errc::invalid_argument, 0, problems};
    return scenario;
}

} // namespace promtact::sim
