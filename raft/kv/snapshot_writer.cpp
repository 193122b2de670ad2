// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstring>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/kv/snapshot_format.hpp>
#include <promtact/kv/snapshot_writer.hpp>
#include <promtact/kv/state_machine.hpp>

namespace promtact::kv {
namespace {

void store_digest(std::span<std::byte> out, std::size_t at, const Digest128& digest) {
    store_le<std::uint64_t>(out, at, digest.low);
    store_le<std::uint64_t>(out, at + 8, digest.high);
}

void store_text(std::span<std::byte> out, std::size_t at, std::string_view text) {
    PROMTACT_ASSERT(at + text.size() <= out.size());
    if (!text.empty()) std::memcpy(out.data() + at, text.data(), text.size());
}

std::uint32_t as_u32(std::size_t size) {
    PROMTACT_ASSERT(size <= value_bytes_max);
    return static_cast<std::uint32_t>(size);
}

} // namespace

SnapshotWriter::SnapshotWriter(const SnapshotHead& head, const Digest128& state) : state_(state) {
    const auto out = grow(SnapshotBytes::head);
    store_text(out, 0, snapshot_magic);
    store_le<std::uint16_t>(out, 8, snapshot_version);
    const std::array words{
        head.applied,
        head.now,
        head.limits.sessions_max,
        head.limits.outstanding_max,
        head.limits.answer_bytes_max,
        head.limits.session_timeout,
        head.keys,
        head.sessions};
    static_assert(16 + 8 * words.size() == SnapshotBytes::head);
    for (std::size_t i = 0; i < words.size(); ++i)
        store_le<std::uint64_t>(out, 16 + 8 * i, words[i]);
    checksum_.add(out);
}

std::span<std::byte> SnapshotWriter::grow(std::size_t bytes) {
    const std::size_t begin = part_.size();
    part_.resize(begin + bytes);
    return std::span(part_).subspan(begin);
}

void SnapshotWriter::begin_part() {
    PROMTACT_ASSERT(!ended_);
    PROMTACT_ASSERT(empty());
    part_.clear();
    taken_ = 0;
}

std::size_t SnapshotWriter::take(std::span<std::byte> out) {
    PROMTACT_ASSERT(taken_ <= part_.size());
    const std::size_t bytes = std::min(out.size(), part_.size() - taken_);
    if (bytes > 0) std::memcpy(out.data(), part_.data() + taken_, bytes);
    taken_ += bytes;
    return bytes;
}

void SnapshotWriter::put_value(std::string_view key, std::string_view value) {
    begin_part();
    const auto out = grow(SnapshotBytes::value + key.size() + value.size());
    store_le<std::uint8_t>(out, 0, static_cast<std::uint8_t>(SnapshotPart::value));
    store_le<std::uint32_t>(out, 4, as_u32(key.size()));
    store_le<std::uint32_t>(out, 8, as_u32(value.size()));
    store_text(out, SnapshotBytes::value, key);
    store_text(out, SnapshotBytes::value + key.size(), value);
    checksum_.add(out);
}

void SnapshotWriter::put_session(std::uint64_t id, const Session& session) {
    begin_part();
    const auto head = grow(SnapshotBytes::session);
    store_le<std::uint8_t>(head, 0, static_cast<std::uint8_t>(SnapshotPart::session));
    store_le<std::uint32_t>(head, 4, as_u32(session.answers.size()));
    store_le<std::uint64_t>(head, 8, id);
    store_le<std::uint64_t>(head, 16, session.last_index);
    store_le<std::uint64_t>(head, 24, session.last_time);
    store_le<std::uint64_t>(head, 32, session.first_unanswered);
    checksum_.add(head);
    for (const KeptAnswer& answer : session.answers) {
        const auto out = grow(SnapshotBytes::answer + answer.value.size());
        store_le<std::uint8_t>(out, 0, static_cast<std::uint8_t>(SnapshotPart::answer));
        store_le<std::uint8_t>(out, 1, static_cast<std::uint8_t>(answer.status));
        store_le<std::uint8_t>(out, 2, answer.found ? 1 : 0);
        store_le<std::uint32_t>(out, 4, as_u32(answer.value.size()));
        store_le<std::uint64_t>(out, 8, answer.number);
        store_text(out, SnapshotBytes::answer, answer.value);
        checksum_.add(out);
    }
}

void SnapshotWriter::put_end() {
    begin_part();
    const auto out = grow(SnapshotBytes::end);
    store_le<std::uint8_t>(out, 0, static_cast<std::uint8_t>(SnapshotPart::end));
    store_digest(out, 8, state_);
    checksum_.add(out.first(24));
    store_digest(out, 24, checksum_.value());
    ended_ = true;
}

void StateMachine::begin_snapshot() {
    end_snapshot();
    values_.begin_cut();
    sessions_.cut().begin_cut();
    const SnapshotHead head{
        .applied = applied_,
        .now = now_,
        .limits = limits_,
        .keys = values_.size(),
        .sessions = sessions_.size()};
    writer_.emplace(head, digest());
}

void StateMachine::end_snapshot() noexcept {
    values_.end_cut();
    sessions_.cut().end_cut();
    writer_.reset();
}

/// Puts the next part into the writer. False behind the end.
bool StateMachine::fill_writer() {
    PROMTACT_ASSERT(writer_->empty());
    if (writer_->done()) return false;
    SnapshotWriter& writer = *writer_;
    if (values_.next_of_cut([&writer](const std::string& key, const std::string& value) {
            writer.put_value(key, value);
        }))
        return true;
    if (sessions_.cut().next_of_cut([&writer](std::uint64_t id, const Session& session) {
            writer.put_session(id, session);
        }))
        return true;
    writer.put_end();
    return true;
}

std::size_t StateMachine::read_snapshot(std::span<std::byte> out) {
    PROMTACT_ASSERT(snapshot_active());
    std::size_t filled = 0;
    while (filled < out.size()) {
        if (writer_->empty() && !fill_writer()) break;
        filled += writer_->take(out.subspan(filled));
    }
    return filled;
}

} // namespace promtact::kv
