// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Which right a user lacks on a log, in words: a bare EACCES does not say on which of the
// directories above, and whether to read, write or pass through.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace promtact::harness {

struct WalAccess {
    std::filesystem::path directory{}; // of the log
    std::string_view file{};           // in it; empty: any of the log's
    bool changes = false;              // something was to be written
};

/// Of a log that is not there yet, the nearest directory above counts. One sentence: the user, the
/// right, the path, whose it is, and what helps.
std::string wal_denied_words(const WalAccess& access);

} // namespace promtact::harness
