// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Clients of a replicated map in a run: what they ask and what they are answered.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <promtact/engine/concepts.hpp>

namespace promtact::engine {

enum class ClientCommand : std::uint8_t { read, write, compare_and_set };

constexpr std::string_view to_string(ClientCommand command) noexcept {
    constexpr std::array<std::string_view, 3> names{"read", "write", "cas"};
    return names[static_cast<std::size_t>(command)];
}

/// One question. A client has one at a time; its id is the same when it asks again.
struct ClientOperation {
    std::uint64_t client = 0;
    std::uint64_t id = 0; // from 1, of all clients
    ClientCommand command = ClientCommand::read;
    std::uint64_t key = 0;
    std::uint64_t value = 0;                 // write, compare_and_set: the new one
    std::optional<std::uint64_t> expected{}; // compare_and_set: the old one, nothing: not there
};

struct ClientAnswer {
    std::uint64_t client = 0;
    std::uint64_t id = 0;
    bool done = true;                     // false: it did not happen and never will
    bool succeeded = true;                // compare_and_set: whether it changed the value
    std::optional<std::uint64_t> value{}; // read: what was there
};

/// Of all that a client sees; it enters the trace hash.
inline Digest128 digest_of(const ClientOperation& operation) noexcept {
    TraceHash hash;
    hash.add<7>(
        {{operation.client, operation.id, static_cast<std::uint64_t>(operation.command),
          operation.key, operation.value, operation.expected ? 1U : 0U,
          operation.expected.value_or(0)}});
    return hash.value();
}
inline Digest128 digest_of(const ClientAnswer& answer) noexcept {
    TraceHash hash;
    hash.add<6>(
        {{answer.client, answer.id, answer.done ? 1U : 0U, answer.succeeded ? 1U : 0U,
          answer.value ? 1U : 0U, answer.value.value_or(0)}});
    return hash.value();
}

/// submit(node, operation): a client asks a node that is up. take_answers(node, answers): moves
/// what the node answered into the list.
template <class C>
concept Serving = Cluster<C> && requires(
    C& cluster, NodeId node, const ClientOperation& operation, std::vector<ClientAnswer>& answers) {
    cluster.submit(node, operation);
    cluster.take_answers(node, answers);
};

} // namespace promtact::engine
