// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <promtact/kv/state_machine.hpp>

#include "testing/kv_commands.hpp"

namespace promtact::kv {
namespace {

using testing::about_session;
using testing::apply;
using testing::at;
using testing::compare_and_set;
using testing::put;

std::uint64_t open(StateMachine& machine, LogTime time = 0) {
    return apply(machine, at(time, about_session(Operation::open_session))).session;
}

Request request(std::uint64_t session, std::uint64_t number, std::uint64_t first) {
    return {.session = session, .number = number, .first_unanswered = first};
}
/// Of a client that has one request at a time.
Request request(std::uint64_t session, std::uint64_t number) {
    return request(session, number, number);
}

TEST(KvSession, ARepeatedRequestIsAnsweredAndNotDoneAgain) {
    StateMachine machine;
    const std::uint64_t session = open(machine);
    EXPECT_EQ(session, 1U);
    const Command command = compare_and_set("k", std::nullopt, "1", request(session, 1));

    const Answer first = apply(machine, command);
    EXPECT_EQ(first.status, Status::ok);
    EXPECT_FALSE(first.duplicate);
    apply(machine, put("k", "other"));
    const Answer second = apply(machine, command);
    EXPECT_TRUE(second.duplicate);
    EXPECT_EQ(second.status, Status::ok);
    EXPECT_EQ(machine.get("k"), "other");

    // The negative control: without a session it is done again, and fails.
    EXPECT_EQ(apply(machine, compare_and_set("k", std::nullopt, "1")).status, Status::mismatch);
}

TEST(KvSession, ARefusalIsRememberedLikeASuccess) {
    StateMachine machine;
    const std::uint64_t session = open(machine);
    const Command command = compare_and_set("k", "no", "1", request(session, 1));
    EXPECT_EQ(apply(machine, command).status, Status::mismatch);
    apply(machine, put("k", "no"));
    const Answer again = apply(machine, command);
    EXPECT_EQ(again.status, Status::mismatch);
    EXPECT_TRUE(again.duplicate);
}

TEST(KvSession, AnOldRequestIsStaleAndHarmless) {
    StateMachine machine;
    const std::uint64_t session = open(machine);
    apply(machine, put("k", "2", request(session, 2)));
    EXPECT_EQ(apply(machine, put("k", "1", request(session, 1))).status, Status::stale_request);
    EXPECT_EQ(machine.get("k"), "2");
}

TEST(KvSession, RequestsOnTheWayTogetherAreEachDoneOnce) {
    StateMachine machine;
    const std::uint64_t session = open(machine);
    EXPECT_FALSE(apply(machine, put("b", "2", request(session, 2, 1))).duplicate);
    EXPECT_FALSE(apply(machine, put("a", "1", request(session, 1, 1))).duplicate);
    EXPECT_TRUE(apply(machine, put("b", "2", request(session, 2, 1))).duplicate);
    EXPECT_TRUE(apply(machine, put("a", "1", request(session, 1, 1))).duplicate);
    // Answers below the first unanswered request are forgotten, the others are not.
    EXPECT_FALSE(apply(machine, put("c", "3", request(session, 3, 2))).duplicate);
    EXPECT_EQ(apply(machine, put("a", "1", request(session, 1, 1))).status, Status::stale_request);
    EXPECT_TRUE(apply(machine, put("b", "2", request(session, 2, 1))).duplicate);
    EXPECT_EQ(machine.sessions().find(session)->answers.size(), 2U);
}

TEST(KvSession, AnswersOfOneSessionAreBounded) {
    StateMachine machine({.outstanding_max = 2});
    const std::uint64_t session = open(machine);
    apply(machine, put("a", "1", request(session, 1, 1)));
    apply(machine, put("b", "2", request(session, 2, 1)));
    EXPECT_EQ(apply(machine, put("c", "3", request(session, 3, 1))).status, Status::too_many);
    EXPECT_FALSE(machine.get("c").has_value());
    EXPECT_TRUE(apply(machine, put("b", "2", request(session, 2, 1))).duplicate);
    EXPECT_EQ(apply(machine, put("c", "3", request(session, 3, 2))).status, Status::ok);
}

TEST(KvSession, TheLeastRecentlyUsedMakesRoom) {
    StateMachine machine({.sessions_max = 2});
    const std::uint64_t first = open(machine);
    const std::uint64_t second = open(machine);
    EXPECT_TRUE(apply(machine, about_session(Operation::keep_alive, first)).found);
    const std::uint64_t third = open(machine);
    EXPECT_EQ(machine.sessions().size(), 2U);
    EXPECT_EQ(apply(machine, put("k", "v", request(second, 1))).status, Status::session_expired);
    EXPECT_FALSE(machine.get("k").has_value());
    EXPECT_EQ(apply(machine, put("k", "v", request(first, 1))).status, Status::ok);
    EXPECT_EQ(apply(machine, put("k", "v", request(third, 1))).status, Status::ok);
}

TEST(KvSession, KeptAnswersAreBoundedInBytes) {
    StateMachine machine({.answer_bytes_max = 1000});
    const std::uint64_t first = open(machine);
    const std::uint64_t second = open(machine);
    apply(machine, put("k", std::string(800, 'v')));
    apply(machine, compare_and_set("k", "no", "", request(first, 1)));
    EXPECT_EQ(machine.sessions().answer_bytes(), 800 + answer_overhead_bytes);
    // The second one's answer pushes the first session out, not the one in use.
    apply(machine, compare_and_set("k", "no", "", request(second, 1)));
    EXPECT_EQ(machine.sessions().size(), 1U);
    EXPECT_NE(machine.sessions().find(second), nullptr);
    EXPECT_EQ(machine.sessions().answer_bytes(), 800 + answer_overhead_bytes);
}

TEST(KvSession, ExpiresByTheTimeInTheLogAlone) {
    StateMachine machine({.session_timeout = 100});
    const std::uint64_t session = open(machine, 1000);
    EXPECT_EQ(apply(machine, at(1099, put("k", "1", request(session, 1)))).status, Status::ok);
    EXPECT_EQ(apply(machine, at(1198, put("k", "2", request(session, 2)))).status, Status::ok);
    // A leader whose clock is behind does not turn time back.
    EXPECT_EQ(apply(machine, at(5, put("k", "3", request(session, 3)))).status, Status::ok);
    EXPECT_EQ(machine.now(), 1198U);
    EXPECT_EQ(
        apply(machine, at(1298, put("k", "4", request(session, 4)))).status,
        Status::session_expired);
    EXPECT_EQ(machine.get("k"), "3");
    EXPECT_EQ(machine.sessions().size(), 0U);
}

TEST(KvSession, NeverExpiresWithoutATimeout) {
    StateMachine machine({.session_timeout = 0});
    const std::uint64_t session = open(machine);
    EXPECT_EQ(
        apply(machine, at(~LogTime{0}, put("k", "1", request(session, 1)))).status, Status::ok);
}

TEST(KvSession, IdsAreNeverGivenTwice) {
    StateMachine machine({.sessions_max = 1});
    const std::uint64_t first = open(machine);
    const std::uint64_t second = open(machine);
    EXPECT_NE(first, second);
    EXPECT_EQ(
        apply(machine, about_session(Operation::close_session, first)).status,
        Status::session_expired);
    EXPECT_EQ(apply(machine, about_session(Operation::close_session, second)).status, Status::ok);
    EXPECT_EQ(
        apply(machine, about_session(Operation::keep_alive, second)).status,
        Status::session_expired);
    EXPECT_EQ(machine.sessions().size(), 0U);
    EXPECT_EQ(machine.digest(), StateMachine({.sessions_max = 1}).digest());
}

TEST(KvSession, NewLimitsHoldAtOnce) {
    StateMachine machine;
    const std::uint64_t first = open(machine, 10);
    const std::uint64_t second = open(machine, 20);
    apply(machine, at(25, testing::set_limits({.sessions_max = 4, .session_timeout = 10})));
    EXPECT_EQ(machine.sessions().find(first), nullptr);
    EXPECT_NE(machine.sessions().find(second), nullptr);
    open(machine, 25);
    apply(machine, at(25, testing::set_limits({.sessions_max = 1, .session_timeout = 10})));
    EXPECT_EQ(machine.sessions().size(), 1U);
    EXPECT_EQ(machine.sessions().find(second), nullptr);
}

} // namespace
} // namespace promtact::kv
