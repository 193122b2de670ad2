// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A gate: a question about this host or this build, asked the same way every time, answered with a
// verdict and measurements, and shipped with proof that it can answer no.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/gates/measurement.hpp>
#include <promtact/gates/verdict.hpp>

namespace promtact::gates {

enum class Tier : std::uint8_t { kernel, storage, network, protocol, model };
std::string_view to_string(Tier tier) noexcept;

/// quick gates run in the default campaign, full ones only with --class full. A gate in the quick
/// campaign takes its smaller sample when GateContext::sample() is quick, and says so in its
/// parameters.
enum class GateClass : std::uint8_t { quick, full };
std::string_view to_string(GateClass gate_class) noexcept;

/// What the host must offer before the body is worth running. The runner checks needs and turns a
/// missing one into `unsupported` or `denied` with the thing named.
struct Need {
    enum class Kind : std::uint8_t { capability, kconfig, root, path } kind = Kind::path;
    std::string_view name{};   // CAP_NET_ADMIN, CONFIG_NET_SCH_NETEM, /sys/kernel/btf/vmlinux
    std::string_view remedy{}; // what the operator can do about it
};

/// The static facts of a gate. All texts are shown to people and stored in results.
struct GateInfo {
    std::string_view id{}; // folder name under gates/
    std::uint32_t revision =
        1; // bump when the body changes what it establishes; older results render as stale
    Tier tier = Tier::kernel;
    GateClass gate_class = GateClass::quick;
    std::string_view title{};
    std::span<const std::string_view> qualifies{};      // unit folders
    std::span<const std::string_view> requires_gates{}; // ids that must have passed
    std::span<const Need> needs{};
    std::chrono::milliseconds budget{};      // for the body; the same again for the control
    std::chrono::milliseconds full_budget{}; // for the full sample; zero: the same
    std::string_view establishes{};
    std::string_view does_not_establish{};
    std::string_view control{};        // name of the injected sabotage, snake_case
    std::string_view control_breaks{}; // what it breaks, one sentence
    std::string_view remedy{};         // what to do when the gate fails
};

/// What a run with that sample may take.
constexpr std::chrono::milliseconds budget_of(const GateInfo& info, GateClass sample) noexcept {
    return sample == GateClass::full && info.full_budget.count() > 0 ? info.full_budget
                                                                     : info.budget;
}

/// What the operator asked for; the same for every gate of a run.
struct GateOptions {
    std::filesystem::path directory{}; // where storage gates put their files; default: the output
                                       // directory's filesystem
    std::filesystem::path
        device{}; // block device for durable_write_block; empty: a loop device we make
    std::string confirm_destroy{};   // must be "ERASE:<canonical path>" when device is set
    std::uint64_t expected_size = 0; // bytes; must match when device is set
    std::uint64_t seed = 0x4A2C;
    GateClass sample = GateClass::quick;
};

/// Given to a body by the runner.
class GateContext {
  public:
    using StepFunction = std::function<void(std::string_view)>;

    GateContext(const GateOptions& options, bool sabotaged, StepFunction on_step)
        : options_(options), sabotaged_(sabotaged), on_step_(std::move(on_step)) {}

    const GateOptions& options() const noexcept { return options_; }
    /// True in the negative-control run: the body must then inject the sabotage named by
    /// GateInfo::control and otherwise do exactly the same. The runner expects `fail`.
    bool sabotaged() const noexcept { return sabotaged_; }
    bool quick() const noexcept { return options_.sample == GateClass::quick; }
    /// Announces a step: live progress, and a kill point.
    void step(std::string_view what) const;

  private:
    const GateOptions& options_;
    bool sabotaged_;
    StepFunction on_step_;
};

/// What a body found. A body that returns an Error instead gets unsupported (Errc::unsupported),
/// denied (Errc::denied) or error (anything else), with the error's text as reason.
struct GateReport {
    Verdict verdict = Verdict::fail;
    std::string reason{};  // required unless pass
    std::string remedy{};  // more specific than GateInfo::remedy; optional
    std::string summary{}; // one short line for the terminal, for example "1,000 records replayed
                           // bit-exact"
    std::vector<Parameter> parameters{};
    std::vector<Measurement> measurements{};
    std::vector<std::string> notes{};
};

/// The body and its control are one function, so a control cannot skip the body.
using GateBody = Result<GateReport> (*)(const GateContext& context);

/// One line of the catalog. Requires: both pointers are set
struct GateEntry {
    const GateInfo* info = nullptr;
    GateBody body = nullptr;
};

/// All gates in run order: gates/catalog.cpp, one line each. Defined by promtact::gate_catalog.
std::span<const GateEntry> catalog();

} // namespace promtact::gates
