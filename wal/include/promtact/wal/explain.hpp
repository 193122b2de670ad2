// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A scan's verdict in words for the person who has to act on it: where, by which rule, what is lost
// at most, and what helps. Target promtact::wal_tools.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <promtact/base/errc.hpp>
#include <promtact/wal/scan.hpp>

namespace promtact::wal {

/// What mends a log that is refused; each is a flag of `promtact wal repair`, named alike.
enum class RepairCase : std::uint8_t {
    none,          // nothing to mend, or nothing that a repair could
    drop_tail,     // cut the newest segment where its tail is damaged
    truncate_at,   // give up every record from an LSN on
    rebuild_super, // write SUPER anew from the segments
    salvage,       // no repair in place: export what can be read
};
std::string_view to_string(RepairCase which) noexcept;

/// What is known of the damage.
struct Explanation {
    std::string verdict{}; // "refused: corrupt"
    std::string where{};   // "wal-0000000000000009.seg, block 4 (byte 16384)"; empty when nowhere
    std::string rule{};    // "R3: frames follow one another …"; empty when none decided
    std::string why{};     // what was found
    std::string stands{};  // what can be believed
    std::string lost{};    // what is lost at most
    std::string helps{};   // what to do next; empty when nothing is to be done
    RepairCase repair = RepairCase::none;
    Errc code = Errc::corrupt; // of an error that says this; only when refused
};

/// Requires: the report of a finished scan
Explanation explain(const ScanReport& report);

/// One sentence that says what a rule of wal/FORMAT.md demands; empty for an unknown one.
std::string_view rule_words(std::string_view rule) noexcept;

/// The file a report speaks of: "SUPER" or a segment's name.
std::string place_of(const ScanReport& report);

} // namespace promtact::wal
