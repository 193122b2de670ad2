// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <limits>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/json_reader.hpp>
#include <promtact/wal/import_backup.hpp>

namespace promtact::wal {
namespace {

ReferenceBackupFile
read_file_entry(const JsonValue& value, const ReferenceBackup& before, JsonProblems& problems) {
    ObjectReader object(value, problems);
    ReferenceBackupFile file;
    file.name = object.require_string("name");
    // The reference's sizes are signed.
    file.size = object.require_u64("size", 0, std::numeric_limits<std::int64_t>::max());
    const std::string digest = object.require_string("sha256");
    object.finish();
    if (value.find("name") != nullptr && file.name != reference_log_name &&
        file.name != reference_snapshot_name)
        object.complain("name", "must be raft.wal or snapshot.bin");
    if (before.find(file.name) != nullptr) object.complain("name", "is listed twice");
    auto parsed = parse_sha256(digest);
    if (parsed) {
        file.sha256 = *parsed;
    } else if (!digest.empty()) {
        object.complain("sha256", "must be 64 hexadecimal digits");
    }
    return file;
}

} // namespace

const ReferenceBackupFile* ReferenceBackup::find(std::string_view name) const noexcept {
    for (const ReferenceBackupFile& file : files)
        if (file.name == name) return &file;
    return nullptr;
}

Result<ReferenceBackup> import_manifest(std::string_view text, std::string_view source) {
    JsonProblems problems;
    const auto document =
        parse_json(text, problems, {.bytes_max = reference_manifest_bytes_max, .depth_max = 4});
    ReferenceBackup backup;
    if (document) {
        ObjectReader object(*document, problems);
        object.require_u64("version", 1, 1);
        const JsonValue* files = object.require_array("files");
        object.finish();
        if (files != nullptr && files->children.empty())
            problems.add(files->at, "files must list at least one file");
        if (files != nullptr) {
            for (const JsonValue& value : files->children)
                backup.files.push_back(read_file_entry(value, backup, problems));
        }
    }
    if (!problems.empty()) return problems.to_error(source);
    PROMTACT_ASSERT(document.has_value());
    PROMTACT_ASSERT(!backup.files.empty());
    PROMTACT_ASSERT(backup.files.size() <= 2);
    return backup;
}

Result<void> check_backup_file(
    const ReferenceBackupFile& listed, std::uint64_t size, const Sha256Digest& digest) {
    if (size != listed.size) {
        return Error{
            Errc::corrupt, 0,
            "backup file " + listed.name + ": has " + std::to_string(size) +
                " bytes, the manifest says " + std::to_string(listed.size)};
    }
    if (digest != listed.sha256) {
        return Error{
            Errc::corrupt, 0,
            "backup file " + listed.name + ": its SHA-256 is " + to_hex(digest) +
                ", the manifest says " + to_hex(listed.sha256)};
    }
    return {};
}

} // namespace promtact::wal
