// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Names that cannot belong to anyone else: every interface and namespace we make is called
// promtact-..., and no other name can be put into these types.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>

namespace promtact::netns {

inline constexpr std::string_view safe_prefix = "promtact-";

/// Why text is no safe name, with the allowed form; empty when it is one.
std::string why_unsafe(std::string_view text, std::size_t max_length);

/// A name of at most MaxLength characters: "promtact-" and at least one of A-Z a-z 0-9 _ -
template <std::size_t MaxLength>
class SafeName {
    static_assert(MaxLength > safe_prefix.size());

  public:
    static constexpr std::size_t max_length = MaxLength;

    /// Errors: invalid_argument, naming the broken rule.
    static Result<SafeName> parse(std::string_view text) {
        if (!valid(text)) return Error{Errc::invalid_argument, 0, why_unsafe(text, MaxLength)};
        return SafeName{text};
    }

    /// A name known when compiling; an unsafe one does not compile.
    template <std::size_t N>
    static consteval SafeName literal(const char (&text)[N]) {
        const std::string_view view{text, N - 1};
        if (!valid(view)) reject_unsafe_literal();
        return SafeName{view};
    }

    constexpr std::string_view view() const noexcept { return {characters_.data(), length_}; }
    constexpr const char* c_str() const noexcept { return characters_.data(); }
    friend constexpr bool operator==(const SafeName& a, const SafeName& b) noexcept {
        return a.view() == b.view();
    }

  private:
    constexpr explicit SafeName(std::string_view text) noexcept : length_(text.size()) {
        for (std::size_t i = 0; i < text.size(); ++i)
            characters_[i] = text[i];
    }
    static constexpr bool valid(std::string_view text) noexcept {
        if (text.size() > MaxLength || text.size() <= safe_prefix.size()) return false;
        if (text.substr(0, safe_prefix.size()) != safe_prefix) return false;
        for (const char c : text) {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            const bool other = (c >= '0' && c <= '9') || c == '-' || c == '_';
            if (!letter && !other) return false;
        }
        return true;
    }
    static void reject_unsafe_literal(); // never defined: reaching it is a compile error

    std::array<char, MaxLength + 1> characters_{};
    std::size_t length_ = 0;
};

/// Source: IFNAMSIZ, 16 with the terminating zero (linux/if.h).
using InterfaceName = SafeName<15>;
/// The prefix and 32 characters more.
using NamespaceName = SafeName<41>;

} // namespace promtact::netns
