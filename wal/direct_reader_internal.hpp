// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Feeds a file, read through O_DIRECT, to a recovery scan.
#pragma once

#include <filesystem>
#include <functional>

#include <promtact/base/result.hpp>
#include <promtact/wal/recovery.hpp>

namespace promtact::wal {

/// Errors: those of the scan, with the path; io when the file cannot be read to the size it had at
/// the start. A read that fails is never taken for the end of the log.
Result<Recovery> scan_file(
    int fd, const std::filesystem::path& path, RecoveryScan& scan,
    const std::function<void(const Record&)>& sink);

} // namespace promtact::wal
