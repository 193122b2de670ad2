// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "delay_internal.hpp"

namespace promtact::gates::link_delay {
namespace {

std::string microseconds(std::uint64_t ns) {
    return std::to_string(ns / 1000) + " us";
}

std::string judge_plain(const char* what, const RoundTrips& trips, std::uint64_t limit_ns) {
    const std::string name = what;
    if (trips.lost != 0) {
        return name + ": " + std::to_string(trips.lost) + " of " + std::to_string(trips.sent) +
               " probes were lost";
    }
    const std::uint64_t fastest = trips.latency_ns.percentile_ppm(fastest_ppm);
    if (fastest > limit_ns) {
        return name + ": the fastest tenth of the round trips took up to " + microseconds(fastest) +
               ", more than " + microseconds(limit_ns);
    }
    return {};
}

} // namespace

std::string judge(const Measured& measured) {
    const std::uint64_t base = measured.before.latency_ns.percentile_ppm(fastest_ppm);
    if (std::string finding = judge_plain("before the delay", measured.before, tolerance_ns);
        !finding.empty())
        return finding;
    if (std::string finding = judge_plain(
            "with the delay", measured.delayed, base + measured.delay_ns + tolerance_ns);
        !finding.empty())
        return finding;
    // A queueing discipline may release a packet late, never early.
    if (measured.delayed.latency_ns.min() < measured.delay_ns) {
        return "with the delay: a round trip took " +
               microseconds(measured.delayed.latency_ns.min()) + ", less than the configured " +
               microseconds(measured.delay_ns);
    }
    if (std::string finding =
            judge_plain("the other link meanwhile", measured.beside, base + tolerance_ns);
        !finding.empty())
        return finding;
    return judge_plain("after the delay", measured.after, base + tolerance_ns);
}

} // namespace promtact::gates::link_delay
