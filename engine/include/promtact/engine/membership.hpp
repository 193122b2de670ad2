// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The nodes of a run, numbered without gaps, and sets of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/fault.hpp>

namespace promtact::engine {

/// The nodes of a run by index, 0 to size() - 1, in the order of the cluster.
class Membership {
  public:
    static constexpr std::uint32_t unknown = ~std::uint32_t{0};
    static constexpr std::uint32_t id_max = 1U << 20;

    /// Requires: ids differ and are at most id_max
    explicit Membership(std::span<const NodeId> ids) : ids_(ids.begin(), ids.end()) {
        for (std::uint32_t index = 0; index < ids_.size(); ++index) {
            const std::uint32_t id = ids_[index].value();
            PROMTACT_ASSERT(id <= id_max);
            if (by_id_.size() <= id) by_id_.resize(id + 1, unknown);
            PROMTACT_ASSERT(by_id_[id] == unknown);
            by_id_[id] = index;
        }
    }

    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(ids_.size());
    }
    [[nodiscard]] NodeId id(std::uint32_t index) const noexcept {
        PROMTACT_ASSERT(index < ids_.size());
        return ids_[index];
    }
    [[nodiscard]] std::span<const NodeId> ids() const noexcept { return ids_; }
    /// unknown when no node has that id.
    [[nodiscard]] std::uint32_t index(NodeId id) const noexcept {
        return id.value() < by_id_.size() ? by_id_[id.value()] : unknown;
    }

  private:
    std::vector<NodeId> ids_;
    std::vector<std::uint32_t> by_id_{};
};

/// A set of nodes by index.
class NodeSet {
  public:
    NodeSet() = default;
    NodeSet(const Membership& members, std::span<const NodeId> ids) : in_(members.size(), false) {
        for (const NodeId id : ids) {
            const std::uint32_t index = members.index(id);
            PROMTACT_ASSERT(index != Membership::unknown);
            in_[index] = true;
        }
    }
    /// An empty list of a file means everybody.
    static NodeSet all_when_empty(const Membership& members, std::span<const NodeId> ids) {
        return ids.empty() ? NodeSet(members, members.ids()) : NodeSet(members, ids);
    }
    [[nodiscard]] bool has(std::uint32_t index) const noexcept {
        PROMTACT_ASSERT(index < in_.size());
        return in_[index];
    }

  private:
    std::vector<bool> in_{};
};

} // namespace promtact::engine
