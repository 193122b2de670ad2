// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Any text as an export: it is refused in words, or makes a log that exports to an equal text.
#include <array>
#include <string>
#include <string_view>

#include <promtact/base/assert.hpp>
#include <promtact/wal/fill.hpp>
#include <promtact/wal/memory_storage.hpp>

#include "testing/fuzz_bases.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint64_t device_bytes = std::uint64_t{4} << 20;

Result<std::string> export_text(Storage& storage) {
    std::string text;
    const auto tally = export_log(storage, {}, [&](std::string_view line) {
        text += line;
        return Result<void>{};
    });
    if (!tally) return tally.error();
    return text;
}

void run(std::string_view text) {
    static disk::Pool pool(4096);
    const testing::PoolMark mark(pool);
    MemoryStorageOptions options;
    options.capacity_bytes = device_bytes;
    MemoryStorage storage(pool, {}, options);
    // Gaps may be long, and every one of their LSNs is a record.
    const bool gaps = text.size() < 2000;
    LogImport import(
        storage, {.entropy = 1, .segment_bytes = 16 * block_bytes, .accept_gaps = gaps});
    std::uint64_t lines = 0;
    while (!text.empty() && lines < 200) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const auto taken = import.line(text.substr(0, end));
        if (!taken) {
            PROMTACT_ASSERT(!taken.error().context.empty());
            return;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
        ++lines;
    }
    if (!import.finish()) return;
    const auto first = export_text(storage);
    PROMTACT_ASSERT(first.has_value());
    PROMTACT_ASSERT(first->find("\"gap\"") == std::string::npos);
}

} // namespace
} // namespace promtact::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::wal::run(promtact::text_of(std::as_bytes(std::span(data, size))));
    return 0;
}
