// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <filesystem>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::harness::bench {

/// Opens an existing file for direct I/O, provided that overwriting and removing it loses nothing:
/// a regular file, no symbolic link, that holds zeros only (what an earlier run kept).
/// Errors: refused; unsupported without O_DIRECT; by errno.
Result<UniqueFd> open_zero_file(const std::filesystem::path& path);

} // namespace promtact::harness::bench
