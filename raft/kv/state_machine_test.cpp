// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/choice.hpp>
#include <promtact/kv/state_machine.hpp>

#include "testing/kv_commands.hpp"

namespace promtact::kv {
namespace {

using testing::apply;
using testing::compare_and_set;
using testing::encoded;
using testing::put;
using testing::remove;

TEST(KvStateMachine, PutsRemovesAndCompares) {
    StateMachine machine;
    EXPECT_FALSE(machine.get("k").has_value());
    EXPECT_FALSE(apply(machine, put("k", "1")).found);
    EXPECT_TRUE(apply(machine, put("k", "2")).found);
    EXPECT_EQ(machine.get("k"), "2");

    const Answer refused = apply(machine, compare_and_set("k", "1", "3"));
    EXPECT_EQ(refused.status, Status::mismatch);
    EXPECT_EQ(refused.value, "2");
    EXPECT_EQ(apply(machine, compare_and_set("k", std::nullopt, "3")).status, Status::mismatch);
    EXPECT_EQ(apply(machine, compare_and_set("k", "2", "3")).status, Status::ok);
    EXPECT_EQ(machine.get("k"), "3");
    EXPECT_EQ(apply(machine, compare_and_set("n", "", "3")).status, Status::mismatch);
    EXPECT_EQ(apply(machine, compare_and_set("n", std::nullopt, "")).status, Status::ok);
    EXPECT_EQ(machine.get("n"), "");

    const Answer removed = apply(machine, remove("k"));
    EXPECT_TRUE(removed.found);
    EXPECT_EQ(removed.value, "3");
    EXPECT_EQ(apply(machine, remove("k")), Answer{});
    EXPECT_EQ(machine.keys(), 1U);
}

TEST(KvStateMachine, KeysAndValuesAreAnyBytes) {
    StateMachine machine;
    using namespace std::string_view_literals;
    apply(machine, put("a\0b"sv, "\0\xff"sv));
    EXPECT_EQ(machine.get("a\0b"sv), "\0\xff"sv);
    EXPECT_FALSE(machine.get("a").has_value());
}

TEST(KvStateMachine, WhatIsNoCommandIsAnsweredAndChangesNothing) {
    StateMachine machine;
    apply(machine, put("k", "v"));
    const Digest128 before = machine.digest();
    testing::Bytes bytes = encoded(put("k", "w"));
    bytes.pop_back();
    auto answer = machine.apply(2, bytes);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, Status::invalid);
    EXPECT_EQ(machine.apply(3, {})->status, Status::invalid);
    EXPECT_EQ(machine.digest(), before);
    EXPECT_EQ(machine.applied(), 3U);
}

TEST(KvStateMachine, ANewerCommandStopsInsteadOfDiverging) {
    StateMachine machine;
    testing::Bytes bytes = encoded(put("k", "v"));
    bytes[0] = std::byte{2};
    auto answer = machine.apply(4, bytes);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::format);
    EXPECT_EQ(answer.error().context, "entry 4: command: version 2 is not known here");
    EXPECT_EQ(machine.applied(), 0U);
}

TEST(KvStateMachine, DigestIsOfTheContentAndNotOfItsHistory) {
    StateMachine one;
    StateMachine other;
    apply(one, put("a", "1"));
    apply(one, put("b", "2"));
    apply(other, put("b", "0"));
    apply(other, put("c", "2"));
    apply(other, remove("c"));
    apply(other, put("b", "2"));
    apply(other, put("a", "1"));
    EXPECT_EQ(one.digest(), other.digest());
    one.skip_to(100);
    EXPECT_EQ(one.digest(), other.digest());

    const auto differs = [&one](const Command& command) {
        StateMachine changed = one;
        apply(changed, command);
        return changed.digest() != one.digest();
    };
    EXPECT_TRUE(differs(put("a", "2")));
    EXPECT_TRUE(differs(put("c", "")));
    EXPECT_TRUE(differs(remove("a")));
    EXPECT_TRUE(differs(testing::at(1, put("a", "1"))));
    EXPECT_TRUE(differs(testing::about_session(Operation::open_session)));
    EXPECT_TRUE(differs(testing::set_limits({.sessions_max = 3})));
    EXPECT_FALSE(differs(put("a", "1")));
}

