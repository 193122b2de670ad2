// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "kill_ledger.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace promtact::wal::testing {

std::vector<std::byte> kill_payload(const KillRecord& record) {
    std::seed_seq seed{
        record.cycle, record.thread, static_cast<std::uint32_t>(record.counter),
        static_cast<std::uint32_t>(record.counter >> 32)};
    std::minstd_rand random(seed);
    // Mostly short, sometimes several blocks.
    const std::size_t most = random() % 16 == 0 ? 20'000 : 600;
    std::vector<std::byte> payload(sizeof record + random() % most);
    std::memcpy(payload.data(), &record, sizeof record);
    for (std::size_t i = sizeof record; i < payload.size(); ++i)
        payload[i] = static_cast<std::byte>(random() >> 8);
    return payload;
}

std::optional<KillRecord> parse_kill_payload(std::span<const std::byte> payload) {
    KillRecord record;
    if (payload.size() < sizeof record) return std::nullopt;
    std::memcpy(&record, payload.data(), sizeof record);
    if (!std::ranges::equal(kill_payload(record), payload)) return std::nullopt;
    return record;
}

void KillLedger::complain(const char* what, Lsn lsn) {
    complaints_.push_back("LSN " + std::to_string(lsn) + ": " + what);
}

bool KillLedger::voided(Lsn lsn) const noexcept {
    return std::ranges::any_of(
        truncated_, [lsn](const Truncation& t) { return lsn > t.keep && lsn <= t.lsn; });
}

void KillLedger::drop(const Truncation& truncation) {
    live_.erase(live_.upper_bound(truncation.keep), live_.upper_bound(truncation.lsn));
    truncated_.push_back(truncation);
    ++truncations_;
}

void KillLedger::hear(const KillMessage& message) {
    switch (message.kind) {
    case KillMessage::Kind::opened:
        settle(message.a);
        break;
    case KillMessage::Kind::durable: {
        ++acknowledged_;
        promise_through(message.a);
        std::optional<KillRecord>& known = live_[message.a];
        if (known) complain("acknowledged twice", message.a);
        known = message.record;
        break;
    }
    case KillMessage::Kind::truncating:
        pending_ = Truncation{message.a, message.b};
        break;
    case KillMessage::Kind::truncated:
        if (!pending_ || pending_->lsn != message.a) complain("another truncation", message.a);
        drop({message.a, message.b});
        promised_ = std::max(promised_, message.a);
        pending_.reset();
        break;
    case KillMessage::Kind::releasing:
        release_asked_ = std::max(release_asked_, message.a);
        break;
    case KillMessage::Kind::failed:
        complaints_.push_back(
            "the writer failed with error " + std::to_string(message.a) + ", errno " +
            std::to_string(message.b));
        break;
    }
}

void KillLedger::settle(Lsn last) {
    if (last < promised_) complain("acknowledged or found before, now beyond the end", promised_);
    if (pending_ && last >= pending_->lsn) {
        promised_ = std::max(promised_, pending_->lsn);
        drop(*pending_);
    }
    pending_.reset();
    unacknowledged_ += last - std::min(last, promised_);
    promise_through(last);
}

/// What lies before something durable is durable, too, whether or not that was said.
void KillLedger::promise_through(Lsn last) {
    for (; promised_ < last; ++promised_)
        live_.try_emplace(promised_ + 1);
}

void KillLedger::compare(Lsn first_live, Lsn last, std::span<const KillSeen> seen) {
    settle(last);
    if (first_live > release_asked_) complain("released without having been asked to", first_live);
    live_.erase(live_.begin(), live_.lower_bound(first_live));

    auto expected = live_.begin();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counters;
    for (const KillSeen& found : seen) {
        for (; expected != live_.end() && expected->first < found.lsn; ++expected)
            complain("lost", expected->first);
        if (expected == live_.end() || expected->first != found.lsn) {
            complain(voided(found.lsn) ? "resurrected" : "never appended", found.lsn);
            continue;
        }
        if (!found.record || (expected->second && *expected->second != *found.record)) {
            complain("wrong content", found.lsn);
        } else {
            expected->second = found.record;
            std::uint64_t& counter = counters[{found.record->cycle, found.record->thread}];
            if (found.record->counter <= counter) complain("twice or out of order", found.lsn);
            counter = found.record->counter;
        }
        ++expected;
    }
    for (; expected != live_.end(); ++expected)
        complain("lost", expected->first);
}

} // namespace promtact::wal::testing
