// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Mends a log that is refused, at the price its operator names. Looking changes nothing; mending
// first keeps a durable copy, under a name the log ignores, of everything it takes away; killed at
// any step it can be begun again and arrives at the same log. Target promtact::wal_tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/explain.hpp>

namespace promtact::wal {

/// What the operator agrees to. Nothing is mended without the flag of its case.
struct RepairConsent {
    bool drop_tail = false;
    /// The first LSN to be given up, exactly as the verdict names it.
    std::optional<Lsn> truncate_at{};
    bool rebuild_super = false;
    bool strict = false; // judge as ScanOptions::strict

    [[nodiscard]] bool any() const noexcept { return drop_tail || truncate_at || rebuild_super; }
};

/// What a repair would do, or did.
struct RepairPlan {
    RepairCase which = RepairCase::none;
    ScanReport report{};         // why
    std::string refusal{};       // why this case cannot be mended in place; empty when it can
    Lsn lost_first = 0;          // records given up; 0 when none
    Lsn lost_last = 0;           // the highest there is a trace of
    std::uint64_t segment = 0;   // drop_tail, truncate_at: the newest one afterwards
    std::uint32_t end_block = 0; // of it: the first block that does not stay
    bool cut = false;            // it has to be written anew
    std::vector<std::string> removed{}; // files set aside whole
    Super super{};                      // as it will be
    std::vector<std::string> debris{};  // of an earlier repair that was cut off

    /// Each step in words, in order.
    [[nodiscard]] std::vector<std::string> steps() const;
};

/// Judges the log and says what would mend it. Writes nothing.
/// Errors: io; those of the storage. A log that needs no repair is a plan with which == none.
Result<RepairPlan> plan_repair(Storage& storage, bool strict);

/// Carries out a plan. Requires: nothing else has the log open
/// Durable: yes
/// Errors: refused (the consent is not for this case, or the case cannot be mended); io; no_space
/// (names what is needed; the copies made are removed again).
/// After an error or a crash the log is refused as before, or mended; plan and repair again.
Result<void> repair(Storage& storage, const RepairPlan& plan, const RepairConsent& consent);

inline constexpr std::string_view quarantine_suffix = ".quarantine";

} // namespace promtact::wal
