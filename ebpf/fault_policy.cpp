// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstring>

#include <arpa/inet.h>

#include <promtact/ebpf/fault_policy.hpp>

namespace promtact::ebpf {
namespace {

constexpr std::uint32_t ppm_max = 1'000'000;
constexpr std::size_t address_text_max = 64;
constexpr std::uint32_t known_flags =
    PROMTACT_FAULT_BLOCK_SOURCE | PROMTACT_FAULT_BLOCK_DESTINATION | PROMTACT_FAULT_REPAIR_CHECKSUM;

bool unspecified(const std::array<std::uint8_t, 16>& mapped) {
    const std::array<std::uint8_t, 16> v6{};
    std::array<std::uint8_t, 16> v4{};
    v4[10] = 0xff;
    v4[11] = 0xff;
    return mapped == v6 || mapped == v4;
}

bool chance(
    const FaultPolicy& policy, std::uint32_t purpose, std::uint64_t link, std::uint64_t index,
    std::uint32_t ppm) noexcept {
    return promtact_chance(promtact_choose(policy.seed, purpose, link, index), ppm) != 0;
}

Result<std::optional<IpAddress>>
read_block(const promtact_fault_policy& shared, std::uint32_t flag, const unsigned char* bytes) {
    if ((shared.flags & flag) == 0) return std::optional<IpAddress>{};
    std::array<std::uint8_t, 16> mapped{};
    std::memcpy(mapped.data(), bytes, mapped.size());
    PROMTACT_TRY_ASSIGN(const IpAddress address, IpAddress::from_bytes(mapped));
    return std::optional<IpAddress>{address};
}

} // namespace

Result<IpAddress> IpAddress::parse(std::string_view text) {
    const std::string shown{text.substr(0, address_text_max)};
    std::array<std::uint8_t, 16> mapped{};
    const bool v4 = shown.find(':') == std::string::npos;
    if (v4) {
        mapped[10] = 0xff;
        mapped[11] = 0xff;
    }
    const int parsed =
        ::inet_pton(v4 ? AF_INET : AF_INET6, shown.c_str(), mapped.data() + (v4 ? 12 : 0));
    if (parsed != 1 || text.size() > address_text_max)
        return Error{Errc::invalid_argument, 0, "\"" + shown + "\" is no IP address"};
    return from_bytes(mapped);
}

Result<IpAddress> IpAddress::from_bytes(const std::array<std::uint8_t, 16>& mapped) {
    if (unspecified(mapped)) {
        return Error{
            Errc::invalid_argument, 0, "the unspecified address belongs to nobody to be blocked"};
    }
    return IpAddress{mapped};
}

Result<void> check(const FaultPolicy& policy) {
    struct Rate {
        const char* name;
        std::uint32_t ppm;
    };
    for (const Rate& rate :
         {Rate{"xdp drop", policy.xdp_drop_ppm}, Rate{"tc drop", policy.tc_drop_ppm},
          Rate{"tc corrupt", policy.tc_corrupt_ppm}}) {
        if (rate.ppm > ppm_max) {
            return Error{
                Errc::invalid_argument, 0,
                std::string{rate.name} + " rate is " + std::to_string(rate.ppm) +
                    " ppm, allowed are 0 to 1000000"};
        }
    }
    return {};
}

promtact_fault_policy to_shared(const FaultPolicy& policy) {
    PROMTACT_ASSERT(check(policy));
    promtact_fault_policy shared{};
    shared.seed = policy.seed;
    shared.xdp_link = policy.xdp_link;
    shared.tc_link = policy.tc_link;
    shared.xdp_drop_ppm = policy.xdp_drop_ppm;
    shared.tc_drop_ppm = policy.tc_drop_ppm;
    shared.tc_corrupt_ppm = policy.tc_corrupt_ppm;
    shared.match_protocol = policy.match_protocol;
    if (policy.corrupt_mode == CorruptMode::undetected)
        shared.flags |= PROMTACT_FAULT_REPAIR_CHECKSUM;
    if (policy.blocked_source) {
        shared.flags |= PROMTACT_FAULT_BLOCK_SOURCE;
        std::memcpy(shared.blocked_source, policy.blocked_source->bytes().data(), 16);
    }
    if (policy.blocked_destination) {
        shared.flags |= PROMTACT_FAULT_BLOCK_DESTINATION;
        std::memcpy(shared.blocked_destination, policy.blocked_destination->bytes().data(), 16);
    }
    return shared;
}

Result<FaultPolicy> from_shared(const promtact_fault_policy& shared) {
    if ((shared.flags & ~known_flags) != 0)
        return Error{Errc::corrupt, 0, "fault policy in the map has unknown flags"};
    FaultPolicy policy;
    policy.seed = shared.seed;
    policy.xdp_link = shared.xdp_link;
    policy.tc_link = shared.tc_link;
    policy.xdp_drop_ppm = shared.xdp_drop_ppm;
    policy.tc_drop_ppm = shared.tc_drop_ppm;
    policy.tc_corrupt_ppm = shared.tc_corrupt_ppm;
    policy.match_protocol = shared.match_protocol;
    const bool repaired = (shared.flags & PROMTACT_FAULT_REPAIR_CHECKSUM) != 0;
    policy.corrupt_mode = repaired ? CorruptMode::undetected : CorruptMode::detected;
    PROMTACT_TRY_ASSIGN(
        policy.blocked_source,
        read_block(shared, PROMTACT_FAULT_BLOCK_SOURCE, shared.blocked_source));
    PROMTACT_TRY_ASSIGN(
        policy.blocked_destination,
        read_block(shared, PROMTACT_FAULT_BLOCK_DESTINATION, shared.blocked_destination));
    if (const Result<void> bounds = check(policy); !bounds)
        return Error{Errc::corrupt, 0, "fault policy in the map: " + bounds.error().context};
    return policy;
}

bool xdp_drops(const FaultPolicy& policy, std::uint64_t index) noexcept {
    return chance(policy, PROMTACT_PURPOSE_LOSS, policy.xdp_link, index, policy.xdp_drop_ppm);
}

bool tc_drops(const FaultPolicy& policy, std::uint64_t index) noexcept {
    return chance(policy, PROMTACT_PURPOSE_LOSS, policy.tc_link, index, policy.tc_drop_ppm);
}

bool tc_corrupts(const FaultPolicy& policy, std::uint64_t index) noexcept {
    PROMTACT_ASSERT(!tc_drops(policy, index));
    return chance(policy, PROMTACT_PURPOSE_CORRUPT, policy.tc_link, index, policy.tc_corrupt_ppm);
}

std::uint32_t corrupted_bit(
    const FaultPolicy& policy, std::uint64_t index, std::uint32_t payload_bytes) noexcept {
    PROMTACT_ASSERT(payload_bytes > 0);
    PROMTACT_ASSERT(payload_bytes <= 0xffff);
    const std::uint64_t bits =
        promtact_choose(policy.seed, PROMTACT_PURPOSE_CORRUPT_BIT, policy.tc_link, index);
    return promtact_bounded(bits, payload_bytes * 8);
}

} // namespace promtact::ebpf