/// The same machine without any index, order or digest: lists that are searched.
class Model {
  public:
    explicit Model(const Limits& limits) : limits_(limits) {}

    Answer apply(std::uint64_t index, const Command& command) {
        now_ = std::max(now_, command.time);
        std::erase_if(sessions_, [this](const Entry& entry) {
            return limits_.session_timeout != 0 &&
                   now_ - entry.last_time >= limits_.session_timeout;
        });
        if (command.operation == Operation::open_session) {
            sessions_.push_back({.id = index, .last_time = now_});
            shrink();
            return {.session = index};
        }
        if (command.request.session == 0) return change(command);
        return guarded(command);
    }

    const std::map<std::string, std::string>& values() const { return values_; }
    std::size_t sessions() const { return sessions_.size(); }

  private:
    struct Entry {
        std::uint64_t id = 0;
        LogTime last_time = 0;
        std::uint64_t first = 1;
        std::map<std::uint64_t, Answer> answers{};
    };

    Answer guarded(const Command& command) {
        const auto found =
            std::find_if(sessions_.begin(), sessions_.end(), [&command](const Entry& entry) {
                return entry.id == command.request.session;
            });
        if (found == sessions_.end()) return {.status = Status::session_expired};
        Entry session = *found;
        sessions_.erase(found); // used: to the end of the list
        session.last_time = now_;
        session.first = std::max(session.first, command.request.first_unanswered);
        std::erase_if(
            session.answers, [&session](const auto& kept) { return kept.first < session.first; });
        Answer answer{.found = true};
        const std::uint64_t number = command.request.number;
        if (command.operation == Operation::close_session) return answer;
        if (command.operation == Operation::keep_alive) {
        } else if (number < session.first) {
            answer = {.status = Status::stale_request};
        } else if (session.answers.contains(number)) {
            answer = session.answers.at(number);
            answer.duplicate = true;
        } else if (session.answers.size() >= limits_.outstanding_max) {
            answer = {.status = Status::too_many};
        } else {
            answer = change(command);
            session.answers[number] = answer;
        }
        sessions_.push_back(session);
        shrink();
        return answer;
    }

    std::uint64_t bytes() const {
        std::uint64_t sum = 0;
        for (const Entry& entry : sessions_) {
            for (const auto& [number, answer] : entry.answers)
                sum += answer.value.size() + answer_overhead_bytes;
        }
        return sum;
    }

    void shrink() {
        while (sessions_.size() > 1 &&
               (sessions_.size() > limits_.sessions_max || bytes() > limits_.answer_bytes_max))
            sessions_.erase(sessions_.begin());
    }

    Answer change(const Command& command) {
        const std::string key(command.key);
        std::optional<std::string> before;
        if (values_.contains(key)) before = values_.at(key);
        Answer answer{.found = before.has_value()};
        if (command.operation == Operation::remove) {
            answer.value = before.value_or("");
            values_.erase(key);
            return answer;
        }
        if (command.operation == Operation::compare_and_set && before != command.expected) {
            answer.status = Status::mismatch;
            answer.value = before.value_or("");
            return answer;
        }
        values_[key] = command.value;
        return answer;
    }

    Limits limits_{};
    LogTime now_ = 0;
    std::map<std::string, std::string> values_{};
    std::vector<Entry> sessions_{}; // least recently used first
};

/// Draws commands of a few clients that repeat, overtake and forget.
class Workload {
  public:
    explicit Workload(std::uint64_t seed) : seed_(seed) {}

