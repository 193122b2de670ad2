// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Building one rtnetlink message: a thin owner of libnl's nl_msg. Attribute space is bounded and
// known (names, addresses, small structs), so running out of it is our own bug.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include <promtact/base/assert.hpp>

namespace promtact::netns {

class Message {
  public:
    template <class Header>
    Message(std::uint16_t type, int flags, Header header)
        : message_(nlmsg_alloc_simple(type, flags)) {
        PROMTACT_ASSERT(message_ != nullptr);
        const int appended = nlmsg_append(message_.get(), &header, sizeof header, NLMSG_ALIGNTO);
        PROMTACT_ASSERT(appended == 0);
    }

    void put_text(int type, const char* text) { put(type, std::strlen(text) + 1, text); }
    void put_u32(int type, std::uint32_t value) { put(type, sizeof value, &value); }
    void put_s64(int type, std::int64_t value) { put(type, sizeof value, &value); }
    void put_bytes(int type, std::span<const std::uint8_t> bytes) {
        put(type, bytes.size(), bytes.data());
    }
    template <class Plain>
    void append(Plain plain) {
        const int appended = nlmsg_append(message_.get(), &plain, sizeof plain, NLMSG_ALIGNTO);
        PROMTACT_ASSERT(appended == 0);
    }
    template <class Fill>
    void nest(int type, Fill&& fill) {
        nlattr* outer = nla_nest_start(message_.get(), type);
        PROMTACT_ASSERT(outer != nullptr);
        fill();
        nla_nest_end(message_.get(), outer);
    }
    nl_msg& get() noexcept { return *message_; }

  private:
    struct Deleter {
        void operator()(nl_msg* message) const noexcept { nlmsg_free(message); }
    };
    void put(int type, std::size_t size, const void* data) {
        const int status = nla_put(message_.get(), type, static_cast<int>(size), data);
        PROMTACT_ASSERT(status == 0);
    }

    std::unique_ptr<nl_msg, Deleter> message_;
};

/// The attributes of one received message, by type; absent ones are null.
template <int Max, class Header>
class Attributes {
  public:
    explicit Attributes(nlmsghdr& header)
        : valid_(nlmsg_parse(&header, sizeof(Header), table_.data(), Max, nullptr) >= 0) {
        if (valid_) std::memcpy(&header_, nlmsg_data(&header), sizeof header_);
    }
    bool valid() const noexcept { return valid_; }
    const Header& header() const noexcept { return header_; }
    const nlattr* at(int type) const noexcept { return table_[static_cast<std::size_t>(type)]; }
    std::uint32_t u32(int type, std::uint32_t absent = 0) const noexcept {
        const nlattr* attribute = at(type);
        return attribute != nullptr && nla_len(attribute) >= 4 ? nla_get_u32(attribute) : absent;
    }
    std::string_view text(int type) const noexcept {
        const nlattr* attribute = at(type);
        if (attribute == nullptr) return {};
        const auto* start = static_cast<const char*>(nla_data(attribute));
        return {start, ::strnlen(start, static_cast<std::size_t>(nla_len(attribute)))};
    }
    std::span<const std::uint8_t> bytes(int type) const noexcept {
        const nlattr* attribute = at(type);
        if (attribute == nullptr) return {};
        return {
            static_cast<const std::uint8_t*>(nla_data(attribute)),
            static_cast<std::size_t>(nla_len(attribute))};
    }

  private:
    std::array<nlattr*, static_cast<std::size_t>(Max) + 1> table_{};
    Header header_{};
    bool valid_; // after the table it fills
};

} // namespace promtact::netns
