// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "kill_writer.hpp"

#include <algorithm>
#include <csignal>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::wal::testing {
namespace {

using Kind = KillMessage::Kind;

/// Runs in the process that is killed.
class Writer {
  public:
    Writer(const KillOptions& options, std::uint32_t cycle, int ledger)
        : options_(&options), cycle_(cycle), ledger_(ledger) {}

    void run() {
        auto log = Log::open(options_->directory, options_->config);
        if (!log) return fail(log.error());
        log_ = std::move(*log);
        tell({.kind = Kind::opened, .a = log_->last()});
        switch (cycle_ % 3) {
        case 0:
            return append_with_callbacks();
        case 1:
            return append_from_threads();
        default:
            return append_and_cut();
        }
    }

  private:
    static constexpr std::uint64_t appends_max = 20'000; // in case nobody kills

    void tell(const KillMessage& message) const {
        if (::write(ledger_, &message, sizeof message) != sizeof message) ::_exit(3);
    }
    void fail(const Error& error) const {
        tell(
            {.kind = Kind::failed,
             .a = static_cast<std::uint64_t>(error.code),
             .b = static_cast<std::uint64_t>(error.sys_errno)});
    }
    void tell_durable(Lsn lsn, const KillRecord& record) const {
        tell({.kind = Kind::durable, .record = record, .a = lsn});
    }

    void append_with_callbacks() {
        for (std::uint64_t i = 1; i <= appends_max; ++i) {
            const KillRecord record{cycle_, 0, i};
            const bool early = options_->acknowledges_at_once;
            const auto lsn = log_->append_for(
                kill_payload(record), {},
                [this, record, early](Lsn done, Log::Outcome outcome) {
                    if (!early && outcome == Log::Outcome::durable) tell_durable(done, record);
                },
                std::chrono::seconds{10});
            if (!lsn) return fail(lsn.error());
            if (early) tell_durable(*lsn, record);
        }
    }
    void append_from_threads() {
        std::vector<std::thread> threads;
        for (std::uint32_t thread = 0; thread < 4; ++thread) {
            threads.emplace_back([this, thread] {
                for (std::uint64_t i = 1; i <= appends_max / 4; ++i)
                    if (!append(KillRecord{cycle_, thread, i})) return;
            });
        }
        for (std::thread& thread : threads)
            thread.join();
    }
    /// Also voids the last records and lets go of the first ones.
    void append_and_cut() {
        std::minstd_rand random(cycle_);
        for (std::uint64_t i = 1; i <= appends_max; ++i) {
            if (!append(KillRecord{cycle_, 0, i})) return;
            const Lsn last = log_->last();
            const Lsn first = log_->first_live();
            if (random() % 16 == 0 && last > first + 8) {
                const Lsn keep = last - 1 - random() % 4;
                tell({.kind = Kind::truncating, .a = last + 1, .b = keep});
                const auto lsn = log_->truncate_suffix(keep);
                if (!lsn) return fail(lsn.error());
                tell({.kind = Kind::truncated, .a = *lsn, .b = keep});
            }
            if (random() % 32 == 0 && last > first + 100) {
                const Lsn live = last - 60;
                tell({.kind = Kind::releasing, .a = live});
                if (const auto released = log_->release_prefix(live); !released)
                    return fail(released.error());
            }
        }
    }
    bool append(const KillRecord& record) {
        const auto lsn = log_->append_durable(kill_payload(record));
        if (lsn)
            tell_durable(*lsn, record);
        else
            fail(lsn.error());
        return lsn.has_value();
    }

    const KillOptions* options_;
    std::uint32_t cycle_;
    int ledger_;
    std::unique_ptr<Log> log_{};
};

struct Moment {
    std::chrono::microseconds time{}; // at the latest
    std::uint64_t messages = 0;       // and not after so many
};

class KillLoop {
  public:
    explicit KillLoop(const KillOptions& options)
        : options_(&options), random_(static_cast<std::minstd_rand::result_type>(options.seed)) {}

