// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Whatever decodes as a command encodes to the same bytes, and no bytes can stop a state machine or
// make two of them differ.
#include <algorithm>
#include <cstdint>
#include <span>

#include <promtact/base/assert.hpp>

#include "testing/kv_commands.hpp"

namespace promtact::kv {
namespace {

void check(std::span<const std::byte> bytes) {
    const auto command = decode_command(bytes);
    StateMachine machine({.sessions_max = 2, .outstanding_max = 2});
    testing::apply(machine, testing::about_session(Operation::open_session));
    testing::apply(machine, testing::put("k", "v"));
    StateMachine twin = machine;
    const auto answer = machine.apply(3, bytes);
    const auto other = twin.apply(3, bytes);
    PROMTACT_ASSERT(answer.has_value() == other.has_value());
    PROMTACT_ASSERT(machine.digest() == twin.digest());
    if (answer) PROMTACT_ASSERT(*answer == *other);
    if (!command) {
        PROMTACT_ASSERT(!command.error().context.empty());
        PROMTACT_ASSERT(answer.has_value() == (command.error().code == Errc::corrupt));
        return;
    }
    PROMTACT_ASSERT(answer.has_value());
    const testing::Bytes again = testing::encoded(*command);
    PROMTACT_ASSERT(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
}

void run(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
    check(bytes);
    if (size < 4) return;
    // The same with a head whose lengths fit, which mutation would hardly ever find.
    testing::Bytes fitted(bytes.begin(), bytes.end());
    fitted.resize(std::max(fitted.size(), command_head_bytes));
    const std::size_t body = fitted.size() - command_head_bytes;
    const std::size_t key = std::min<std::size_t>(body, data[1] % 8U);
    const std::size_t value = std::min<std::size_t>(body - key, data[2] % 64U);
    fitted[0] = std::byte{command_version};
    fitted[1] = static_cast<std::byte>(1 + data[1] % 7U);
    fitted[2] = static_cast<std::byte>(data[2] % 2U);
    fitted[3] = std::byte{0};
    store_le<std::uint32_t>(fitted, 4, static_cast<std::uint32_t>(key));
    store_le<std::uint32_t>(fitted, 8, static_cast<std::uint32_t>(value));
    store_le<std::uint32_t>(fitted, 12, static_cast<std::uint32_t>(body - key - value));
    check(fitted);
}

} // namespace
} // namespace promtact::kv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::kv::run(data, size);
    return 0;
}
