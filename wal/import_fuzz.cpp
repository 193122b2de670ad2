// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The importers on any bytes, and on the same bytes with the checksum mended: no answer may be
// inconsistent with the bytes it was read from.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/import_backup.hpp>
#include <promtact/wal/import_log.hpp>
#include <promtact/wal/import_snapshot.hpp>

namespace promtact::wal {
namespace {

using Content = std::vector<std::byte>;

void check_snapshot(const Content& bytes) {
    const auto snapshot = import_snapshot(bytes);
    if (!snapshot) return;
    PROMTACT_ASSERT(reference_snapshot_header_bytes + snapshot->state.size() == bytes.size());
}

void check_machine(const Content& bytes) {
    const auto machine = import_machine(bytes);
    if (!machine) return;
    PROMTACT_ASSERT(
        bytes.size() == reference_machine_header_bytes + 4 +
                            machine->keys.size() * reference_machine_key_bytes +
                            machine->clients.size() * reference_machine_client_bytes);
}

/// Two ways of cutting the input into pieces must agree.
void check_log(std::span<const std::byte> bytes, ImportLayout layout, std::size_t piece) {
    std::uint64_t seen[2] = {};
    Recovery found[2];
    bool good[2] = {};
    for (int way = 0; way < 2; ++way) {
        LogImporter importer(layout, DecodeMode::reference, [&seen, way](const Record& record) {
            ++seen[way];
            PROMTACT_ASSERT(record.sequence == seen[way]);
            return Result<void>();
        });
        const std::size_t step = way == 0 ? std::max<std::size_t>(bytes.size(), 1) : piece;
        bool alive = true;
        for (std::size_t at = 0; at < bytes.size() && alive; at += step)
            alive = importer.feed(bytes.subspan(at, std::min(step, bytes.size() - at))).has_value();
        auto recovery = importer.finish();
        good[way] = recovery.has_value();
        PROMTACT_ASSERT(good[way] == alive);
        if (recovery) found[way] = *recovery;
        if (recovery) PROMTACT_ASSERT(recovery->file_bytes == bytes.size());
    }
    PROMTACT_ASSERT(good[0] == good[1]);
    PROMTACT_ASSERT(seen[0] == seen[1]);
    PROMTACT_ASSERT(found[0].records == found[1].records);
    PROMTACT_ASSERT(found[0].tail == found[1].tail);
    if (good[0]) PROMTACT_ASSERT(found[0].records == seen[0]);
}

void run(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return;
    const auto input = std::as_bytes(std::span(data + 1, size - 1));
    Content bytes(input.begin(), input.end());
    check_snapshot(bytes);
    check_machine(bytes);
    const auto manifest = import_manifest(text_of(bytes), "manifest");
    if (manifest) PROMTACT_ASSERT(!manifest->files.empty());
    const ImportLayout layout = (data[0] & 1) != 0 ? ImportLayout::flat : ImportLayout::blocks;
    // Slots whose magic stands get a valid checksum, in the log's order.
    Content log = bytes;
    const std::size_t slot = import_slot_bytes(layout);
    for (std::size_t at = 0; (data[0] & 2) != 0 && at + slot <= log.size(); at += slot) {
        const auto record = std::span(log).subspan(at, record_bytes);
        store_le<std::uint32_t>(
            record, RecordLayout::checksum, crc32c(record.first(RecordLayout::checksum)));
    }
    check_log(log, layout, 1U + data[0] / 4U);
    (void)guess_import_layout(std::span(log).first(std::min(log.size(), block_bytes)));
    if (bytes.size() >= reference_machine_header_bytes + 4) {
        const std::size_t at = bytes.size() - 4;
        store_le<std::uint32_t>(bytes, at, crc32c(std::span(bytes).first(at)));
        check_machine(bytes);
    }
    if (bytes.size() >= reference_snapshot_header_bytes) {
        const auto state = std::span(bytes).subspan(reference_snapshot_header_bytes);
        store_le<std::uint64_t>(bytes, 40, state.size());
        const std::uint32_t crc = crc32c_extend(crc32c(std::span(bytes).first(48)), state);
        store_le<std::uint32_t>(bytes, 48, crc);
        check_snapshot(bytes);
    }
}

} // namespace
} // namespace promtact::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::wal::run(data, size);
    return 0;
}
