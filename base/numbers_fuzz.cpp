// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Any text into the number parsers: they answer with a value or a message, values survive their
// own form, and messages stay short and printable.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <promtact/base/assert.hpp>
#include <promtact/base/durations.hpp>
#include <promtact/base/numbers.hpp>

namespace {

template <class T>
void check_message(const promtact::Result<T>& result) {
    if (result) return;
    const std::string& text = result.error().context;
    PROMTACT_ASSERT(!text.empty());
    PROMTACT_ASSERT(text.size() < 300);
    for (const char c : text)
        PROMTACT_ASSERT(static_cast<unsigned char>(c) >= 0x20);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);

    const auto seed = promtact::parse_seed(text);
    check_message(seed);
    if (seed) PROMTACT_ASSERT(*promtact::parse_seed(promtact::format_seed(*seed)) == *seed);

    const auto number = promtact::parse_u64(text);
    check_message(number);
    if (number) PROMTACT_ASSERT(seed.has_value());
    if (number) PROMTACT_ASSERT(*number == *seed);

    const auto duration = promtact::parse_duration(text);
    check_message(duration);
    if (duration) {
        PROMTACT_ASSERT(duration->count() >= 0);
        PROMTACT_ASSERT(
            *promtact::parse_duration(promtact::format_duration(*duration)) == *duration);
    }

    const auto bytes = promtact::parse_size(text);
    check_message(bytes);
    if (bytes) PROMTACT_ASSERT(*promtact::parse_size(promtact::format_size(*bytes)) == *bytes);
    return 0;
}
