// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdint>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/raft/configuration_codec.hpp>
#include <promtact/raft/configuration_entry.hpp>

namespace promtact::raft {
namespace {
constexpr std::size_t length_bytes = sizeof(std::uint32_t);
}

void encode_configuration_entry(
    const Configuration& configuration, std::span<const std::byte> context,
    std::vector<std::byte>& out) {
    PROMTACT_ASSERT(!configuration.voters.empty());
    out.assign(length_bytes, std::byte{0});
    encode(configuration, out);
    store_le<std::uint32_t>(out, 0, static_cast<std::uint32_t>(out.size() - length_bytes));
    out.insert(out.end(), context.begin(), context.end());
}

Result<ConfigurationEntry> decode_configuration_entry(std::span<const std::byte> data) {
    if (data.size() < length_bytes)
        return Error{Errc::corrupt, 0, "configuration entry: shorter than its length field"};
    const auto bytes = load_le<std::uint32_t>(data, 0);
    const auto rest = data.subspan(length_bytes);
    if (bytes > rest.size())
        return Error{Errc::corrupt, 0, "configuration entry: ends within the configuration"};
    PROMTACT_TRY_ASSIGN(auto configuration, decode_configuration(rest.first(bytes)));
    if (configuration.voters.empty())
        return Error{Errc::corrupt, 0, "configuration entry: nobody votes"};
    return ConfigurationEntry{std::move(configuration), rest.subspan(bytes)};
}

} // namespace promtact::raft
