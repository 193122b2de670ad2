// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reads the manifest of a backup the Go reference made, and checks its files against it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/sha256.hpp>

namespace promtact::wal {

inline constexpr std::size_t reference_manifest_bytes_max = 64 << 10;
inline constexpr std::string_view reference_log_name = "raft.wal";
inline constexpr std::string_view reference_snapshot_name = "snapshot.bin";

struct ReferenceBackupFile {
    std::string name{};
    std::uint64_t size = 0;
    Sha256Digest sha256{};
};

struct ReferenceBackup {
    std::vector<ReferenceBackupFile> files{}; // one or two, as listed

    /// nullptr when the backup has no such file.
    [[nodiscard]] const ReferenceBackupFile* find(std::string_view name) const noexcept;
};

/// Shape: {"version": 1, "files": [{"name", "size", "sha256"}]}; strict. Names are raft.wal and
/// snapshot.bin, each once, at least one. source names the file in errors.
/// Errors: format, every problem with line and column.
Result<ReferenceBackup> import_manifest(std::string_view text, std::string_view source);

/// Errors: corrupt when the file's size or digest is not what the manifest says.
Result<void> check_backup_file(
    const ReferenceBackupFile& listed, std::uint64_t size, const Sha256Digest& digest);

} // namespace promtact::wal
