// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/kv/command.hpp>

#include "testing/kv_commands.hpp"

namespace promtact::kv {
namespace {

using namespace std::string_view_literals;
using testing::Bytes;
using testing::encoded;

constexpr Request third{.session = 9, .number = 3, .first_unanswered = 2};

/// One of each operation, with everything that it can carry.
std::vector<std::pair<std::string, Command>> all_commands() {
    return {
        {"put", testing::at(5, testing::put("k\0ey"sv, "v\xff"sv, third))},
        {"put without a value", testing::put("k", "")},
        {"remove", testing::remove("k", third)},
        {"compare", testing::compare_and_set("k", "old"sv, "new", third)},
        {"compare with empty", testing::compare_and_set("k", ""sv, "new", third)},
        {"compare with absent", testing::compare_and_set("k", std::nullopt, "new", third)},
        {"open", testing::at(~LogTime{0}, testing::about_session(Operation::open_session))},
        {"close", testing::about_session(Operation::close_session, 9)},
        {"keep alive", testing::about_session(Operation::keep_alive, 9)},
        {"limits", testing::set_limits({.sessions_max = 7, .outstanding_max = 2})}};
}

std::string reason(const Command& command) {
    auto result = validate(command);
    return result ? "valid" : std::move(result).error().context;
}

TEST(KvCommand, RoundTripsEveryOperation) {
    for (const auto& [name, command] : all_commands()) {
        const Bytes bytes = encoded(command);
        auto again = decode_command(bytes);
        ASSERT_TRUE(again) << name << ": " << again.error().context;
        EXPECT_EQ(*again, command) << name;
        EXPECT_EQ(encoded(*again), bytes) << name;
    }
}

TEST(KvCommand, KeepsItsLayout) {
    const Bytes bytes =
        encoded(testing::at(258, testing::compare_and_set("k", "ab"sv, "c", third)));
    ASSERT_EQ(bytes.size(), 52U);
    EXPECT_EQ(load_le<std::uint32_t>(bytes, 0), 0x00010301U);
    EXPECT_EQ(load_le<std::uint32_t>(bytes, 4), 1U);
    EXPECT_EQ(load_le<std::uint32_t>(bytes, 8), 1U);
    EXPECT_EQ(load_le<std::uint32_t>(bytes, 12), 2U);
    EXPECT_EQ(load_le<std::uint64_t>(bytes, 16), 258U);
    EXPECT_EQ(load_le<std::uint64_t>(bytes, 24), 9U);
    EXPECT_EQ(load_le<std::uint64_t>(bytes, 32), 3U);
    EXPECT_EQ(load_le<std::uint64_t>(bytes, 40), 2U);
    EXPECT_EQ(text_of(std::span(bytes).subspan(48)), "kcab");
}

TEST(KvCommand, NoChangedByteIsTakenForSomethingElse) {
    for (const auto& [name, command] : all_commands()) {
        const Bytes whole = encoded(command);
        for (std::size_t at = 0; at < whole.size(); ++at) {
            for (int value = 0; value < 256; ++value) {
                Bytes bytes = whole;
                bytes[at] = static_cast<std::byte>(value);
                const auto again = decode_command(bytes);
                if (!again) continue;
                ASSERT_EQ(encoded(*again), bytes) << name << ", byte " << at << " = " << value;
            }
        }
    }
}

TEST(KvCommand, RefusesEveryOtherLength) {
    for (const auto& [name, command] : all_commands()) {
        Bytes bytes = encoded(command);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const auto result = decode_command(std::span(bytes).first(size));
            ASSERT_FALSE(result) << name << " cut to " << size;
            EXPECT_EQ(result.error().code, Errc::corrupt);
        }
        bytes.push_back(std::byte{0});
        EXPECT_FALSE(decode_command(bytes)) << name;
    }
}

TEST(KvCommand, WhatIsNewerIsToldFromDamage) {
    const auto code = [](std::size_t at, int value) {
        Bytes bytes = encoded(testing::put("k", "v"));
        bytes[at] = static_cast<std::byte>(value);
        return decode_command(bytes).error().code;
    };
    EXPECT_EQ(code(0, 2), Errc::format);
    EXPECT_EQ(code(1, 8), Errc::format);
    EXPECT_EQ(code(1, 0), Errc::format);
    EXPECT_EQ(code(2, 2), Errc::format);
    EXPECT_EQ(code(3, 1), Errc::corrupt);
    EXPECT_EQ(code(4, 0), Errc::corrupt);
}

TEST(KvCommand, RefusesWhatCannotBeProposed) {
    const std::string long_key(key_bytes_max + 1, 'k');
    const std::string long_value(value_bytes_max + 1, 'v');
    const auto with = [](std::uint64_t session, std::uint64_t number, std::uint64_t first) {
        return testing::put(
            "k", "v", {.session = session, .number = number, .first_unanswered = first});
    };
    EXPECT_EQ(reason(testing::put("", "v")), "command: an empty key");
    EXPECT_EQ(reason(testing::remove(long_key)), "command: a key of 4097 bytes");
    EXPECT_EQ(reason(testing::put("k", long_value)), "command: a value of 1048577 bytes");
    EXPECT_EQ(
        reason(testing::compare_and_set("k", long_value, "v")),
        "command: a value of 1048577 bytes");
    EXPECT_EQ(reason(with(0, 1, 0)), "command: a request number without a session");
    EXPECT_EQ(reason(with(1, 0, 0)), "command: request number 0");
    EXPECT_EQ(reason(with(1, ~0ULL, 1)), "command: request number 18446744073709551615");
    EXPECT_EQ(reason(with(1, 2, 3)), "command: first unanswered request 3 of request 2");
    EXPECT_EQ(reason(with(1, 2, 0)), "command: first unanswered request 0 of request 2");
    EXPECT_EQ(reason(testing::about_session(Operation::keep_alive)), "command: no session");
    EXPECT_EQ(
        reason(testing::set_limits({.sessions_max = 0})), "sessions_max 0 is not in 1..1048576");
    EXPECT_EQ(
        reason(testing::set_limits({.outstanding_max = 1025})),
        "outstanding_max 1025 is not in 1..1024");
    EXPECT_EQ(reason(testing::put(std::string(key_bytes_max, 'k'), "")), "valid");
}

} // namespace
} // namespace promtact::kv
