// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Is this host qualified for what a program is about to do? Answered from result files alone, so
// that a service can refuse a host without linking a single gate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/gates/host_facts.hpp>

namespace promtact::gates {

struct QualificationQuestion {
    std::string gate{};           // "direct_wal"
    std::uint64_t revision = 1;   // results of an older revision do not count
    std::string kernel{};         // release of the running kernel
    std::string kernel_version{}; // build of the running kernel; empty: any
    std::string device{};         // whole disk below the data directory; empty: the gate needs none
};

/// The question as this process would ask it. directory: where the data will be; empty for gates
/// that touch no disk.
QualificationQuestion qualification_question(
    std::string_view gate, std::uint64_t revision, const std::filesystem::path& directory);

struct Qualification {
    bool qualified = false;
    /// One sentence: which result qualifies, or why none does and what to run.
    std::string reason{};
    std::filesystem::path campaign{}; // of the result that decided; empty when there is none
};

/// Decided by the newest intact result that fits kernel, device and revision, accepted or local.
/// folders: as result_folders() gives them. Broken campaigns never qualify.
Qualification
qualify(const QualificationQuestion& question, std::span<const std::filesystem::path> folders);

/// Where results are looked for: `named` (folders with colons between), else PROMTACT_RESULTS, else
/// results/hosts. A folder that has a hosts/ inside stands for that.
std::vector<std::filesystem::path> result_folders(std::string_view named);

} // namespace promtact::gates
