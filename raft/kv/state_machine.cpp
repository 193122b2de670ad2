// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/kv/state_machine.hpp>

#include "state_digest_internal.hpp"

namespace promtact::kv {

std::string_view to_string(Status status) noexcept {
    switch (status) {
    case Status::ok:
        return "ok";
    case Status::mismatch:
        return "mismatch";
    case Status::invalid:
        return "invalid";
    case Status::session_expired:
        return "session expired";
    case Status::stale_request:
        return "stale request";
    case Status::too_many:
        return "too many outstanding requests";
    }
    return "unknown";
}

StateMachine::StateMachine(const Limits& limits) : limits_(limits) {
    PROMTACT_ASSERT(validate(limits).has_value());
}

Result<Answer> StateMachine::apply(std::uint64_t index, std::span<const std::byte> command) {
    PROMTACT_ASSERT(index > applied_);
    const auto decoded = decode_command(command);
    if (!decoded && decoded.error().code == Errc::format) {
        return Error{
            Errc::format, 0, "entry " + std::to_string(index) + ": " + decoded.error().context};
    }
    applied_ = index;
    if (!decoded) return Answer{.status = Status::invalid};
    now_ = std::max(now_, decoded->time);
    sessions_.expire(now_, limits_);
    return carry_out(*decoded, index);
}

void StateMachine::skip_to(std::uint64_t index) {
    PROMTACT_ASSERT(index >= applied_);
    applied_ = index;
}

std::optional<std::string_view> StateMachine::get(std::string_view key) const {
    const std::string* value = values_.find(key);
    if (value == nullptr) return std::nullopt;
    return *value;
}

Answer StateMachine::carry_out(const Command& command, std::uint64_t index) {
    switch (command.operation) {
    case Operation::put:
    case Operation::remove:
    case Operation::compare_and_set:
        return guarded(command, index);
    case Operation::open_session:
        sessions_.open(index, now_, limits_);
        return Answer{.session = index};
    case Operation::close_session:
        if (!sessions_.close(command.request.session))
            return Answer{.status = Status::session_expired};
        return Answer{.found = true};
    case Operation::keep_alive:
        if (!sessions_.use(command.request, index, now_))
            return Answer{.status = Status::session_expired};
        return Answer{.found = true};
    case Operation::set_limits:
        limits_ = command.limits;
        sessions_.expire(now_, limits_);
        sessions_.make_room(limits_);
        return Answer{};
    }
    PROMTACT_ASSERT(false);
    return Answer{};
}

Answer StateMachine::guarded(const Command& command, std::uint64_t index) {
    if (command.request.session == 0) return change(command);
    Admission admission = sessions_.admit(command.request, index, now_, limits_);
    if (!admission.execute) return std::move(admission.answer);
    Answer answer = change(command);
    sessions_.keep(command.request, answer, limits_);
    return answer;
}

Answer StateMachine::change(const Command& command) {
    Answer answer;
    const std::string* before = values_.find(command.key);
    answer.found = before != nullptr;
    switch (command.operation) {
    case Operation::put:
        store(command.key, command.value);
        break;
    case Operation::remove:
        if (before == nullptr) break;
        answer.value = *before;
        erase(command.key);
        break;
    case Operation::compare_and_set:
        if (answer.found != command.expected.has_value() ||
            (answer.found && *before != *command.expected)) {
            answer.status = Status::mismatch;
            if (answer.found) answer.value = *before;
            break;
        }
        store(command.key, command.value);
        break;
    case Operation::open_session:
    case Operation::close_session:
    case Operation::keep_alive:
    case Operation::set_limits:
        PROMTACT_ASSERT(false);
    }
    return answer;
}

void StateMachine::store(std::string_view key, std::string_view value) {
    PROMTACT_ASSERT(!key.empty());
    values_digest_.add(value_digest(key, value));
    std::string* place = values_.change(key);
    if (place == nullptr) {
        values_.insert(key, std::string(value));
        return;
    }
    values_digest_.remove(value_digest(key, *place));
    *place = value;
}

void StateMachine::erase(std::string_view key) {
    const std::string* value = values_.find(key);
    PROMTACT_ASSERT(value != nullptr);
    values_digest_.remove(value_digest(key, *value));
    values_.erase(key);
}

Digest128 StateMachine::digest() const noexcept {
    return state_digest(limits_, now_, values_digest_.value(), sessions_.digest());
}

} // namespace promtact::kv
