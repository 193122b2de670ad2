// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Changes bytes of a valid snapshot (or takes any bytes), mends the checksum, and loads in pieces:
// what is accepted is written again as the same bytes, and nothing costs more memory than it sends.
//
// Input: mode, size of the pieces, number of changes, then for each change two bytes of place and
// one of value; the rest makes the commands of the machine (mode bit 0: is the snapshot itself).
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <promtact/base/assert.hpp>

#include "testing/kv_commands.hpp"

namespace promtact::kv {
namespace {

constexpr std::uint8_t raw = 1;
constexpr std::uint8_t mend = 2;
constexpr std::size_t commands_max = 64;

StateMachine machine_of(std::span<const std::uint8_t> bytes) {
    StateMachine machine({.sessions_max = 3, .outstanding_max = 4, .session_timeout = 200});
    std::uint64_t session = 0;
    for (std::size_t n = 0; n < commands_max && bytes.size() >= 3; ++n, bytes = bytes.subspan(3)) {
        const std::string key(1 + bytes[1] % 3U, static_cast<char>('a' + bytes[1] % 5U));
        const std::string value(bytes[2] % 50U, 'v');
        Command command = testing::put(key, value);
        if (bytes[0] % 4U == 0) command = testing::about_session(Operation::open_session);
        if (bytes[0] % 4U == 1) command = testing::remove(key);
        if (command.operation != Operation::open_session && session != 0) {
            command.request = {.session = session, .number = 1 + n};
            command.request.first_unanswered = 1 + n - std::min<std::size_t>(n, bytes[0] % 4U);
        }
        command.time = machine.now() + bytes[2] % 16U;
        const Answer answer = testing::apply(machine, command);
        if (answer.session != 0) session = answer.session;
    }
    return machine;
}

void check(std::span<const std::byte> bytes, std::size_t piece) {
    SnapshotLoader loader;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const auto part = bytes.subspan(at, std::min(piece, bytes.size() - at));
        const auto fed = loader.feed(part);
        PROMTACT_ASSERT(loader.buffered() <= bytes.size());
        if (!fed) {
            PROMTACT_ASSERT(!fed.error().context.empty());
            return;
        }
    }
    auto machine = std::move(loader).finish();
    if (!machine) return;
    const testing::Bytes again = testing::snapshot_of(*machine);
    PROMTACT_ASSERT(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    // It can go on, and what it does not hold any more it does not miss.
    testing::apply(*machine, testing::about_session(Operation::open_session));
    testing::apply(*machine, testing::at(~LogTime{0}, testing::put("k", "v")));
}

void run(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return;
    const std::uint8_t mode = data[0];
    const std::size_t piece = 1 + data[1];
    std::span<const std::uint8_t> rest(data + 3, size - 3);
    const std::size_t changes = std::min<std::size_t>(data[2] % 8U, rest.size() / 3);
    const auto changed = rest.first(3 * changes);
    rest = rest.subspan(3 * changes);
    testing::Bytes bytes;
    if ((mode & raw) != 0) {
        const auto given = std::as_bytes(rest);
        bytes.assign(given.begin(), given.end());
    } else {
        bytes = testing::snapshot_of(machine_of(rest));
        PROMTACT_ASSERT(testing::load(bytes, piece).has_value());
    }
    for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) {
        const std::size_t place = changed[3 * i] * 256U + changed[3 * i + 1];
        bytes[place % bytes.size()] ^= static_cast<std::byte>(changed[3 * i + 2]);
    }
    if ((mode & mend) != 0) testing::mend_checksum(bytes);
    check(bytes, piece);
}

} // namespace
} // namespace promtact::kv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::kv::run(data, size);
    return 0;
}
