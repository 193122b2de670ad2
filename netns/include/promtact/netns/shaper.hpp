// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Delay and loss on one link by the kernel's netem queueing discipline.
#pragma once

#include <chrono>
#include <cstdint>

#include <promtact/base/result.hpp>
#include <promtact/netns/link.hpp>

namespace promtact::netns {

/// Integers only: there is no text form to misread and no NaN.
struct Shape {
    std::chrono::nanoseconds delay{0};  // 0 to one minute
    std::chrono::nanoseconds jitter{0}; // at most delay
    std::uint32_t loss_ppm = 0;         // 0 to 1'000'000
    /// Packets waiting at most; more are lost without being asked for. At least delay times the
    /// packet rate.
    std::uint32_t limit_packets = 10'000;
    friend bool operator==(const Shape&, const Shape&) = default;
};

/// Errors: invalid_argument naming the field and its bounds.
Result<void> check(const Shape& shape);

/// A netem qdisc at the root of one link; removed by the destructor. Lifetime: link must outlive
/// it.
class Shaper {
  public:
    /// Installs the shape and reads it back from the kernel.
    /// Errors: invalid_argument; unsupported naming CONFIG_NET_SCH_NETEM; exists (the link is
    /// shaped already); denied naming CAP_NET_ADMIN.
    static Result<Shaper> install(Link& link, const Shape& shape);
    /// Whether install could work, found by installing an empty shape and removing it again.
    static Result<void> probe(Link& link);

    Shaper(Shaper&& other) noexcept : link_(std::exchange(other.link_, nullptr)) {}
    Shaper& operator=(Shaper&&) = delete;
    Shaper(const Shaper&) = delete;
    ~Shaper();

    Result<void> remove();

  private:
    explicit Shaper(Link& link) noexcept : link_(&link) {}
    static Result<Shape> read_back(Link& link);

    Link* link_;
};

} // namespace promtact::netns
