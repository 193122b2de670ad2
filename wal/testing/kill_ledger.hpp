// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The external ledger of the kill test: what a writer process said before it was killed, and what
// its log must therefore hold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <promtact/wal/log.hpp>

namespace promtact::wal::testing {

/// Who appended a record, and as its which. The payload follows from it.
struct KillRecord {
    std::uint32_t cycle = 0;
    std::uint32_t thread = 0;
    std::uint64_t counter = 0;
    friend bool operator==(const KillRecord&, const KillRecord&) = default;
};

std::vector<std::byte> kill_payload(const KillRecord& record);
/// Nothing when the bytes are not the payload of any record.
std::optional<KillRecord> parse_kill_payload(std::span<const std::byte> payload);

/// What the writer says, whole or not at all: it fits into PIPE_BUF.
struct KillMessage {
    enum class Kind : std::uint32_t {
        opened,     // a: last LSN
        durable,    // a: LSN, of `record`
        truncating, // a: LSN the truncation will have, b: keep_through
        truncated,  // the same, durable
        releasing,  // a: first live LSN asked for
        failed,     // a: Errc, b: errno; the writer ends
    };
    Kind kind = Kind::failed;
    std::uint32_t unused = 0;
    KillRecord record{};
    std::uint64_t a = 0;
    std::uint64_t b = 0;
};

/// A record as the log returned it; nothing when its payload is none of ours.
struct KillSeen {
    Lsn lsn = 0;
    std::optional<KillRecord> record{};
};

class KillLedger {
  public:
    void hear(const KillMessage& message);
    /// The log was opened: it goes from first_live to last and holds these live records, ascending.
    void compare(Lsn first_live, Lsn last, std::span<const KillSeen> seen);

    [[nodiscard]] const std::vector<std::string>& complaints() const noexcept {
        return complaints_;
    }
    [[nodiscard]] std::uint64_t acknowledged() const noexcept { return acknowledged_; }
    [[nodiscard]] std::uint64_t unacknowledged() const noexcept { return unacknowledged_; }
    [[nodiscard]] std::uint64_t truncations() const noexcept { return truncations_; }

  private:
    struct Truncation {
        Lsn lsn = 0;
        Lsn keep = 0;
    };
    void settle(Lsn last);
    void promise_through(Lsn last);
    void drop(const Truncation& truncation);
    [[nodiscard]] bool voided(Lsn lsn) const noexcept;
    void complain(const char* what, Lsn lsn);

    // What must be there. A record that was found without having been acknowledged must stay, too;
    // whose it is, is known once it was read.
    std::map<Lsn, std::optional<KillRecord>> live_{};
    std::vector<Truncation> truncated_{};
    std::optional<Truncation> pending_{};
    Lsn promised_ = 0;
    Lsn release_asked_ = 1;
    std::vector<std::string> complaints_{};
    std::uint64_t acknowledged_ = 0;
    std::uint64_t unacknowledged_ = 0; // found all the same
    std::uint64_t truncations_ = 0;
};

} // namespace promtact::wal::testing
