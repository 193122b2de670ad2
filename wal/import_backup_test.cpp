// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include <promtact/base/bytes.hpp>
#include <promtact/wal/import_backup.hpp>

namespace promtact::wal {
namespace {

using ::testing::HasSubstr;

// SHA-256 of "abc" (FIPS 180-4) and of nothing; laid out as Go's indented encoder does.
const std::string manifest = R"({
  "version": 1,
  "files": [
    {
      "name": "raft.wal",
      "size": 3,
      "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    },
    {
      "name": "snapshot.bin",
      "size": 0,
      "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    }
  ]
})";

std::string with(const std::string& old, const std::string& changed) {
    std::string text = manifest;
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), changed);
}

TEST(ImportBackup, ReadsTheReferencesManifest) {
    const auto backup = import_manifest(manifest, "manifest.json");

    ASSERT_TRUE(backup) << backup.error().context;
    ASSERT_EQ(backup->files.size(), 2U);
    EXPECT_EQ(backup->find("raft.wal")->size, 3U);
    EXPECT_EQ(backup->find("raft.wal")->sha256, sha256("abc"));
    EXPECT_EQ(backup->find("snapshot.bin")->sha256, sha256(""));
    EXPECT_EQ(backup->find("other"), nullptr);
}

TEST(ImportBackup, ProblemsNameLineColumnAndField) {
    struct Row {
        std::string text;
        const char* words;
    };
    for (const Row& row :
         {Row{with("\"version\": 1", "\"version\": 2"), "m:2:14: field \"version\""},
          Row{with("raft.wal", "../raft.wal"), "must be raft.wal or snapshot.bin"},
          Row{with("snapshot.bin", "raft.wal"), "m:10:15: "},
          Row{with("snapshot.bin", "raft.wal"), "is listed twice"},
          Row{with("\"size\": 3", "\"size\": -3"), "m:6:15: "},
          Row{with("\"size\": 3", "\"size\": 18446744073709551616"), "m:6:15: "},
          Row{with("ba78", "zz78"), "64 hexadecimal digits"}, Row{with("\"size\": 3,", ""), "size"},
          Row{with("\"size\": 3", "\"size\": 3, \"mode\": 1"), "mode"},
          Row{with("\"size\": 3", "\"size\": 3, \"size\": 3"), "size"},
          Row{R"({"version": 1, "files": []})", "at least one file"},
          Row{R"({"version": 1})", "files"}, Row{"", "m:1:1"}}) {
        const auto backup = import_manifest(row.text, "m");
        ASSERT_FALSE(backup) << row.words;
        EXPECT_EQ(backup.error().code, Errc::format);
        EXPECT_THAT(backup.error().context, HasSubstr(row.words));
    }
}

TEST(ImportBackup, EveryTruncationAndAnOversizedManifestIsRefused) {
    for (std::size_t size = 0; size < manifest.size(); ++size)
        EXPECT_FALSE(import_manifest(manifest.substr(0, size), "m")) << size;
    EXPECT_FALSE(import_manifest(manifest + std::string(reference_manifest_bytes_max, ' '), "m"));
    EXPECT_TRUE(import_manifest(manifest + "\n", "m"));
}

TEST(ImportBackup, AFileMustHaveTheListedSizeAndDigest) {
    const auto backup = import_manifest(manifest, "m").value();
    const ReferenceBackupFile& file = *backup.find("raft.wal");

    EXPECT_TRUE(check_backup_file(file, 3, sha256("abc")));
    EXPECT_THAT(
        check_backup_file(file, 4, sha256("abcd")).error().context,
        HasSubstr("has 4 bytes, the manifest says 3"));
    const auto changed = check_backup_file(file, 3, sha256("abd"));
    EXPECT_EQ(changed.error().code, Errc::corrupt);
    EXPECT_THAT(changed.error().context, HasSubstr("SHA-256"));
}

} // namespace
} // namespace promtact::wal
