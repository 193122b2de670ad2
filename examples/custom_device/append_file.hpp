// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A device of four calls: one file that only grows. Everything a log needs of it is in these calls.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/wal/device.hpp>

class AppendFile final : public promtact::wal::Device {
  public:
    /// The file `name` of a directory, made when it is not there.
    static promtact::Result<std::unique_ptr<promtact::wal::Device>>
    open(const std::string& directory, const std::string& name) {
        const promtact::UniqueFd folder{
            ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (!folder) return promtact::Error::from_errno(errno, "open " + directory);
        promtact::UniqueFd file{
            ::openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640)};
        if (!file) return promtact::Error::from_errno(errno, "open " + name);
        if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
            return promtact::Error{promtact::Errc::busy, errno, name + " is open elsewhere"};
        if (::fsync(folder.get()) != 0) // or a crash may take the name away
            return promtact::Error::from_errno(errno, "fsync " + directory);
        struct stat status {};
        if (::fstat(file.get(), &status) != 0)
            return promtact::Error::from_errno(errno, "stat " + name);
        return std::unique_ptr<promtact::wal::Device>(std::make_unique<AppendFile>(
            std::move(file), static_cast<std::uint64_t>(status.st_size)));
    }

    AppendFile(promtact::UniqueFd file, std::uint64_t size)
        : file_(std::move(file)), size_(size), synced_(size) {}

    promtact::Result<void> append(std::span<const std::byte> bytes) override {
        std::size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t count = ::pwrite(
                file_.get(), bytes.data() + done, bytes.size() - done,
                static_cast<off_t>(size_ + done));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return take_back(count < 0 ? errno : ENOSPC);
            done += static_cast<std::size_t>(count);
        }
        size_ += done;
        return {};
    }

    promtact::Result<void> sync() override {
        if (::fdatasync(file_.get()) != 0) return promtact::Error::from_errno(errno, "fdatasync");
        synced_ = size_;
        return {};
    }

    promtact::Result<std::vector<std::byte>> durable_bytes() override {
        PROMTACT_TRY(sync());
        std::vector<std::byte> bytes(static_cast<std::size_t>(size_));
        std::size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t count = ::pread(
                file_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return promtact::Error::from_errno(errno, "read");
            if (count == 0)
                return promtact::Error{promtact::Errc::io, 0, "the file ends before its size"};
            done += static_cast<std::size_t>(count);
        }
        return bytes;
    }

    promtact::Result<void> truncate_durable(std::uint64_t bytes) override {
        if (bytes > size_)
            return promtact::Error{promtact::Errc::out_of_range, 0, "the file is shorter"};
        if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0)
            return promtact::Error::from_errno(errno, "truncate");
        size_ = bytes;
        return sync();
    }

    /// For the suite: leaves what a power failure may leave, half of what was not synced.
    void crash() {
        const std::uint64_t left = synced_ + (size_ - synced_) / 2;
        static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(left)) == 0);
    }

  private:
    // no_space promises that nothing was appended.
    promtact::Result<void> take_back(int sys_errno) {
        if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0)
            return promtact::Error{promtact::Errc::io, sys_errno, "append"};
        return promtact::Error::from_errno(sys_errno, "append");
    }

    promtact::UniqueFd file_;
    std::uint64_t size_;
    std::uint64_t synced_;
};
