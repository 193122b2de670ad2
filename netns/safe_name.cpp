// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/netns/safe_name.hpp>

namespace promtact::netns {
namespace {

// Names come from outside: show at most this much of one, with every odd byte replaced.
constexpr std::size_t shown_length = 64;

std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, shown_length))
        out += (c >= 0x20 && c < 0x7f) ? c : '?';
    if (text.size() > shown_length) out += "...";
    return out;
}

} // namespace

std::string why_unsafe(std::string_view text, std::size_t max_length) {
    const std::string start = "name \"" + shown(text) + "\" ";
    if (text.substr(0, safe_prefix.size()) != safe_prefix)
        return start + "must start with " + std::string{safe_prefix};
    if (text.size() == safe_prefix.size())
        return start + "needs at least one character after " + std::string{safe_prefix};
    if (text.size() > max_length) {
        return start + "has " + std::to_string(text.size()) + " characters, at most " +
               std::to_string(max_length) + " are allowed";
    }
    if (text.find_first_not_of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") !=
        std::string_view::npos)
        return start + "may hold only letters, digits, '_' and '-'";
    return {};
}

} // namespace promtact::netns
