// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Test support: frames with right checksums, built byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace promtact::ebpf {

using Frame = std::vector<std::byte>;

struct FrameOptions {
    bool v6 = false;
    bool tcp = false;
    unsigned vlan_tags = 0;
    unsigned ip_option_words = 0; // IPv4 only
    bool later_fragment = false;
    std::size_t payload_bytes = 64;
    std::size_t padding_bytes = 0; // behind the IP packet
    std::uint8_t source = 1;       // 192.0.2.x or 2001:db8::x
    std::uint8_t destination = 2;
};

inline void put8(Frame& frame, unsigned value) {
    frame.push_back(static_cast<std::byte>(value));
}
inline void put16(Frame& frame, std::size_t value) {
    put8(frame, static_cast<unsigned>(value >> 8 & 0xff));
    put8(frame, static_cast<unsigned>(value & 0xff));
}

inline std::uint32_t sum16(std::span<const std::byte> bytes, std::uint32_t sum) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        sum += std::to_integer<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
    return sum;
}
inline std::uint16_t fold(std::uint32_t sum) {
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

/// Where things lie in a frame.
struct FrameLayout {
    std::size_t network = 0;
    std::size_t transport = 0;
    std::size_t payload = 0;
    std::size_t end = 0; // of the IP packet
};

/// Sum over pseudo header and transport part, folded: 0xffff when the checksum is right.
inline std::uint16_t
transport_sum(const Frame& frame, const FrameLayout& layout, const FrameOptions& options) {
    const std::span<const std::byte> all{frame};
    const std::size_t addresses = layout.network + (options.v6 ? 8 : 12);
    std::uint32_t sum = sum16(all.subspan(addresses, options.v6 ? 32 : 8), 0);
    sum += options.tcp ? 6U : 17U;
    sum += static_cast<std::uint32_t>(layout.end - layout.transport);
    return fold(sum16(all.subspan(layout.transport, layout.end - layout.transport), sum));
}

inline void put_network(Frame& frame, const FrameOptions& options, std::size_t transport_bytes) {
    const unsigned protocol = options.tcp ? 6 : 17;
    if (options.v6) {
        const std::size_t extension = options.later_fragment ? 8 : 0;
        put16(frame, 0x6000);
        put16(frame, 0);
        put16(frame, transport_bytes + extension);
        put8(frame, options.later_fragment ? 44 : protocol);
        put8(frame, 64);
        for (const unsigned last : {options.source, options.destination}) {
            put16(frame, 0x2001);
            put16(frame, 0x0db8);
            for (int i = 0; i < 5; ++i)
                put16(frame, 0);
            put16(frame, last);
        }
        if (options.later_fragment) {
            put8(frame, protocol);
            put8(frame, 0);
            put16(frame, 8 << 3);
            put16(frame, 0);
            put16(frame, 1);
        }
        return;
    }
    const std::size_t start = frame.size();
    put8(frame, 0x40 | (5 + options.ip_option_words));
    put8(frame, 0);
    put16(frame, 20 + 4 * options.ip_option_words + transport_bytes);
    put16(frame, 1);
    put16(frame, options.later_fragment ? 8 : 0);
    put8(frame, 64);
    put8(frame, protocol);
    put16(frame, 0);
    for (const unsigned last : {options.source, options.destination}) {
        put16(frame, 0xc000);
        put8(frame, 2);
        put8(frame, last);
    }
    for (unsigned i = 0; i < 4 * options.ip_option_words; ++i)
        put8(frame, 1); // no operation
    const std::uint16_t sum = static_cast<std::uint16_t>(
        ~fold(sum16(std::span<const std::byte>{frame}.subspan(start), 0)));
    frame[start + 10] = static_cast<std::byte>(sum >> 8);
    frame[start + 11] = static_cast<std::byte>(sum & 0xff);
}

inline Frame make_frame(const FrameOptions& options, FrameLayout& layout) {
    Frame frame;
    for (const unsigned last : {2U, 1U}) {
        put16(frame, 0x0250);
        put16(frame, 0x4d00);
        put16(frame, last);
    }
    for (unsigned i = 0; i < options.vlan_tags; ++i) {
        put16(frame, 0x8100);
        put16(frame, 5 + i);
    }
    put16(frame, options.v6 ? 0x86dd : 0x0800);
    layout.network = frame.size();
    const std::size_t header = options.tcp ? 20 : 8;
    const std::size_t transport_bytes =
        options.later_fragment ? options.payload_bytes : header + options.payload_bytes;
    put_network(frame, options, transport_bytes);
    layout.transport = frame.size();
    if (!options.later_fragment) {
        put16(frame, 1234);
        put16(frame, 5678);
        if (options.tcp) {
            put16(frame, 0);
            put16(frame, 1);
            put16(frame, 0);
            put16(frame, 0);
            put16(frame, 0x5018);
            put16(frame, 1000);
            put16(frame, 0);
            put16(frame, 0);
        } else {
            put16(frame, transport_bytes);
            put16(frame, 0);
        }
    }
    layout.payload = frame.size();
    for (std::size_t i = 0; i < options.payload_bytes; ++i)
        put8(frame, static_cast<unsigned>(i * 7 + 1) & 0xff);
    layout.end = frame.size();
    if (!options.later_fragment) {
        const std::size_t at = layout.transport + (options.tcp ? 16 : 6);
        const std::uint16_t sum =
            static_cast<std::uint16_t>(~transport_sum(frame, layout, options));
        frame[at] = static_cast<std::byte>(sum >> 8);
        frame[at + 1] = static_cast<std::byte>(sum & 0xff);
    }
    for (std::size_t i = 0; i < options.padding_bytes; ++i)
        put8(frame, 0);
    return frame;
}

} // namespace promtact::ebpf
