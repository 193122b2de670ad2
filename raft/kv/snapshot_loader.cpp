// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/kv/snapshot_loader.hpp>

#include "state_digest_internal.hpp"

namespace promtact::kv {
namespace {

constexpr std::size_t prefix = 16; // of every part: says how long it is
static_assert(prefix <= SnapshotBytes::value);
static_assert(prefix <= SnapshotBytes::answer);
static_assert(prefix <= SnapshotBytes::session);
static_assert(prefix <= SnapshotBytes::end);

Digest128 load_digest(std::span<const std::byte> bytes, std::size_t at) {
    return {
        .high = load_le<std::uint64_t>(bytes, at + 8), .low = load_le<std::uint64_t>(bytes, at)};
}

bool all_zero(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

Error not_ours(std::string what) {
    return {Errc::format, 0, "snapshot of the state machine: " + std::move(what)};
}

} // namespace

Error SnapshotLoader::corrupt(const std::string& what) const {
    return {
        Errc::corrupt, 0,
        "snapshot of the state machine, byte " + std::to_string(offset_) + ": " + what};
}

SnapshotPart SnapshotLoader::due() const noexcept {
    if (answers_left_ > 0) return SnapshotPart::answer;
    if (keys_left_ > 0) return SnapshotPart::value;
    return sessions_left_ > 0 ? SnapshotPart::session : SnapshotPart::end;
}

Result<void> SnapshotLoader::feed(std::span<const std::byte> bytes) {
    while (!failure_.has_value() && !bytes.empty()) {
        if (ended_) {
            failure_ = corrupt("bytes behind the end");
            break;
        }
        PROMTACT_ASSERT(part_.size() < wanted_);
        const std::size_t taken = std::min(bytes.size(), wanted_ - part_.size());
        part_.insert(
            part_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
        bytes = bytes.subspan(taken);
        if (part_.size() < wanted_) break;
        if (auto advanced = advance(); !advanced) failure_ = std::move(advanced).error();
    }
    if (failure_.has_value()) return *failure_;
    return {};
}

Result<void> SnapshotLoader::advance() {
    PROMTACT_ASSERT(part_.size() == wanted_);
    if (has_head_ && !measured_) {
        PROMTACT_TRY_ASSIGN(wanted_, measure());
        measured_ = true;
        if (part_.size() < wanted_) return {};
    }
    PROMTACT_TRY(has_head_ ? take_part() : take_head());
    offset_ += part_.size();
    part_.clear();
    wanted_ = prefix;
    measured_ = false;
    return {};
}

Result<void> SnapshotLoader::take_head() {
    const std::span<const std::byte> bytes = part_;
    if (text_of(bytes.first(snapshot_magic.size())) != snapshot_magic)
        return not_ours("does not begin with PROMTKV1");
    if (const auto version = load_le<std::uint16_t>(bytes, 8); version != snapshot_version)
        return not_ours("version " + std::to_string(version) + " is not known here");
    if (!all_zero(bytes.subspan(10, 6))) return corrupt("reserved bytes are not zero");
    machine_.applied_ = load_le<std::uint64_t>(bytes, 16);
    machine_.now_ = load_le<std::uint64_t>(bytes, 24);
    machine_.limits_ = {
        .sessions_max = load_le<std::uint64_t>(bytes, 32),
        .outstanding_max = load_le<std::uint64_t>(bytes, 40),
        .answer_bytes_max = load_le<std::uint64_t>(bytes, 48),
        .session_timeout = load_le<std::uint64_t>(bytes, 56)};
    keys_left_ = load_le<std::uint64_t>(bytes, 64);
    sessions_left_ = load_le<std::uint64_t>(bytes, 72);
    if (auto valid = validate(machine_.limits_); !valid) return corrupt(valid.error().context);
    if (sessions_left_ > machine_.limits_.sessions_max)
        return corrupt("more sessions than its limits allow");
    checksum_.add(bytes);
    has_head_ = true;
    return {};
}

Result<std::size_t> SnapshotLoader::measure() const {
    const std::span<const std::byte> bytes = part_;
    if (load_le<std::uint8_t>(bytes, 0) != static_cast<std::uint8_t>(due())) {
        return corrupt(
            "part " + std::to_string(load_le<std::uint8_t>(bytes, 0)) + " instead of " +
            std::to_string(static_cast<unsigned>(due())));
    }
    const auto size = load_le<std::uint32_t>(bytes, 4);
    switch (due()) {
    case SnapshotPart::value: {
        const auto value_size = load_le<std::uint32_t>(bytes, 8);
        if (size == 0 || size > key_bytes_max) return corrupt("a key of no possible length");
        if (value_size > value_bytes_max) return corrupt("a value that is too long");
        return SnapshotBytes::value + size + value_size;
    }
    case SnapshotPart::session:
        if (size > outstanding_limit) return corrupt("a session with too many answers");
        return SnapshotBytes::session;
    case SnapshotPart::answer:
        if (size > value_bytes_max) return corrupt("an answer that is too long");
        return SnapshotBytes::answer + size;
    case SnapshotPart::end:
        return SnapshotBytes::end;
    }
    PROMTACT_ASSERT(false);
    return std::size_t{0};
}

Result<void> SnapshotLoader::take_part() {
    switch (due()) {
    case SnapshotPart::value:
        return take_value();
    case SnapshotPart::session:
        return take_session();
    case SnapshotPart::answer:
        return take_answer();
    case SnapshotPart::end:
        return take_end();
    }
    PROMTACT_ASSERT(false);
    return {};
}

Result<void> SnapshotLoader::take_value() {
    const std::span<const std::byte> bytes = part_;
    if (!all_zero(bytes.subspan(1, 3)) || !all_zero(bytes.subspan(12, 4)))
        return corrupt("reserved bytes of a value are not zero");
    const auto key_size = load_le<std::uint32_t>(bytes, 4);
    const std::string_view key = text_of(bytes.subspan(SnapshotBytes::value, key_size));
    const std::string_view value = text_of(bytes.subspan(SnapshotBytes::value + key_size));
    if (machine_.keys() > 0 && key <= last_key_) return corrupt("keys are not in ascending order");
    last_key_ = key;
    machine_.values_.insert(key, std::string(value));
    machine_.values_digest_.add(value_digest(key, value));
    checksum_.add(bytes);
    --keys_left_;
    return {};
}

Result<void> SnapshotLoader::take_session() {
    const std::span<const std::byte> bytes = part_;
    if (!all_zero(bytes.subspan(1, 3))) return corrupt("reserved bytes of a session are not zero");
    const std::uint64_t previous = session_id_;
    session_id_ = load_le<std::uint64_t>(bytes, 8);
    session_ = {};
    session_.last_index = load_le<std::uint64_t>(bytes, 16);
    session_.last_time = load_le<std::uint64_t>(bytes, 24);
    session_.first_unanswered = load_le<std::uint64_t>(bytes, 32);
    answers_left_ = load_le<std::uint32_t>(bytes, 4);
    if (session_id_ <= previous) return corrupt("sessions are not in ascending order");
    if (session_.last_index > machine_.applied_)
        return corrupt("a session was used after the snapshot");
    if (session_.last_time > machine_.now_) return corrupt("a session was used after its time");
    const std::uint64_t timeout = machine_.limits_.session_timeout;
    if (timeout != 0 && machine_.now_ - session_.last_time >= timeout)
        return corrupt("a session that has expired");
    checksum_.add(bytes);
    --sessions_left_;
    return close_session();
}

Result<void> SnapshotLoader::take_answer() {
    const std::span<const std::byte> bytes = part_;
    const auto status = load_le<std::uint8_t>(bytes, 1);
    const auto found = load_le<std::uint8_t>(bytes, 2);
    if (status > static_cast<std::uint8_t>(Status::mismatch) || found > 1 ||
        load_le<std::uint8_t>(bytes, 3) != 0)
        return corrupt("an answer that is never kept");
    const auto value = text_of(bytes.subspan(SnapshotBytes::answer));
    if (found == 0 && !value.empty()) return corrupt("an answer with the value of an absent key");
    session_.answers.push_back(
        {.number = load_le<std::uint64_t>(bytes, 8),
         .status = static_cast<Status>(status),
         .found = found == 1,
         .value = std::string(value)});
    checksum_.add(bytes);
    --answers_left_;
    return close_session();
}

/// After the last answer of a session.
Result<void> SnapshotLoader::close_session() {
    if (answers_left_ > 0) return {};
    auto restored = machine_.sessions_.restore(session_id_, std::move(session_));
    session_ = {};
    if (!restored) return corrupt(restored.error().context);
    return {};
}

Result<void> SnapshotLoader::take_end() {
    const std::span<const std::byte> bytes = part_;
    PROMTACT_ASSERT(keys_left_ + sessions_left_ + answers_left_ == 0);
    if (!all_zero(bytes.subspan(1, 7))) return corrupt("reserved bytes of the end are not zero");
    checksum_.add(bytes.first(24));
    if (load_digest(bytes, 24) != checksum_.value()) return corrupt("the checksum does not match");
    if (load_digest(bytes, 8) != machine_.digest())
        return corrupt("the digest of the state does not match");
    ended_ = true;
    return {};
}

Result<StateMachine> SnapshotLoader::finish() && {
    if (failure_.has_value()) return *failure_;
    if (!ended_) {
        offset_ += part_.size();
        return corrupt("the snapshot ends here, and is not whole");
    }
    return std::move(machine_);
}

} // namespace promtact::kv
