// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>

#include <promtact/base/assert.hpp>
#include <promtact/uring/uring_storage.hpp>
#include <promtact/wal/loop_log.hpp>

#include "shell_directory_internal.hpp"
#include "shell_mailbox_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint32_t storage_depth = 64;
constexpr std::uint64_t open_wait_ns = 100'000'000; // an answer always ends it earlier

} // namespace

Result<std::unique_ptr<LoopLog>>
LoopLog::open(const std::filesystem::path& directory, const LogConfig& config) {
    if (config.only && *config.only != Engine::ring_sync) {
        return Error{
            Errc::invalid_argument, 0,
            "engine " + std::string(to_string(*config.only)) +
                " blocks its caller: an event loop needs ring_sync"};
    }
    PROMTACT_TRY_ASSIGN(const LogOptions options, completed(config.log));
    PROMTACT_TRY_ASSIGN(UniqueFd lock, enter_directory(directory, options.open, config.lock_wait));
    PROMTACT_TRY_ASSIGN(uring::AlignedBuffer arena, make_arena(options));
    PROMTACT_TRY_ASSIGN(
        auto storage,
        uring::UringStorage::open(
            directory, {.depth = storage_depth, .arena = arena.all(), .event_fd = true}));
    auto log =
        std::make_unique<LoopLog>(std::move(lock), std::move(arena), std::move(storage), options);
    LogCore& core = log->core();
    while (core.state() == LogCore::State::opening) {
        log->turn();
        if (core.state() != LogCore::State::opening || log->mailbox_->has_mail()) continue;
        std::array<IoDone, 16> answers{};
        const std::size_t count = log->storage_->wait(answers, open_wait_ns);
        log->mailbox_->put_answers(std::span(answers).first(count));
    }
    if (core.state() == LogCore::State::refused) return core.open_error();
    if (core.poisoned()) return core.poison();
    return log;
}

LoopLog::LoopLog(
    UniqueFd lock, uring::AlignedBuffer arena, std::unique_ptr<Storage> storage,
    const LogOptions& options)
    : lock_(std::move(lock)), arena_(std::move(arena)), storage_(std::move(storage)),
      mailbox_(std::make_unique<Mailbox>(storage_->limits())) {
    core_.emplace(*mailbox_, options, arena_.all().first(LogCore::arena_bytes(options)));
}

LoopLog::~LoopLog() = default;

std::optional<std::chrono::nanoseconds> LoopLog::timeout() const {
    const std::uint64_t deadline = core_->deadline_ns();
    if (deadline == ~std::uint64_t{0}) return std::nullopt;
    const std::uint64_t now = clock_.now_ns();
    return std::chrono::nanoseconds(deadline > now ? deadline - now : 0);
}

void LoopLog::turn() {
    std::array<IoDone, 64> answers{};
    std::size_t count = 0;
    do {
        core_->pump(clock_.now_ns());
        mailbox_->take_requests(requests_);
        std::size_t taken = 0;
        while (taken < requests_.size() && storage_->submit(requests_[taken]))
            ++taken;
        requests_.erase(requests_.begin(), requests_.begin() + static_cast<std::ptrdiff_t>(taken));
        count = storage_->poll(answers); // hands the kernel what was submitted
        mailbox_->put_answers(std::span(answers).first(count));
    } while (count > 0);
    PROMTACT_ASSERT(requests_.empty()); // the mailbox takes no more than the storage does
    if (core_->state() == LogCore::State::closed) lock_.reset();
}

} // namespace promtact::wal
