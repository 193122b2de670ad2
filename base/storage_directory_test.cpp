// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Real files behind the storage interface, where the conformance suite does not reach: what is no
// regular file, failing system calls, limits, access.
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/file_storage.hpp>
#include <promtact/base/storage_directory.hpp>

#include "fail_nth_call.hpp"
#include "no_direct_io.hpp"
#include "temporary_directory.hpp"

namespace promtact {
namespace {

using test_support::FailNthCall;
using test_support::TemporaryDirectory;
using Direct = FileStorageOptions::Direct;

void make_file(const std::filesystem::path& path, std::string_view text = "x") {
    const UniqueFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    ASSERT_TRUE(file);
    ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

StorageDirectory directory_of(const TemporaryDirectory& where, bool read_only = false) {
    auto opened =
        StorageDirectory::open(where.path(), {.direct = false, .read_only = read_only, .files = 4});
    EXPECT_TRUE(opened);
    return std::move(*opened);
}

TEST(StorageDirectory, OpensOnlyRegularFilesWithOneLink) {
    const TemporaryDirectory where;
    make_file(where / "plain");
    make_file(where / "linked");
    std::filesystem::create_hard_link(where / "linked", where / "other");
    std::filesystem::create_symlink("plain", where / "symlink");
    std::filesystem::create_symlink("nowhere", where / "dangling");
    std::filesystem::create_directory(where / "folder");
    ASSERT_EQ(::mkfifo((where / "pipe").c_str(), 0600), 0);
    StorageDirectory directory = directory_of(where);

    EXPECT_EQ(directory.perform({.kind = IoKind::open, .file = 1, .name = "plain"}), 1);
    for (const char* const name : {"linked", "other", "symlink", "dangling", "pipe"}) {
        EXPECT_EQ(directory.perform({.kind = IoKind::open, .file = 2, .name = name}), -ELOOP);
        EXPECT_EQ(directory.perform({.kind = IoKind::create, .file = 2, .name = name}), -ELOOP)
            << name;
        EXPECT_EQ(directory.file(2), -1) << name;
    }
    EXPECT_LT(directory.perform({.kind = IoKind::open, .file = 2, .name = "folder"}), 0);
    EXPECT_FALSE(std::filesystem::exists(where / "nowhere")) << "a link was followed";
}

TEST(StorageDirectory, ListTellsRegularFilesFromTheRest) {
    const TemporaryDirectory where;
    make_file(where / "a");
    make_file(where / "c");
    std::filesystem::create_hard_link(where / "c", where / "d");
    std::filesystem::create_symlink("a", where / "b");
    std::filesystem::create_directory(where / "e");
    StorageDirectory directory = directory_of(where);
    std::array<std::byte, 64> page{};

    const std::int64_t bytes = directory.perform({.kind = IoKind::list, .data = page});

    const std::string listed(
        reinterpret_cast<const char*>(page.data()), static_cast<std::size_t>(bytes));
    EXPECT_EQ(listed, std::string("fa\0ob\0oc\0od\0oe\0", 15));
    EXPECT_EQ(directory.perform({.kind = IoKind::list, .offset = 4, .data = page}), 3);
    EXPECT_EQ(directory.perform({.kind = IoKind::list, .offset = 5, .data = page}), 0);
    EXPECT_EQ(directory.perform({.kind = IoKind::list, .offset = 99, .data = page}), 0);
    EXPECT_EQ(directory.perform({.kind = IoKind::list, .data = std::span(page).first(2)}), 0)
        << "half an entry is none";
}

TEST(StorageDirectory, RefusesNumbersBehindItsLimit) {
    const TemporaryDirectory where;
    StorageDirectory directory = directory_of(where);
    EXPECT_EQ(directory.perform({.kind = IoKind::create, .file = 4, .name = "a"}), -EINVAL);
    EXPECT_EQ(directory.perform({.kind = IoKind::truncate, .file = 3}), -EINVAL) << "none open";
    EXPECT_EQ(where.names().size(), 0U);
}

TEST(StorageDirectory, ReadOnlyChangesNothing) {
    const TemporaryDirectory where;
    make_file(where / "a", "abc");
    StorageDirectory directory = directory_of(where, true);
    EXPECT_EQ(directory.perform({.kind = IoKind::open, .file = 1, .name = "a"}), 3);
    for (const IoKind kind :
         {IoKind::create, IoKind::unlink, IoKind::sync_dir, IoKind::truncate, IoKind::allocate}) {
        EXPECT_EQ(directory.perform({.kind = kind, .file = 1, .name = "a"}), -EROFS)
            << to_string(kind);
    }
    EXPECT_EQ(directory.perform({.kind = IoKind::rename, .name = "a", .new_name = "b"}), -EROFS);
    EXPECT_EQ(std::filesystem::file_size(where / "a"), 3U);
}

TEST(StorageDirectory, MissingDirectoryIsNotFoundAndNotMade) {
    const TemporaryDirectory where;
    const auto opened = StorageDirectory::open(where / "absent", {});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::not_found);
    EXPECT_EQ(where.names().size(), 0U);
}

TEST(StorageDirectory, AnswersTheErrnoOfEveryCallAndAsksAgainWhenInterrupted) {
    const TemporaryDirectory where;
    struct Row {
        IoOp op{};
        const char* call = "";
    };
    const Row rows[] = {
        {{.kind = IoKind::create, .file = 2, .name = "new"}, "openat"},
        {{.kind = IoKind::rename, .name = "a", .new_name = "b"}, "renameat"},
        {{.kind = IoKind::unlink, .name = "b"}, "unlinkat"},
        {{.kind = IoKind::sync_dir}, "fsync"},
        {{.kind = IoKind::truncate, .file = 1, .offset = 5}, "ftruncate"},
        {{.kind = IoKind::allocate, .file = 1, .offset = 4096}, "fallocate"},
    };
    make_file(where / "a");
    StorageDirectory directory = directory_of(where);
    ASSERT_EQ(directory.perform({.kind = IoKind::open, .file = 1, .name = "a"}), 1);
    for (const Row& row : rows) {
        {
            const FailNthCall failing(1, EIO);
            EXPECT_EQ(directory.perform(row.op), -EIO) << row.call;
            EXPECT_EQ(failing.failed_call(), row.call);
        }
        const FailNthCall interrupted(1, EINTR);
        EXPECT_EQ(directory.perform(row.op), 0) << row.call;
        EXPECT_TRUE(interrupted.fired());
    }
}

/// One request and its answer.
std::int64_t ask(Storage& storage, IoOp op) {
    op.id = 1;
    EXPECT_TRUE(storage.submit(op));
    IoDone done;
    EXPECT_EQ(storage.wait(std::span(&done, 1), 0), 1U);
    return done.result;
}

TEST(FileStorage, ReadsShortAtTheEndOfAFileThatIsNoMultipleOfABlock) {
    const TemporaryDirectory where;
    make_file(where / "odd", std::string(5000, 'o'));
    for (const Direct direct : {Direct::preferred, Direct::off}) {
        const auto storage = FileStorage::open(where.path(), {.direct = direct});
        ASSERT_TRUE(storage) << describe(storage.error());
        ASSERT_EQ(ask(**storage, {.kind = IoKind::open, .file = 1, .name = "odd"}), 5000);
        std::vector<std::byte> memory(3 * 4096);
        const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
        const auto data = std::span(memory).subspan((4096 - address % 4096) % 4096, 8192);
        EXPECT_EQ(ask(**storage, {.kind = IoKind::read, .file = 1, .data = data}), 5000);
        EXPECT_EQ(
            ask(**storage, {.kind = IoKind::read, .file = 1, .offset = 4096, .data = data}), 904);
        EXPECT_EQ(
            ask(**storage, {.kind = IoKind::read, .file = 1, .offset = 8192, .data = data}), 0);
    }
}

TEST(FileStorage, PassesOnTheErrnoOfEveryCallOnce) {
    const TemporaryDirectory where;
    const auto storage = FileStorage::open(where.path(), {.direct = Direct::off});
    ASSERT_TRUE(storage);
    ASSERT_EQ(ask(**storage, {.kind = IoKind::create, .file = 1, .name = "a"}), 0);
    std::array<std::byte, 16> data{};
    for (const IoKind kind : {IoKind::write, IoKind::read, IoKind::sync_data, IoKind::sync_all}) {
        const FailNthCall failing(1, EIO);
        EXPECT_EQ(ask(**storage, {.kind = kind, .file = 1, .data = data}), -EIO);
        EXPECT_EQ(failing.calls().size(), 1U) << to_string(kind) << " was tried again";
    }
}

TEST(FileStorage, ReadOnlyRefusesWritesAndSyncs) {
    const TemporaryDirectory where;
    make_file(where / "a");
    const auto storage =
        FileStorage::open(where.path(), {.direct = Direct::off, .read_only = true});
    ASSERT_TRUE(storage);
    ASSERT_EQ(ask(**storage, {.kind = IoKind::open, .file = 1, .name = "a"}), 1);
    std::array<std::byte, 1> data{};
    EXPECT_EQ(ask(**storage, {.kind = IoKind::read, .file = 1, .data = data}), 1);
    EXPECT_EQ(ask(**storage, {.kind = IoKind::write, .file = 1, .data = data}), -EROFS);
    EXPECT_EQ(ask(**storage, {.kind = IoKind::sync_data, .file = 1}), -EROFS);
}

TEST(FileStorage, WithoutDirectIoSaysSoOrRefuses) {
    const TemporaryDirectory where;
    const SysCalls without_direct = test_support::without_direct_io();
    const ScopedSysCalls scope(without_direct);
    const auto required = FileStorage::open(where.path(), {.direct = Direct::required});
    const auto preferred = FileStorage::open(where.path(), {.direct = Direct::preferred});
    ASSERT_FALSE(required);
    EXPECT_EQ(required.error().code, Errc::unsupported);
    ASSERT_TRUE(preferred) << describe(preferred.error());
    EXPECT_FALSE((*preferred)->limits().direct);
    EXPECT_EQ((*preferred)->limits().align_offset, 1U);
    EXPECT_EQ(ask(**preferred, {.kind = IoKind::create, .file = 1, .name = "a"}), 0);
}

} // namespace
} // namespace promtact
