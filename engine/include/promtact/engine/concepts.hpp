// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a protocol offers to be simulated: four functions of the cluster and two of the wire. All
// further abilities are detected and never required.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/fault.hpp>
#include <promtact/base/trace_hash.hpp>

namespace promtact::engine {

/// Where a message goes.
struct Route {
    NodeId from{};
    NodeId to{};
    friend bool operator==(const Route&, const Route&) = default;
};

/// What a node wants to send, in order. The engine empties and reuses it: a steady run allocates
/// nothing.
template <class Message>
class Outbox {
  public:
    void send(const Message& message) { messages_.push_back(message); }
    void send(Message&& message) { messages_.push_back(std::move(message)); }
    [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
    [[nodiscard]] std::span<Message> messages() noexcept { return messages_; }
    void clear() noexcept { messages_.clear(); }

  private:
    std::vector<Message> messages_{};
};

namespace detail {

template <class C>
concept HasMessage = requires {
    typename C::Message;
}
&&std::movable<typename C::Message>&& std::copy_constructible<typename C::Message>;
template <class C>
concept HasNodes = requires(const C& cluster) {
    { cluster.nodes() } -> std::convertible_to<std::span<const NodeId>>;
};
template <class C>
concept HasTick = requires(C& cluster, NodeId node) {
    cluster.tick(node);
};
template <class C>
concept HasDeliver = requires(C& cluster, NodeId node, const typename C::Message& message) {
    cluster.deliver(node, message);
};
template <class C>
concept HasDrain = requires(C& cluster, NodeId node, Outbox<typename C::Message>& outbox) {
    cluster.drain(node, outbox);
};
template <class W, class Message>
concept HasRoute = requires(const W& wire, const Message& message) {
    { wire.route(message) } -> std::same_as<Route>;
};
template <class W, class Message>
concept HasDigest = requires(const W& wire, const Message& message) {
    { wire.digest(message) } -> std::same_as<Digest128>;
};

} // namespace detail

/// The nodes of a protocol. All functions are deterministic: no clock, no address, no hash order.
///   nodes()               ids in a fixed order; the same while the engine exists
///   tick(node)            time passes for the node
///   deliver(node, msg)    the node receives a message
///   drain(node, outbox)   moves everything the node wants to send into the outbox
template <class C>
concept Cluster = detail::HasMessage<C> && detail::HasNodes<C> && detail::HasTick<C> &&
    detail::HasDeliver<C> && detail::HasDrain<C>;

/// What the engine must know of a message.
///   route(msg)            from and to
///   digest(msg)           of all that a receiver can tell apart; it enters the trace hash
template <class W, class Message>
concept Wire = detail::HasRoute<W, Message> && detail::HasDigest<W, Message>;

/// Names the first thing that is missing, instead of the concept as a whole.
template <class C, class W>
consteval bool check_protocol() {
    static_assert(
        detail::HasMessage<C>,
        "the cluster needs a member type Message that can be copied and moved");
    if constexpr (detail::HasMessage<C>) {
        using M = typename C::Message;
        static_assert(
            detail::HasNodes<C>, "the cluster needs: std::span<const NodeId> nodes() const");
        static_assert(detail::HasTick<C>, "the cluster needs: void tick(NodeId)");
        static_assert(
            detail::HasDeliver<C>, "the cluster needs: void deliver(NodeId, const Message&)");
        static_assert(
            detail::HasDrain<C>, "the cluster needs: void drain(NodeId, engine::Outbox<Message>&)");
        static_assert(
            detail::HasRoute<W, M>, "the wire needs: engine::Route route(const Message&) const");
        static_assert(
            detail::HasDigest<W, M>, "the wire needs: Digest128 digest(const Message&) const");
    }
    return true;
}

// --- abilities ---

/// crash(node): its memory is lost and it stops. restart(node): it comes back with what it had made
/// durable. While a node is down it is neither ticked nor reached.
template <class C>
concept Crashable = Cluster<C> && requires(C& cluster, NodeId node) {
    cluster.crash(node);
    cluster.restart(node);
};

/// set_clock(node, ns): what the node's own clock shows; called before its tick. Without it a fast
/// or slow clock is more or fewer ticks.
template <class C>
concept Clocked = Cluster<C> && requires(C& cluster, NodeId node, std::int64_t ns) {
    cluster.set_clock(node, ns);
};

/// disk(node): the node's disk, a SimDisk (sim_disk.hpp). The engine advances it before the node is
/// ticked, lets the plan's disk faults loose on it, and crashes it before the node.
template <class C>
concept HasDisks = Cluster<C> && requires(C& cluster, NodeId node) {
    cluster.disk(node).advance(Step{});
    cluster.disk(node).crash();
    { cluster.disk(node).fired(std::uint32_t{}) } -> std::convertible_to<std::uint64_t>;
};

/// corrupt(msg, bits): changes the message as its receiver could see it changed. Without it a
/// corrupted message is lost, as behind a checksum.
template <class W, class Message>
concept Corrupting = Wire<W, Message> &&
    requires(const W& wire, Message& message, std::uint64_t bits) {
    wire.corrupt(message, bits);
};

/// size(msg): bytes on the wire. A fault that limits the rate of a link needs it.
template <class W, class Message>
concept Sized = Wire<W, Message> && requires(const W& wire, const Message& message) {
    { wire.size(message) } -> std::convertible_to<std::uint64_t>;
};

/// A copy of the whole cluster, and a value that is equal for equal states only.
template <class C>
concept Cloneable = Cluster<C> && requires(const C& cluster) {
    { cluster.clone() } -> std::same_as<C>;
};
template <class C>
concept Fingerprinted = Cluster<C> && requires(const C& cluster) {
    { cluster.fingerprint() } -> std::same_as<Digest128>;
};

/// Words for reports and the viewer.
template <class W, class Message>
concept DescribesMessages = Wire<W, Message> && requires(const W& wire, const Message& message) {
    { wire.describe(message) } -> std::convertible_to<std::string>;
};
template <class C>
concept DescribesNodes = Cluster<C> && requires(const C& cluster, NodeId node) {
    { cluster.describe(node) } -> std::convertible_to<std::string>;
};

} // namespace promtact::engine