    Command next() {
        ++round_;
        time_ += draw(0, 4);
        key_ = std::string(1, static_cast<char>('a' + draw(1, 5)));
        value_ = std::string(draw(2, 40), static_cast<char>('0' + draw(3, 3)));
        expected_ = std::string(draw(4, 3), '0');
        Command command{.time = draw(5, 20) == 0 ? 0 : time_};
        const std::uint32_t kind = draw(6, 16);
        command.request.session = sessions.empty() ? 0 : sessions[draw(7, size())];
        if (kind == 0) return testing::at(time_, testing::about_session(Operation::open_session));
        if (kind == 1 && command.request.session != 0) {
            command.operation = draw(8, 4) == 0 ? Operation::close_session : Operation::keep_alive;
            if (command.operation == Operation::keep_alive)
                command.request.first_unanswered = 1 + draw(9, 30);
            return command;
        }
        command.operation = static_cast<Operation>(1 + draw(10, 3));
        command.key = key_;
        if (command.operation != Operation::remove) command.value = value_;
        if (command.operation == Operation::compare_and_set && draw(11, 3) > 0)
            command.expected = expected_;
        if (command.request.session != 0) {
            const std::uint64_t around = round_ / 40 + 1;
            command.request.number = around + draw(12, 6);
            command.request.first_unanswered = 1 + draw(13, static_cast<std::uint32_t>(around));
        }
        return command;
    }

    std::vector<std::uint64_t> sessions{}; // every id there ever was, with the ones forgotten

  private:
    std::uint32_t size() const { return static_cast<std::uint32_t>(sessions.size()); }
    std::uint32_t draw(std::uint64_t place, std::uint32_t bound) const {
        return promtact_bounded(
            promtact_choose(seed_, PROMTACT_PURPOSE_WORKLOAD, round_, place), bound);
    }

    std::uint64_t seed_ = 0;
    std::uint64_t round_ = 0;
    LogTime time_ = 0;
    std::string key_{};
    std::string value_{};
    std::string expected_{};
};

TEST(KvStateMachine, AnswersLikeListsThatAreSearched) {
    std::map<Status, std::uint32_t> seen;
    std::uint32_t duplicates = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Limits limits{
            .sessions_max = 4,
            .outstanding_max = 3,
            .answer_bytes_max = 600,
            .session_timeout = 90};
        StateMachine machine(limits);
        Model model(limits);
        Workload workload(seed);
        for (std::uint64_t index = 1; index <= 1500; ++index) {
            const Command command = workload.next();
            const Answer answer = apply(machine, command);
            ASSERT_EQ(answer, model.apply(index, command))
                << "seed " << seed << ", entry " << index;
            ASSERT_EQ(machine.sessions().size(), model.sessions());
            if (answer.session != 0) workload.sessions.push_back(answer.session);
            if (workload.sessions.size() > 8) workload.sessions.erase(workload.sessions.begin());
            ++seen[answer.status];
            duplicates += answer.duplicate ? 1 : 0;
        }
        EXPECT_EQ(machine.keys(), model.values().size());
        for (const auto& [key, value] : model.values())
            EXPECT_EQ(machine.get(key), value);
    }
    for (const Status status :
         {Status::ok, Status::mismatch, Status::session_expired, Status::stale_request,
          Status::too_many})
        EXPECT_GT(seen[status], 50U) << to_string(status);
    EXPECT_GT(duplicates, 50U);
}

TEST(KvStateMachine, AReplicaThatBeganWithASnapshotStaysEqual) {
    std::uint32_t restored = 0;
    for (std::uint64_t seed = 100; seed < 110; ++seed) {
        const Limits limits{.sessions_max = 4, .outstanding_max = 3, .session_timeout = 90};
        StateMachine machine(limits);
        StateMachine replica(limits);
        Workload workload(seed);
        for (std::uint64_t index = 1; index <= 1000; ++index) {
            if (index % 37 == 0) {
                auto loaded = testing::load(testing::snapshot_of(machine));
                ASSERT_TRUE(loaded) << loaded.error().context;
                replica = *std::move(loaded);
                ++restored;
            }
            const Command command = workload.next();
            const Answer answer = apply(machine, command);
            ASSERT_EQ(apply(replica, command), answer) << "seed " << seed << ", entry " << index;
            ASSERT_EQ(replica.digest(), machine.digest());
            if (answer.session != 0) workload.sessions.push_back(answer.session);
        }
    }
    EXPECT_GT(restored, 100U);
}

} // namespace
} // namespace promtact::kv
