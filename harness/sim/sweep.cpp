// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The process that hands out seeds, collects failures and replaces workers that died.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <promtact/base/clock.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/sim/sweep.hpp>

#include "sweep_worker_internal.hpp"

namespace promtact::sim {
namespace {

constexpr int poll_ms = 20;

/// A worker process as its parent sees it.
struct Worker {
    pid_t pid = -1; // -1: none
    UniqueFd failures{};
    std::string bytes{}; // of a failure that is not complete yet
};

/// How a process ended that did not end by itself.
std::string how(int status) {
    if (WIFSIGNALED(status)) return std::string("signal ") + ::strsignal(WTERMSIG(status));
    return "exit status " + std::to_string(WEXITSTATUS(status));
}

class Sweep {
  public:
    Sweep(
        const Protocol& protocol, const Scenario& scenario, const SweepOptions& options,
        SweepReport report, SweepShared shared)
        : protocol_(protocol), scenario_(scenario), options_(options), report_(std::move(report)),
          shared_(std::move(shared)), workers_(options.jobs), begin_(clock_.now()),
          resumed_at_(report_.done) {
        SweepControl& control = shared_.control();
        control.next = resumed_at_;
        control.limit =
            options_.checkpoint ? std::min(resumed_at_ + first_round, to_do()) : to_do();
    }

    Result<SweepReport> run() {
        for (std::uint32_t n = 0; n < workers_.size(); ++n)
            PROMTACT_TRY(start(n));
        while (alive() > 0) {
            wait_for_failures();
            PROMTACT_TRY(reap());
            if (is_over()) shared_.control().stop = true;
            if (options_.progress) options_.progress(seeds_done(), total());
            next_round();
        }
        return finished();
    }

  private:
    static constexpr std::uint64_t first_round = 256; // seeds; later ones by what they took

    /// Indices of this shard, all ones when only time ends the sweep.
    [[nodiscard]] std::uint64_t to_do() const {
        if (options_.seeds == 0) return ~std::uint64_t{0} >> 1;
        const std::uint64_t of = options_.shard.of;
        return (options_.seeds + of - 1 - options_.shard.index) / of;
    }
    [[nodiscard]] std::uint64_t total() const { return options_.seeds == 0 ? 0 : to_do(); }
    [[nodiscard]] std::uint64_t seeds_done() const {
        std::uint64_t sum = resumed_at_;
        for (const SweepSlot& slot : shared_.slots())
            sum += slot.seeds;
        return sum;
    }
    [[nodiscard]] std::size_t alive() const {
        return static_cast<std::size_t>(std::count_if(
            workers_.begin(), workers_.end(), [](const Worker& one) { return one.pid >= 0; }));
    }
    [[nodiscard]] bool is_over() const {
        const SweepControl& control = shared_.control();
        if (control.last != ~std::uint64_t{0}) return true;
        if (options_.time.count() > 0 && clock_.now() - begin_ >= options_.time) return true;
        if (options_.interrupted && options_.interrupted()) return true;
        return control.limit >= to_do() && control.next >= to_do();
    }

    Result<void> start(std::uint32_t n) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            return Error::from_errno(errno, "pipe2 for a sweep");
        UniqueFd read_end(ends[0]);
        UniqueFd write_end(ends[1]);
        std::fflush(nullptr); // what is buffered must not be written twice
        const pid_t parent = ::getpid();
        const pid_t pid = ::fork();
        if (pid < 0) return Error::from_errno(errno, "fork for a sweep");
        if (pid == 0) {
            // Ends with its parent; an interrupt is the parent's to answer.
            static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
            static_cast<void>(std::signal(SIGINT, SIG_IGN));
            if (::getppid() != parent) ::_exit(0);
            sweep_worker(protocol_, scenario_, options_, shared_, n, write_end.get());
            ::_exit(0);
        }
        workers_[n] = {.pid = pid, .failures = std::move(read_end)};
        return {};
    }

    void wait_for_failures() {
        std::vector<pollfd> polled;
        for (const Worker& worker : workers_) {
            if (worker.pid >= 0)
                polled.push_back({.fd = worker.failures.get(), .events = POLLIN, .revents = 0});
        }
        static_cast<void>(::poll(polled.data(), polled.size(), poll_ms));
        for (const pollfd& one : polled) {
            if ((one.revents & POLLIN) == 0) continue;
            const auto worker =
                std::find_if(workers_.begin(), workers_.end(), [&](const Worker& w) {
                    return w.failures.get() == one.fd;
                });
            read_some(*worker);
        }
    }
    /// False at the end of the pipe.
    bool read_some(Worker& worker) {
        std::array<char, 16 << 10> buffer;
        const ssize_t got = ::read(worker.failures.get(), buffer.data(), buffer.size());
        if (got <= 0) return false;
        worker.bytes.append(buffer.data(), static_cast<std::size_t>(got));
        for (SweepFailure& failure : take_failures(worker.bytes))
            add(std::move(failure));
        return true;
    }
    void add(SweepFailure failure) { report_.failures.push_back(std::move(failure)); }

