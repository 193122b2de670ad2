// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Files of a claimed name, shared by its owner and the reaper.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/netns/named_namespace.hpp>

namespace promtact::netns {

/// Text of a claim file and back. Errors of parse: format.
std::string claim_text(const Claim& claim);
Result<Claim> parse_claim(std::string_view text);
/// The whole content of the file that a namespace is mounted over.
std::string marker_text(const Claim& claim);

Result<std::string> boot_id();
Result<std::string> read_small_file(int fd, const std::filesystem::path& shown);

enum class AtName : unsigned char {
    nothing,
    our_namespace, // an nsfs mount with the claimed identity
    our_marker,    // a plain file with the claim's marker
    foreign,
};
Result<AtName> look_at(const std::filesystem::path& path, const Claim& claim);

/// Unmounts and unlinks path as far as it is the claim's. Errors: refused when foreign.
Result<void> remove_name(const std::filesystem::path& path, const Claim& claim);

/// Makes the directory and its parents; true when it was missing.
Result<bool> make_directories(const std::filesystem::path& directory);
/// Removes our own directories as far as they are empty, and that of the names if we made it.
void remove_empty_directories(const NameDirectories& directories, bool made_names) noexcept;

} // namespace promtact::netns