    Result<KillTally> run() {
        // The first open finds out whether the engine can be had; the writer then opens the same.
        PROMTACT_TRY(compare());
        for (std::uint32_t cycle = 1; cycle <= options_->cycles && ledger_.complaints().empty();
             ++cycle) {
            write_and_kill(cycle);
            ++tally_.cycles;
            if (random_() % 2 == 0 || cycle == options_->cycles) PROMTACT_TRY(compare());
        }
        tally_.acknowledged = ledger_.acknowledged();
        tally_.unacknowledged = ledger_.unacknowledged();
        tally_.truncations = ledger_.truncations();
        if (!ledger_.complaints().empty()) {
            tally_.complaint =
                "cycle " + std::to_string(tally_.cycles) + ": " + ledger_.complaints().front();
        }
        return tally_;
    }

  private:
    /// Half the kills fall within the opening or soon after it, the others anywhere later.
    Moment choose_moment() {
        const auto most = std::uint64_t{1} << (7 + random_() % 9); // 128 us to 32 ms
        Moment moment{std::chrono::microseconds{random_() % most}, ~std::uint64_t{0}};
        if (random_() % 2 == 0) moment = {std::chrono::seconds{10}, 1 + random_() % 200};
        return moment;
    }

    void write_and_kill(std::uint32_t cycle) {
        const Moment moment = choose_moment();
        int ends[2] = {-1, -1};
        const int made = ::pipe2(ends, O_CLOEXEC);
        PROMTACT_ASSERT(made == 0);
        UniqueFd reader(ends[0]);
        UniqueFd writer(ends[1]);
        const pid_t child = ::fork();
        PROMTACT_ASSERT(child >= 0);
        if (child == 0) {
            reader.reset();
            Writer(*options_, cycle, writer.get()).run();
            ::_exit(0);
        }
        writer.reset();
        const std::uint64_t heard = listen(reader.get(), moment);
        const int killed = ::kill(child, SIGKILL);
        PROMTACT_ASSERT(killed == 0);
        const std::uint64_t after = drain(reader.get());
        const pid_t waited = ::waitpid(child, nullptr, 0);
        PROMTACT_ASSERT(waited == child);
        if (heard + after == 0) ++tally_.before_open;
    }
    std::uint64_t listen(int pipe, const Moment& moment) {
        const auto end = std::chrono::steady_clock::now() + moment.time;
        std::uint64_t heard = 0;
        while (heard < moment.messages) {
            const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
                end - std::chrono::steady_clock::now());
            if (left.count() <= 0) break;
            const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
            pollfd waiting{pipe, POLLIN, 0};
            if (::ppoll(&waiting, 1, &timeout, nullptr) <= 0) continue;
            if (!hear(pipe)) break;
            ++heard;
        }
        return heard;
    }
    std::uint64_t drain(int pipe) {
        std::uint64_t heard = 0;
        while (hear(pipe))
            ++heard;
        return heard;
    }
    /// A message of less than PIPE_BUF bytes is in the pipe whole or not at all. Source: pipe(7)
    bool hear(int pipe) {
        KillMessage message;
        const ssize_t got = ::read(pipe, &message, sizeof message);
        if (got != sizeof message) return false;
        if (message.kind == Kind::releasing) tally_.released = std::max(tally_.released, message.a);
        ledger_.hear(message);
        return true;
    }
    Result<void> compare() {
        auto log = Log::open(options_->directory, options_->config);
        if (!log) return Error{log.error().code, log.error().sys_errno, describe(log.error())};
        std::vector<KillSeen> seen;
        if ((*log)->last() >= (*log)->first_live()) {
            PROMTACT_TRY((*log)->read(
                (*log)->first_live(), (*log)->last(), [&seen](const RecordView& record) {
                    seen.push_back({record.lsn, parse_kill_payload(record.payload)});
                }));
        }
        ledger_.compare((*log)->first_live(), (*log)->last(), seen);
        ++tally_.compared;
        return (*log)->close();
    }

    const KillOptions* options_;
    std::minstd_rand random_;
    KillLedger ledger_{};
    KillTally tally_{};
};

} // namespace

Result<KillTally> run_kill_loop(const KillOptions& options) {
    return KillLoop(options).run();
}

} // namespace promtact::wal::testing