    /// Workers that ended by themselves are done; the others died of what they ran.
    Result<void> reap() {
        for (std::uint32_t n = 0; n < workers_.size(); ++n) {
            Worker& worker = workers_[n];
            int status = 0;
            if (worker.pid < 0 || ::waitpid(worker.pid, &status, WNOHANG) != worker.pid) continue;
            worker.pid = -1;
            while (read_some(worker)) {
            }
            worker.failures.reset();
            const bool between = shared_.slots()[n].index == SweepSlot::idle;
            if (between && WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
            if (between) {
                return Error{
                    Errc::system, 0,
                    "a process of the sweep was ended from outside: " + how(status)};
            }
            note_death(n, status);
            if (options_.keep_going) PROMTACT_TRY(start(n));
        }
        return {};
    }
    void note_death(std::uint32_t n, int status) {
        SweepSlot& slot = shared_.slots()[n];
        const std::uint64_t index = slot.index;
        slot.index = SweepSlot::idle;
        ++slot.seeds;
        const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        const engine::Verdict verdict = late ? engine::Verdict::stuck : engine::Verdict::error;
        ++slot.verdicts[static_cast<std::size_t>(verdict)];
        add(
            {.seed = seed_at(options_, index),
             .outcome =
                 {.verdict = verdict,
                  .text = late ? "the run did not end within " +
                                     std::to_string(options_.seed_seconds) + " s"
                               : "the protocol ended its process: " + how(status)},
             .ended_process = true});
        if (options_.keep_going) return;
        std::uint64_t last = shared_.control().last;
        while (index < last && !shared_.control().last.compare_exchange_weak(last, index)) {
        }
    }

    /// When all that was handed out is done, tells of it and hands out more.
    void next_round() {
        SweepControl& control = shared_.control();
        // Once it is over nothing more may be promised: a worker that waits has turned back.
        if (control.stop || !options_.checkpoint || control.limit >= to_do()) return;
        if (seeds_done() < control.limit) return;
        const auto now = clock_.now();
        collect();
        report_.done = control.limit;
        options_.checkpoint(report_);
        const auto took = std::max(now - round_begin_, std::chrono::nanoseconds(1'000'000));
        const std::uint64_t seeds = control.limit - round_at_;
        const std::uint64_t more =
            seeds * static_cast<std::uint64_t>(options_.checkpoint_every / took) + 1;
        round_at_ = control.limit;
        round_begin_ = now;
        control.limit = std::min(control.limit + std::max(more, first_round), to_do());
    }

    /// Brings the counts of the report up to date.
    void collect() {
        SweepTotals& totals = report_.totals;
        totals = base_;
        for (const SweepSlot& slot : shared_.slots()) {
            totals.seeds += slot.seeds;
            totals.steps += slot.steps;
            totals.deliveries += slot.deliveries;
            totals.twins += slot.twins;
            for (std::size_t i = 0; i < totals.verdicts.size(); ++i)
                totals.verdicts[i] += slot.verdicts[i];
        }
        for (std::size_t i = 0; i < totals.faults.size(); ++i)
            totals.faults[i] += shared_.faults()[i];
        for (std::size_t i = 0; i < totals.goals.size(); ++i)
            totals.goals[i].times += shared_.goals()[i];
        report_.wall = base_wall_ + (clock_.now() - begin_);
        std::sort(
            report_.failures.begin(), report_.failures.end(),
            [&](const SweepFailure& a, const SweepFailure& b) {
                return a.seed - options_.first < b.seed - options_.first;
            });
        if (report_.failures.size() > failures_max) report_.failures.resize(failures_max);
    }
    Result<SweepReport> finished() {
        collect();
        const SweepControl& control = shared_.control();
        const std::uint64_t handed_out =
            std::min<std::uint64_t>(std::min<std::uint64_t>(control.next, control.limit), to_do());
        report_.done = std::min<std::uint64_t>(handed_out, control.last);
        return report_;
    }

    const Protocol& protocol_;
    const Scenario& scenario_;
    const SweepOptions& options_;
    SweepReport report_;
    SweepShared shared_;
    std::vector<Worker> workers_;
    MonotonicClock clock_{};
    std::chrono::nanoseconds begin_{};
    SweepTotals base_{report_.totals}; // of what was resumed
    std::chrono::nanoseconds base_wall_{report_.wall};
    std::uint64_t resumed_at_ = 0;
    std::uint64_t round_at_ = resumed_at_;
    std::chrono::nanoseconds round_begin_{begin_};
};

} // namespace

Result<SweepReport> sweep(
    const Protocol& protocol, const Scenario& scenario, const SweepOptions& options,
    const SweepReport* resumed) {
    PROMTACT_ASSERT(options.jobs > 0);
    PROMTACT_ASSERT(options.shard.index < options.shard.of);
    SweepReport report;
    if (resumed != nullptr) {
        report = *resumed;
    } else {
        report.protocol = protocol.name;
        report.scenario = scenario;
        report.strategy = to_string(options.strategy.kind);
        report.strategy_faults = options.strategy.faults;
        report.first = options.first;
        report.shard = options.shard;
        report.totals.faults.resize(scenario.faults.size());
        const std::unique_ptr<Session> session = protocol.start({.scenario = scenario});
        report.totals.goals = session->goals();
        for (engine::Goals::Goal& goal : report.totals.goals)
            goal.times = 0;
    }
    PROMTACT_TRY_ASSIGN(
        SweepShared shared,
        SweepShared::create(options.jobs, scenario.faults.size(), report.totals.goals.size()));
    return Sweep(protocol, scenario, options, std::move(report), std::move(shared)).run();
}

} // namespace promtact::sim
