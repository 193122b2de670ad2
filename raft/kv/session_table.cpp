// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/kv/session_table.hpp>

namespace promtact::kv {
namespace {

constexpr std::uint64_t session_mark = 1;
constexpr std::uint64_t answer_mark = 2;

Digest128 head_digest(std::uint64_t id, const Session& session) {
    TraceHash hash;
    hash.add<5>(
        {{session_mark, id, session.last_index, session.last_time, session.first_unanswered}});
    return hash.value();
}

Digest128 answer_digest(std::uint64_t id, const KeptAnswer& answer) {
    TraceHash hash;
    const std::uint64_t found = answer.found ? 1 : 0;
    hash.add<5>(
        {{answer_mark, id, answer.number, static_cast<std::uint64_t>(answer.status), found}});
    hash.add(bytes_of(answer.value));
    return hash.value();
}

std::uint64_t cost(const KeptAnswer& answer) {
    return answer.value.size() + answer_overhead_bytes;
}

auto place_of(std::vector<KeptAnswer>& answers, std::uint64_t number) {
    return std::lower_bound(
        answers.begin(), answers.end(), number,
        [](const KeptAnswer& answer, std::uint64_t wanted) { return answer.number < wanted; });
}

Admission refuse(Status status) {
    Admission admission;
    admission.answer.status = status;
    return admission;
}

Error corrupt(std::uint64_t id, const char* why) {
    return {Errc::corrupt, 0, "session " + std::to_string(id) + " " + why};
}

Result<void> check_answers(std::uint64_t id, const Session& session) {
    std::uint64_t least = session.first_unanswered;
    for (const KeptAnswer& answer : session.answers) {
        if (answer.number < least) return corrupt(id, "holds answers out of order");
        if (answer.number == ~std::uint64_t{0}) return corrupt(id, "has used up its numbers");
        least = answer.number + 1;
    }
    return {};
}

} // namespace

Result<void> validate(const Limits& limits) {
    if (limits.sessions_max < 1 || limits.sessions_max > sessions_limit) {
        return Error{
            Errc::invalid_argument, 0,
            "sessions_max " + std::to_string(limits.sessions_max) + " is not in 1.." +
                std::to_string(sessions_limit)};
    }
    if (limits.outstanding_max < 1 || limits.outstanding_max > outstanding_limit) {
        return Error{
            Errc::invalid_argument, 0,
            "outstanding_max " + std::to_string(limits.outstanding_max) + " is not in 1.." +
                std::to_string(outstanding_limit)};
    }
    return {};
}

void SessionTable::account(std::uint64_t id, const Session& session, bool add) {
    const auto count = [this, add](const Digest128& digest) {
        add ? digest_.add(digest) : digest_.remove(digest);
    };
    count(head_digest(id, session));
    for (const KeptAnswer& answer : session.answers) {
        count(answer_digest(id, answer));
        PROMTACT_ASSERT(add || answer_bytes_ >= cost(answer));
        answer_bytes_ = add ? answer_bytes_ + cost(answer) : answer_bytes_ - cost(answer);
    }
}

void SessionTable::forget(std::uint64_t id) {
    const Session* session = sessions_.find(id);
    PROMTACT_ASSERT(session != nullptr);
    const std::size_t erased = by_use_.erase(session->last_index);
    PROMTACT_ASSERT(erased == 1);
    account(id, *session, false);
    sessions_.erase(id);
    PROMTACT_ASSERT(by_use_.size() == sessions_.size());
}

void SessionTable::expire(LogTime now, const Limits& limits) {
    if (limits.session_timeout == 0) return;
    while (!by_use_.empty()) {
        const std::uint64_t oldest = by_use_.begin()->second;
        const LogTime last = sessions_.find(oldest)->last_time;
        PROMTACT_ASSERT(last <= now);
        if (now - last < limits.session_timeout) return;
        forget(oldest);
    }
}

void SessionTable::make_room(const Limits& limits, std::uint64_t in_use) {
    while (sessions_.size() > limits.sessions_max || answer_bytes_ > limits.answer_bytes_max) {
        if (by_use_.empty() || by_use_.begin()->second == in_use) return;
        forget(by_use_.begin()->second);
    }
}

void SessionTable::open(std::uint64_t index, LogTime now, const Limits& limits) {
    PROMTACT_ASSERT(index != 0);
    Session session;
    session.last_index = index;
    session.last_time = now;
    account(index, session, true);
    sessions_.insert(index, std::move(session));
    by_use_.emplace(index, index);
    PROMTACT_ASSERT(by_use_.rbegin()->second == index);
    make_room(limits, index);
}

bool SessionTable::close(std::uint64_t session) {
    if (sessions_.find(session) == nullptr) return false;
    forget(session);
    return true;
}

void SessionTable::touch(std::uint64_t id, Session& session, std::uint64_t index, LogTime now) {
    PROMTACT_ASSERT(index > session.last_index);
    PROMTACT_ASSERT(now >= session.last_time);
    digest_.remove(head_digest(id, session));
    auto use = by_use_.extract(session.last_index);
    PROMTACT_ASSERT(!use.empty());
    use.key() = index;
    by_use_.insert(std::move(use));
    session.last_index = index;
    session.last_time = now;
    digest_.add(head_digest(id, session));
}

void SessionTable::forget_answered(
    std::uint64_t id, Session& session, std::uint64_t first_unanswered) {
    if (first_unanswered <= session.first_unanswered) return;
    digest_.remove(head_digest(id, session));
    session.first_unanswered = first_unanswered;
    digest_.add(head_digest(id, session));
    const auto end = place_of(session.answers, first_unanswered);
    for (auto answer = session.answers.begin(); answer != end; ++answer) {
        digest_.remove(answer_digest(id, *answer));
        PROMTACT_ASSERT(answer_bytes_ >= cost(*answer));
        answer_bytes_ -= cost(*answer);
    }
    session.answers.erase(session.answers.begin(), end);
}

bool SessionTable::use(const Request& request, std::uint64_t index, LogTime now) {
    Session* session = sessions_.change(request.session);
    if (session == nullptr) return false;
    touch(request.session, *session, index, now);
    forget_answered(request.session, *session, request.first_unanswered);
    return true;
}

Admission SessionTable::admit(
    const Request& request, std::uint64_t index, LogTime now, const Limits& limits) {
    PROMTACT_ASSERT(request.session != 0);
    PROMTACT_ASSERT(request.first_unanswered <= request.number);
    if (!use(request, index, now)) return refuse(Status::session_expired);
    const Session* session = sessions_.find(request.session);
    if (request.number < session->first_unanswered) return refuse(Status::stale_request);
    for (const KeptAnswer& kept : session->answers) {
        if (kept.number != request.number) continue;
        Admission admission;
        admission.answer.status = kept.status;
        admission.answer.found = kept.found;
        admission.answer.duplicate = true;
        admission.answer.value = kept.value;
        return admission;
    }
    if (session->answers.size() >= limits.outstanding_max) return refuse(Status::too_many);
    return {.execute = true, .answer = {}};
}

void SessionTable::keep(const Request& request, const Answer& answer, const Limits& limits) {
    PROMTACT_ASSERT(!answer.duplicate);
    PROMTACT_ASSERT(answer.status == Status::ok || answer.status == Status::mismatch);
    Session* session = sessions_.change(request.session);
    PROMTACT_ASSERT(session != nullptr);
    const auto place = place_of(session->answers, request.number);
    PROMTACT_ASSERT(place == session->answers.end() || place->number != request.number);
    const auto kept = session->answers.insert(
        place, {.number = request.number,
                .status = answer.status,
                .found = answer.found,
                .value = answer.value});
    digest_.add(answer_digest(request.session, *kept));
    answer_bytes_ += cost(*kept);
    make_room(limits, request.session);
}

Result<void> SessionTable::restore(std::uint64_t id, Session session) {
    if (id == 0) return corrupt(id, "has no id");
    if (session.last_index < id) return corrupt(id, "was used before it was opened");
    if (session.first_unanswered == 0) return corrupt(id, "has no first unanswered request");
    PROMTACT_TRY(check_answers(id, session));
    if (sessions_.find(id) != nullptr) return corrupt(id, "is there twice");
    const auto place = by_use_.lower_bound(session.last_index);
    if (place != by_use_.end() && place->first == session.last_index)
        return corrupt(id, "was used at the same index as another");
    // Log time never goes back, so who was used later was not used at an earlier time.
    if (place != by_use_.end() && sessions_.find(place->second)->last_time < session.last_time)
        return corrupt(id, "was used at a later time than a session used after it");
    if (place != by_use_.begin() &&
        sessions_.find(std::prev(place)->second)->last_time > session.last_time)
        return corrupt(id, "was used at an earlier time than a session used before it");
    account(id, session, true);
    by_use_.emplace_hint(place, session.last_index, id);
    sessions_.insert(id, std::move(session));
    PROMTACT_ASSERT(by_use_.size() == sessions_.size());
    return {};
}

} // namespace promtact::kv
