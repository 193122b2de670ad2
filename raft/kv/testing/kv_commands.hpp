// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Short ways to write commands and to read and mend snapshots, for tests and fuzz targets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/kv/command.hpp>
#include <promtact/kv/snapshot_format.hpp>
#include <promtact/kv/snapshot_loader.hpp>
#include <promtact/kv/state_machine.hpp>

namespace promtact::kv::testing {

using Bytes = std::vector<std::byte>;

inline Command put(std::string_view key, std::string_view value, const Request& request = {}) {
    return {.operation = Operation::put, .request = request, .key = key, .value = value};
}
inline Command remove(std::string_view key, const Request& request = {}) {
    return {.operation = Operation::remove, .request = request, .key = key};
}
inline Command compare_and_set(
    std::string_view key, std::optional<std::string_view> expected, std::string_view value,
    const Request& request = {}) {
    return {
        .operation = Operation::compare_and_set,
        .request = request,
        .key = key,
        .value = value,
        .expected = expected};
}
inline Command about_session(Operation operation, std::uint64_t session = 0) {
    return {.operation = operation, .request = {.session = session}};
}
inline Command set_limits(const Limits& limits) {
    return {.operation = Operation::set_limits, .limits = limits};
}
inline Command at(LogTime time, Command command) {
    command.time = time;
    return command;
}

inline Bytes encoded(const Command& command) {
    Bytes bytes;
    encode(command, bytes);
    return bytes;
}

/// Applies the command as the next entry.
inline Answer apply(StateMachine& machine, const Command& command) {
    auto answer = machine.apply(machine.applied() + 1, encoded(command));
    PROMTACT_ASSERT(answer.has_value());
    return *std::move(answer);
}

/// Everything that is left of the snapshot under way, in pieces of this size.
inline Bytes read_all(StateMachine& machine, std::size_t piece = 4096) {
    Bytes whole;
    while (!machine.snapshot_done()) {
        const std::size_t begin = whole.size();
        whole.resize(begin + piece);
        whole.resize(begin + machine.read_snapshot(std::span(whole).subspan(begin)));
    }
    machine.end_snapshot();
    return whole;
}

inline Bytes snapshot_of(const StateMachine& machine) {
    StateMachine copy = machine;
    copy.begin_snapshot();
    return read_all(copy);
}

inline Result<StateMachine> load(std::span<const std::byte> bytes, std::size_t piece = ~0ULL) {
    SnapshotLoader loader;
    while (!bytes.empty()) {
        const std::size_t size = std::min(piece, bytes.size());
        PROMTACT_TRY(loader.feed(bytes.first(size)));
        bytes = bytes.subspan(size);
    }
    return std::move(loader).finish();
}

/// Where each part of a snapshot begins, as far as they can be followed.
inline std::vector<std::size_t> parts_of(std::span<const std::byte> bytes) {
    std::vector<std::size_t> begins{0};
    std::size_t at = SnapshotBytes::head;
    while (bytes.size() >= at && bytes.size() - at >= 16) {
        begins.push_back(at);
        const auto size = load_le<std::uint32_t>(bytes, at + 4);
        switch (static_cast<SnapshotPart>(load_le<std::uint8_t>(bytes, at))) {
        case SnapshotPart::value:
            at += SnapshotBytes::value + size + load_le<std::uint32_t>(bytes, at + 8);
            break;
        case SnapshotPart::session:
            at += SnapshotBytes::session;
            break;
        case SnapshotPart::answer:
            at += SnapshotBytes::answer + size;
            break;
        case SnapshotPart::end:
        default:
            return begins;
        }
    }
    return begins;
}

/// Gives a changed snapshot the checksum that belongs to it, so that the checks before it are
/// reached. False where the parts do not lead to an end.
inline bool mend_checksum(std::span<std::byte> bytes) {
    const std::vector<std::size_t> begins = parts_of(bytes);
    if (begins.size() < 2 || bytes.size() < begins.back() + SnapshotBytes::end) return false;
    TraceHash checksum;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
        checksum.add(bytes.subspan(begins[i], begins[i + 1] - begins[i]));
    const auto end = bytes.subspan(begins.back());
    checksum.add(end.first(24));
    store_le<std::uint64_t>(end, 24, checksum.value().low);
    store_le<std::uint64_t>(end, 32, checksum.value().high);
    return true;
}

} // namespace promtact::kv::testing
