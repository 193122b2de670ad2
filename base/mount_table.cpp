// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <charconv>
#include <optional>

#include <sys/sysmacros.h>

#include <promtact/base/mount_table.hpp>

#include "small_file_internal.hpp"

namespace promtact {
namespace {

// The kernel writes space, tab, newline and backslash as three octal digits.
std::string unescape(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
        if (text[i] == '\\' && i + 3 < text.size() && octal(i + 1) && octal(i + 2) &&
            octal(i + 3)) {
            out += static_cast<char>(
                (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const std::size_t start = line.find_first_not_of(" \t");
        if (start == std::string_view::npos) break;
        line.remove_prefix(start);
        const std::size_t length = std::min(line.find_first_of(" \t"), line.size());
        words.push_back(line.substr(0, length));
        line.remove_prefix(length);
    }
    return words;
}

template <class Number>
bool parse_number(std::string_view text, Number& out) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
    return failure == std::errc{} && end == text.data() + text.size();
}

std::optional<Mount> parse_mount(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    std::size_t dash = 6; // optional fields follow word 5 and end with a single dash
    while (dash < words.size() && words[dash] != "-")
        ++dash;
    if (dash + 2 >= words.size()) return std::nullopt;
    Mount mount;
    const std::string_view device = words[2];
    const std::size_t colon = device.find(':');
    if (colon == std::string_view::npos || !parse_number(words[0], mount.id) ||
        !parse_number(device.substr(0, colon), mount.device.major) ||
        !parse_number(device.substr(colon + 1), mount.device.minor))
        return std::nullopt;
    mount.mount_point = unescape(words[4]);
    mount.options = unescape(words[5]);
    mount.filesystem = unescape(words[dash + 1]);
    mount.source = unescape(words[dash + 2]);
    if (dash + 3 < words.size()) mount.options += "," + unescape(words[dash + 3]);
    return mount;
}

} // namespace

std::string to_string(DeviceNumber number) {
    return std::to_string(number.major) + ":" + std::to_string(number.minor);
}

DeviceNumber device_number(std::uint64_t dev) noexcept {
    return {.major = gnu_dev_major(dev), .minor = gnu_dev_minor(dev)};
}

Result<std::vector<Mount>> parse_mounts(std::string_view text) {
    std::vector<Mount> mounts;
    std::uint64_t number = 0;
    while (!text.empty()) {
        const std::size_t length = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, length);
        text.remove_prefix(std::min(length + 1, text.size()));
        ++number;
        if (line.empty()) continue;
        auto mount = parse_mount(line);
        if (!mount)
            return Error{Errc::format, 0, "line " + std::to_string(number) + " of mountinfo"};
        mounts.push_back(std::move(*mount));
    }
    return mounts;
}

Result<std::vector<Mount>> read_mounts(const SystemRoots& roots) {
    PROMTACT_TRY_ASSIGN(const std::string text, read_small_file(roots.proc + "/self/mountinfo"));
    return parse_mounts(text);
}

Result<std::vector<std::string>> read_swaps(const SystemRoots& roots) {
    auto text = read_small_file(roots.proc + "/swaps");
    if (!text && text.error().code == Errc::not_found) return std::vector<std::string>{};
    if (!text) return std::move(text).error();
    std::vector<std::string> names;
    std::string_view rest = *text;
    bool header = true;
    while (!rest.empty()) {
        const std::size_t length = std::min(rest.find('\n'), rest.size());
        const std::vector<std::string_view> words = words_of(rest.substr(0, length));
        rest.remove_prefix(std::min(length + 1, rest.size()));
        if (!header && !words.empty()) names.push_back(unescape(words.front()));
        header = false;
    }
    return names;
}

} // namespace promtact
