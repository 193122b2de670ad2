// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What exists now, in a canonical text: taken before and after, it shows whether anything was left
// behind or touched. Looks only; changes nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/netns/namespace.hpp>

namespace promtact::netns {

/// What an inventory lists. Counters, lifetimes and other things that change by themselves are
/// never part of it.
enum class Part : std::uint32_t {
    links = 1U << 0,        // of one namespace, with flags, MAC, MTU, group, alias, master
    addresses = 1U << 1,    // of one namespace
    routes = 1U << 2,       // of one namespace
    qdiscs = 1U << 3,       // of one namespace
    attachments = 1U << 4,  // XDP, tcx and clsact programs on its links
    names = 1U << 5,        // /run/netns and our claims
    bpf_objects = 1U << 6,  // programs, maps and links called promtact*, of the whole host
    mounts = 1U << 7,       // of this mount namespace
    loop_devices = 1U << 8, // with a backing file, of the whole host
    held = 1U << 9,         // network namespaces that descriptors of this process keep alive
};

/// A set of Part.
class Parts {
  public:
    constexpr Parts() = default;
    constexpr Parts(Part part) : bits_(static_cast<std::uint32_t>(part)) {} // implicit on purpose
    constexpr bool has(Part part) const noexcept {
        return (bits_ & static_cast<std::uint32_t>(part)) != 0;
    }
    friend constexpr Parts operator|(Parts a, Parts b) noexcept {
        Parts out;
        out.bits_ = a.bits_ | b.bits_;
        return out;
    }

  private:
    std::uint32_t bits_ = 0;
};
constexpr Parts operator|(Part a, Part b) noexcept {
    return Parts{a} | Parts{b};
}

/// Everything of one namespace that a management interface consists of.
inline constexpr Parts interface_parts =
    Part::links | Part::addresses | Part::routes | Part::qdiscs | Part::attachments;
/// interface_parts and what our network units could leave on the host.
inline constexpr Parts network_parts =
    interface_parts | Part::names | Part::held | Part::bpf_objects;
inline constexpr Parts all_parts = network_parts | Part::mounts | Part::loop_devices;

/// Sorted lines, one per thing.
struct Inventory {
    std::vector<std::string> lines{};
    std::string text() const;
    friend bool operator==(const Inventory&, const Inventory&) = default;
};

struct InventoryDifference {
    std::vector<std::string> gone{};
    std::vector<std::string> appeared{};
    bool empty() const noexcept { return gone.empty() && appeared.empty(); }
    /// One line per thing, "- " or "+ " in front; empty when equal.
    std::string text() const;
};

/// Of the calling thread's namespace. What may not be seen appears as a line saying so.
Result<Inventory> take_inventory(Parts parts);
/// Of a namespace made by us.
Result<Inventory> take_inventory(const Namespace& where, Parts parts);

/// What is in one inventory and not in the other, line by line.
InventoryDifference difference(const Inventory& before, const Inventory& after);

/// Repeats the inventory until it equals before or the deadline passes (the kernel dismantles
/// namespaces in the background), and returns the last difference.
Result<InventoryDifference>
wait_until_equal(const Inventory& before, Parts parts, std::chrono::milliseconds deadline);

} // namespace promtact::netns
