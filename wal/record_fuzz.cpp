// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Whatever decodes must encode to the same bytes; whatever strict mode takes, reference mode takes
// alike.
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/record.hpp>

namespace promtact::wal {
namespace {

void check(std::span<const std::byte> bytes) {
    const auto strict = decode(bytes, DecodeMode::strict);
    const auto reference = decode(bytes, DecodeMode::reference);
    if (!strict) return;
    PROMTACT_ASSERT(reference.has_value());
    PROMTACT_ASSERT(*reference == *strict);
    RecordBytes again{};
    encode(*strict, again);
    PROMTACT_ASSERT(bytes.size() == again.size());
    PROMTACT_ASSERT(std::memcmp(bytes.data(), again.data(), again.size()) == 0);
}

void run(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
    check(bytes);
    // The same with a valid checksum, which mutation would hardly ever find.
    RecordBytes sealed{};
    if (size > 0) std::memcpy(sealed.data(), data, std::min(size, sealed.size()));
    const std::span<std::byte> all = sealed;
    store_le<std::uint32_t>(all, RecordLayout::checksum, crc32c(all.first(RecordLayout::checksum)));
    check(sealed);
}

} // namespace
} // namespace promtact::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::wal::run(data, size);
    return 0;
}
