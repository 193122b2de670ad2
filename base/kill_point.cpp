// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <atomic>
#include <csignal>

#include <unistd.h>

#include <promtact/base/env.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/numbers.hpp>

namespace promtact {
namespace {

std::uint64_t armed_from_environment() noexcept {
    const std::optional<std::string> text = environment_value("PROMTACT_KILL_AT");
    // A malformed number arms nothing; check_environment() is where it is reported.
    return text.has_value() ? parse_u64(*text).value_or(0) : 0;
}

std::atomic<std::uint64_t> passed{0};
std::atomic<std::uint64_t>& armed() noexcept {
    static std::atomic<std::uint64_t> at{armed_from_environment()};
    return at;
}

} // namespace

void kill_point() noexcept {
    const std::uint64_t number = passed.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number == armed().load(std::memory_order_relaxed))
        static_cast<void>(::kill(::getpid(), SIGKILL));
}

std::uint64_t kill_points_passed() noexcept {
    return passed.load(std::memory_order_relaxed);
}

void arm_kill_point(std::uint64_t n) noexcept {
    armed().store(n == 0 ? 0 : kill_points_passed() + n, std::memory_order_relaxed);
}

} // namespace promtact
