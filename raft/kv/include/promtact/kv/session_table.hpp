// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Who asks, and what was answered: a request that comes again gets the answer of the first time.
// What is remembered and what is forgotten follows from the log alone (its indexes and the times in
// its commands), so all members remember the same.
// Source: Ongaro's dissertation §6.3.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/kv/answer.hpp>
#include <promtact/kv/command.hpp>
#include <promtact/kv/cut_map.hpp>
#include <promtact/kv/digest_sum.hpp>
#include <promtact/kv/limits.hpp>

namespace promtact::kv {

struct KeptAnswer {
    std::uint64_t number = 0;
    Status status = Status::ok;
    bool found = false;
    std::string value{};
    friend bool operator==(const KeptAnswer&, const KeptAnswer&) = default;
};

struct Session {
    std::uint64_t last_index = 0; // of the log, at the last command; no two sessions share it
    LogTime last_time = 0;
    std::uint64_t first_unanswered = 1;
    std::vector<KeptAnswer> answers{}; // ascending by number, none below first_unanswered
    friend bool operator==(const Session&, const Session&) = default;
};

/// What becomes of a request.
struct Admission {
    bool execute = false;
    Answer answer{}; // when it is not to be executed
};

/// The sessions in the order of their use. Single-threaded; copies are independent.
class SessionTable {
  public:
    /// Forgets sessions that were not used for the timeout.
    void expire(LogTime now, const Limits& limits);

    /// Opens the session `index`; others make room for it.
    void open(std::uint64_t index, LogTime now, const Limits& limits);

    /// False when there is no such session.
    bool close(std::uint64_t session);

    /// Uses the session: its last use is now, answers below first_unanswered are forgotten. False
    /// when there is no such session.
    bool use(const Request& request, std::uint64_t index, LogTime now);

    /// Uses the session and says whether the request is to be executed.
    /// Requires: request.session != 0
    Admission admit(const Request& request, std::uint64_t index, LogTime now, const Limits& limits);

    /// Keeps the answer of an executed request; sessions other than its own make room for it.
    /// Requires: admit() said execute for this request and nothing came between
    void keep(const Request& request, const Answer& answer, const Limits& limits);

    /// Forgets the least recently used sessions until the limits hold, but never `in_use`.
    void make_room(const Limits& limits, std::uint64_t in_use = 0);

    /// Puts a session of a snapshot back.
    /// Errors: corrupt when it breaks what a table holds: an id or index of 0, an id after the last
    /// index, an id or index that is there already, answers out of order or below first_unanswered
    Result<void> restore(std::uint64_t id, Session session);

    [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }
    [[nodiscard]] std::uint64_t answer_bytes() const noexcept { return answer_bytes_; }
    [[nodiscard]] const Session* find(std::uint64_t session) const {
        return sessions_.find(session);
    }
    [[nodiscard]] const Digest128& digest() const noexcept { return digest_.value(); }

    /// For snapshots: the sessions as they were at a cut.
    [[nodiscard]] CutMap<std::uint64_t, Session>& cut() noexcept { return sessions_; }
    [[nodiscard]] const CutMap<std::uint64_t, Session>& all() const noexcept { return sessions_; }

  private:
    void touch(std::uint64_t id, Session& session, std::uint64_t index, LogTime now);
    void forget_answered(std::uint64_t id, Session& session, std::uint64_t first_unanswered);
    void forget(std::uint64_t id);
    void account(std::uint64_t id, const Session& session, bool add);

    CutMap<std::uint64_t, Session> sessions_{};
    std::map<std::uint64_t, std::uint64_t> by_use_{}; // last_index to id
    std::uint64_t answer_bytes_ = 0;                  // with a fixed share for each answer
    DigestSum digest_{};
};

/// What an answer counts beside its value.
inline constexpr std::uint64_t answer_overhead_bytes = 64;

} // namespace promtact::kv
