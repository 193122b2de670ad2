// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <promtact/base/assert.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/error_text.hpp>

#include "suite_internal.hpp"

namespace promtact::wal_testing {
namespace {

constexpr std::uint64_t patience_ns = 20'000'000'000;

std::string words_of(const IoOp& op) {
    std::string words(to_string(op.kind));
    if (!op.name.empty()) words += " '" + std::string(op.name) + "'";
    if (op.kind == IoKind::read || op.kind == IoKind::write)
        words += " of " + std::to_string(op.data.size()) + " bytes at " + std::to_string(op.offset);
    return words;
}

std::string words_of(std::int64_t answer) {
    if (answer >= 0) return std::to_string(answer);
    return answer < -4095 ? std::to_string(answer) : errno_name(static_cast<int>(-answer));
}

} // namespace

Bytes pattern(std::uint64_t number, std::size_t bytes) {
    Bytes out(bytes);
    std::uint64_t state = number * 0x9e3779b97f4a7c15ULL + 1;
    for (std::byte& byte : out) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        byte = static_cast<std::byte>((state >> 56) | 1U);
    }
    return out;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool all_are(std::span<const std::byte> bytes, std::byte value) noexcept {
    return std::all_of(
        bytes.begin(), bytes.end(), [value](std::byte byte) { return byte == value; });
}

std::string unseen(const StoragePlace& place) {
    return place.models_crashes() ? std::string{}
                                  : "this place cannot crash: it was closed and opened instead";
}

Result<std::vector<std::int64_t>> Hand::ask_all(std::span<IoOp> ops) {
    PROMTACT_ASSERT(ops.size() <= storage_->limits().depth);
    const std::uint64_t first = last_id_ + 1;
    for (IoOp& op : ops) {
        op.id = ++last_id_;
        if (!storage_->submit(op)) {
            return Error{
                Errc::busy, 0, words_of(op) + " was not taken though there must be room for it"};
        }
    }
    std::vector<std::int64_t> answers(ops.size());
    std::vector<bool> answered(ops.size());
    const MonotonicClock clock;
    const std::uint64_t end = clock.now_ns() + patience_ns;
    for (std::size_t left = ops.size(); left > 0;) {
        std::array<IoDone, 16> done{};
        const std::size_t count = storage_->wait(done, 100'000'000);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t index = done[i].id - first;
            if (index >= ops.size() || answered[index]) {
                return Error{
                    Errc::io, EPROTO,
                    "an answer came to request " + std::to_string(done[i].id) +
                        ", which is not in flight"};
            }
            answered[index] = true;
            answers[index] = done[i].result;
            --left;
        }
        if (count == 0 && clock.now_ns() > end)
            return Error{Errc::timeout, 0, "no answer came to " + words_of(ops.front())};
    }
    return answers;
}

Result<std::int64_t> Hand::ask(IoOp op) {
    PROMTACT_TRY_ASSIGN(const std::vector<std::int64_t> answers, ask_all(std::span(&op, 1)));
    return answers.front();
}

Result<std::int64_t> Hand::must(const IoOp& op) {
    PROMTACT_TRY_ASSIGN(const std::int64_t answer, ask(op));
    if (answer >= 0) return answer;
    return Error{Errc::io, 0, words_of(op) + " was answered " + words_of(answer)};
}

Result<void> Hand::expect(const IoOp& op, std::int64_t answer) {
    PROMTACT_TRY_ASSIGN(const std::int64_t got, ask(op));
    if (got == answer) return {};
    return Error{
        Errc::io, 0, words_of(op) + " was answered " + words_of(got) + ", not " + words_of(answer)};
}

Result<void> Hand::create(std::uint32_t file, std::string_view name) {
    PROMTACT_TRY(must({.kind = IoKind::create, .file = file, .name = name}));
    return {};
}

Result<void>
Hand::write(std::uint32_t file, std::uint64_t offset, std::span<const std::byte> data) {
    wal::AlignedBytes memory(data.size(), suite_block);
    const std::span<std::byte> copy = memory.span();
    std::memcpy(copy.data(), data.data(), data.size());
    for (std::size_t done = 0; done < data.size();) {
        PROMTACT_TRY_ASSIGN(
            const std::int64_t count, must(
                                          {.kind = IoKind::write,
                                           .file = file,
                                           .offset = offset + done,
                                           .data = copy.subspan(done)}));
        if (count == 0) return Error{Errc::io, 0, "a write was answered 0"};
        done += static_cast<std::size_t>(count);
    }
    return {};
}

Result<Bytes> Hand::read(std::uint32_t file, std::uint64_t offset, std::size_t bytes) {
    const std::size_t align = storage_->limits().align_offset;
    const std::size_t whole = (bytes + align - 1) / align * align;
    wal::AlignedBytes memory(whole, suite_block);
    PROMTACT_TRY_ASSIGN(
        const std::int64_t count,
        must({.kind = IoKind::read, .file = file, .offset = offset, .data = memory.span()}));
    if (static_cast<std::uint64_t>(count) > whole)
        return Error{Errc::io, 0, "a read was answered with more bytes than asked for"};
    const auto got = memory.span().first(std::min(static_cast<std::size_t>(count), bytes));
    return Bytes(got.begin(), got.end());
}

Result<void> Hand::sync(std::uint32_t file) {
    PROMTACT_TRY(expect({.kind = IoKind::sync_data, .file = file}, 0));
    return sync_dir();
}

Result<void> Hand::sync_dir() {
    return expect({.kind = IoKind::sync_dir}, 0);
}

} // namespace promtact::wal_testing
