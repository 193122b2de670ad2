// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>
#include <string_view>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/import_snapshot.hpp>

namespace promtact::wal {
namespace {

constexpr std::string_view snapshot_magic = "HYPSNAP2";
constexpr std::string_view machine_magic = "HYSM";
constexpr std::uint16_t machine_version = 1;

/// Offsets in the snapshot's header.
struct S {
    static constexpr std::size_t last_index = 8;
    static constexpr std::size_t last_term = 16;
    static constexpr std::size_t old_voters = 24;
    static constexpr std::size_t new_voters = 32;
    static constexpr std::size_t state_bytes = 40;
    static constexpr std::size_t checksum = 48;
};
static_assert(S::last_index == snapshot_magic.size());
static_assert(S::checksum == S::state_bytes + 8);
static_assert(reference_snapshot_header_bytes == S::checksum + 4);

/// Offsets in the machine's header.
struct M {
    static constexpr std::size_t version = 4;
    static constexpr std::size_t reserved = 6;
    static constexpr std::size_t keys = 8;
    static constexpr std::size_t clients = 12;
};
static_assert(reference_machine_header_bytes == M::clients + 4);

constexpr std::size_t found_at = 24; // within a client
constexpr std::size_t checksum_bytes = 4;

Error wrong(
    Errc code, std::string_view image, std::size_t at, std::string_view field, std::string what) {
    return {
        code, 0,
        std::string(image) + ", byte " + std::to_string(at) + ", " + std::string(field) + ": " +
            std::move(what)};
}

Error snapshot_wrong(Errc code, std::size_t at, std::string_view field, std::string what) {
    return wrong(code, "reference snapshot", at, field, std::move(what));
}

Error machine_wrong(Errc code, std::size_t at, std::string_view field, std::string what) {
    return wrong(code, "reference state machine", at, field, std::move(what));
}

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

/// Everything that can be said before a byte of the lists is looked at.
Result<void> check_machine(std::span<const std::byte> bytes) {
    constexpr std::size_t least = reference_machine_header_bytes + checksum_bytes;
    if (bytes.size() < least) {
        return machine_wrong(
            Errc::corrupt, bytes.size(), "header", "ends before " + number(least) + " bytes");
    }
    if (text_of(bytes.first(machine_magic.size())) != machine_magic)
        return machine_wrong(Errc::format, 0, "magic", "does not start with HYSM");
    const std::size_t checksum_at = bytes.size() - checksum_bytes;
    if (load_le<std::uint32_t>(bytes, checksum_at) != crc32c(bytes.first(checksum_at)))
        return machine_wrong(Errc::corrupt, checksum_at, "checksum", "does not match");
    if (const auto version = load_le<std::uint16_t>(bytes, M::version); version != machine_version)
        return machine_wrong(Errc::format, M::version, "version", number(version) + " is not 1");
    if (load_le<std::uint16_t>(bytes, M::reserved) != 0)
        return machine_wrong(Errc::corrupt, M::reserved, "reserved", "is not zero");
    const std::uint64_t keys = load_le<std::uint32_t>(bytes, M::keys);
    const std::uint64_t clients = load_le<std::uint32_t>(bytes, M::clients);
    const std::uint64_t expected =
        least + keys * reference_machine_key_bytes + clients * reference_machine_client_bytes;
    if (bytes.size() != expected) {
        return machine_wrong(
            Errc::corrupt, M::keys, "counts",
            number(keys) + " keys and " + number(clients) + " clients make " + number(expected) +
                " bytes, there are " + number(bytes.size()));
    }
    return {};
}

Result<ReferenceClient> read_client(std::span<const std::byte> bytes, std::size_t at) {
    PROMTACT_ASSERT(at + reference_machine_client_bytes <= bytes.size());
    const auto found = load_le<std::uint8_t>(bytes, at + found_at);
    if (found > 1) {
        return machine_wrong(
            Errc::corrupt, at + found_at, "found", number(found) + " is neither 0 nor 1");
    }
    for (std::size_t pad = found_at + 1; pad < reference_machine_client_bytes; ++pad) {
        if (bytes[at + pad] != std::byte{0})
            return machine_wrong(Errc::corrupt, at + pad, "client padding", "is not zero");
    }
    return ReferenceClient{
        .client = load_le<std::uint64_t>(bytes, at),
        .request = load_le<std::uint64_t>(bytes, at + 8),
        .value = load_le<std::uint64_t>(bytes, at + 16),
        .found = found == 1};
}

} // namespace

Result<ReferenceSnapshot> import_snapshot(std::span<const std::byte> bytes) {
    if (bytes.size() < reference_snapshot_header_bytes) {
        return snapshot_wrong(
            Errc::corrupt, bytes.size(), "header",
            "ends before " + number(reference_snapshot_header_bytes) + " bytes");
    }
    if (text_of(bytes.first(snapshot_magic.size())) != snapshot_magic)
        return snapshot_wrong(Errc::format, 0, "magic", "does not start with HYPSNAP2");
    const auto state_bytes = load_le<std::uint64_t>(bytes, S::state_bytes);
    const auto state = bytes.subspan(reference_snapshot_header_bytes);
    if (state_bytes != state.size()) {
        return snapshot_wrong(
            Errc::corrupt, S::state_bytes, "state length",
            number(state_bytes) + ", but " + number(state.size()) + " bytes follow the header");
    }
    const std::uint32_t crc = crc32c_extend(crc32c(bytes.first(S::checksum)), state);
    if (load_le<std::uint32_t>(bytes, S::checksum) != crc)
        return snapshot_wrong(Errc::corrupt, S::checksum, "checksum", "does not match");
    return ReferenceSnapshot{
        .last_index = load_le<std::uint64_t>(bytes, S::last_index),
        .last_term = load_le<std::uint64_t>(bytes, S::last_term),
        .old_voters = load_le<std::uint64_t>(bytes, S::old_voters),
        .new_voters = load_le<std::uint64_t>(bytes, S::new_voters),
        .state = state};
}

Result<ReferenceMachine> import_machine(std::span<const std::byte> bytes) {
    PROMTACT_TRY(check_machine(bytes));
    const std::size_t keys = load_le<std::uint32_t>(bytes, M::keys);
    const std::size_t clients = load_le<std::uint32_t>(bytes, M::clients);
    ReferenceMachine machine;
    machine.keys.reserve(keys);
    machine.clients.reserve(clients);
    std::size_t at = reference_machine_header_bytes;
    for (std::size_t n = 0; n < keys; ++n, at += reference_machine_key_bytes) {
        const ReferenceKey key{
            .key = load_le<std::uint64_t>(bytes, at),
            .value = load_le<std::uint64_t>(bytes, at + 8)};
        if (n > 0 && key.key <= machine.keys.back().key) {
            return machine_wrong(
                Errc::corrupt, at, "key", number(key.key) + " does not come after the one before");
        }
        machine.keys.push_back(key);
    }
    for (std::size_t n = 0; n < clients; ++n, at += reference_machine_client_bytes) {
        PROMTACT_TRY_ASSIGN(const ReferenceClient client, read_client(bytes, at));
        if (n > 0 && client.client <= machine.clients.back().client) {
            return machine_wrong(
                Errc::corrupt, at, "client",
                number(client.client) + " does not come after the one before");
        }
        machine.clients.push_back(client);
    }
    PROMTACT_ASSERT(at + checksum_bytes == bytes.size());
    return machine;
}

} // namespace promtact::wal
