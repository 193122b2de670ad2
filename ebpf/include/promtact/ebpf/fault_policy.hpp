// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the fault programs shall do, as a value that is checked before it reaches a map, and the
// model of what they will decide.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/ebpf/fault_shared.h>

namespace promtact::ebpf {

/// An IPv4 or IPv6 address to partition from; IPv4 is kept as ::ffff:a.b.c.d.
class IpAddress {
  public:
    /// Errors: invalid_argument; the unspecified address is none.
    static Result<IpAddress> parse(std::string_view text);
    static Result<IpAddress> from_bytes(const std::array<std::uint8_t, 16>& mapped);
    const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }
    friend bool operator==(const IpAddress&, const IpAddress&) = default;

  private:
    explicit IpAddress(const std::array<std::uint8_t, 16>& bytes) noexcept : bytes_(bytes) {}
    std::array<std::uint8_t, 16> bytes_{};
};

enum class CorruptMode : std::uint8_t {
    detected,   // the checksum stays as it was: the receiver must discard the packet
    undetected, // the checksum is brought along: the receiver gets wrong bytes
};

/// Rates of the two hooks are independent of each other. A packet's fate is decided by its index on
/// the hook, see xdp_drops() and its neighbours.
struct FaultPolicy {
    std::uint64_t seed = 0;
    std::uint64_t xdp_link = 0;       // link argument of promtact_choose
    std::uint64_t tc_link = 0;        // the same for the other hook
    std::uint32_t xdp_drop_ppm = 0;   // 0 to 1'000'000, as every rate
    std::uint32_t tc_drop_ppm = 0;    //
    std::uint32_t tc_corrupt_ppm = 0; // of what TC did not drop
    CorruptMode corrupt_mode = CorruptMode::detected;
    std::optional<IpAddress> blocked_source{};      // at XDP
    std::optional<IpAddress> blocked_destination{}; // at XDP
    std::uint8_t match_protocol = 0; // rates concern this IP protocol only; 0 = all of IP
    friend bool operator==(const FaultPolicy&, const FaultPolicy&) = default;
};

/// Errors: invalid_argument naming the field and its bounds.
Result<void> check(const FaultPolicy& policy);

/// The layout the programs read, and back. Errors of from_shared: corrupt.
/// Requires: check(policy)
promtact_fault_policy to_shared(const FaultPolicy& policy);
Result<FaultPolicy> from_shared(const promtact_fault_policy& shared);

/// What the programs decide about the packet with this index on their hook.
bool xdp_drops(const FaultPolicy& policy, std::uint64_t index) noexcept;
bool tc_drops(const FaultPolicy& policy, std::uint64_t index) noexcept;
/// Requires: !tc_drops(policy, index)
bool tc_corrupts(const FaultPolicy& policy, std::uint64_t index) noexcept;
/// Which bit of a payload of this many bytes is flipped; bit 0 is the lowest of the first byte.
std::uint32_t
corrupted_bit(const FaultPolicy& policy, std::uint64_t index, std::uint32_t payload_bytes) noexcept;

} // namespace promtact::ebpf
