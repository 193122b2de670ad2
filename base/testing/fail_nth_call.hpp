// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Test helper: makes the n-th call through the sys() seam fail. A test runs its subject with n = 1,
// 2, 3, … until fired() stays false, and has then seen every failing call.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include <promtact/base/sys.hpp>

namespace promtact::test_support {

/// Counts the calls of this thread through sys() and fails number n (1 = the first) with an errno.
/// close really closes before it fails, as close(2) does. Scopes do not nest.
class FailNthCall {
  public:
    /// n = 0 only counts. beneath: the table that answers the other calls.
    explicit FailNthCall(std::uint64_t n, int sys_errno, const SysCalls& beneath = real_sys_calls)
        : table_(wrappers()), scope_(table_) {
        state() = State{.countdown = n, .sys_errno = sys_errno, .beneath = &beneath};
    }
    FailNthCall(const FailNthCall&) = delete;
    FailNthCall& operator=(const FailNthCall&) = delete;
    ~FailNthCall() { state() = State{}; }

    [[nodiscard]] bool fired() const { return !state().failed.empty(); }
    /// Names of all calls so far, in order.
    [[nodiscard]] const std::vector<std::string>& calls() const { return state().calls; }
    [[nodiscard]] const std::string& failed_call() const { return state().failed; }

  private:
    struct State {
        std::uint64_t countdown = 0;
        int sys_errno = 0;
        const SysCalls* beneath = &real_sys_calls;
        std::vector<std::string> calls{};
        std::string failed{};
    };
    static State& state() {
        static thread_local State the_state;
        return the_state;
    }
    static bool fails(const char* name) {
        State& s = state();
        s.calls.emplace_back(name);
        if (s.countdown == 0 || --s.countdown != 0) return false;
        s.failed = name;
        errno = s.sys_errno;
        return true;
    }
    static const SysCalls& next() { return *state().beneath; }

    static SysCalls wrappers() {
        SysCalls t = real_sys_calls;
        t.open = [](const char* path, int flags, mode_t mode) {
            return fails("open") ? -1 : next().open(path, flags, mode);
        };
        t.openat = [](int directory, const char* path, int flags, mode_t mode) {
            return fails("openat") ? -1 : next().openat(directory, path, flags, mode);
        };
        t.close = [](int fd) {
            const int status = next().close(fd);
            return fails("close") ? -1 : status;
        };
        t.read = [](int fd, void* buffer, size_t size) {
            return fails("read") ? -1 : next().read(fd, buffer, size);
        };
        t.pread = [](int fd, void* buffer, size_t size, off_t offset) {
            return fails("pread") ? -1 : next().pread(fd, buffer, size, offset);
        };
        t.write = [](int fd, const void* buffer, size_t size) {
            return fails("write") ? -1 : next().write(fd, buffer, size);
        };
        t.pwrite = [](int fd, const void* buffer, size_t size, off_t offset) {
            return fails("pwrite") ? -1 : next().pwrite(fd, buffer, size, offset);
        };
        t.fsync = [](int fd) { return fails("fsync") ? -1 : next().fsync(fd); };
        t.fdatasync = [](int fd) { return fails("fdatasync") ? -1 : next().fdatasync(fd); };
        t.ftruncate = [](int fd, off_t size) {
            return fails("ftruncate") ? -1 : next().ftruncate(fd, size);
        };
        t.fchown = [](int fd, uid_t owner, gid_t group) {
            return fails("fchown") ? -1 : next().fchown(fd, owner, group);
        };
        t.fallocate = [](int fd, int mode, off_t offset, off_t size) {
            return fails("fallocate") ? -1 : next().fallocate(fd, mode, offset, size);
        };
        t.linkat = [](int from_fd, const char* from, int to_fd, const char* to, int flags) {
            return fails("linkat") ? -1 : next().linkat(from_fd, from, to_fd, to, flags);
        };
        t.rename = [](const char* from, const char* to) {
            return fails("rename") ? -1 : next().rename(from, to);
        };
        t.renameat = [](int from_fd, const char* from, int to_fd, const char* to) {
            return fails("renameat") ? -1 : next().renameat(from_fd, from, to_fd, to);
        };
        t.unlinkat = [](int directory, const char* path, int flags) {
            return fails("unlinkat") ? -1 : next().unlinkat(directory, path, flags);
        };
        t.unlink = [](const char* path) { return fails("unlink") ? -1 : next().unlink(path); };
        t.mkdir = [](const char* path, mode_t mode) {
            return fails("mkdir") ? -1 : next().mkdir(path, mode);
        };
        t.statx = [](int fd, const char* path, int flags, unsigned mask, struct statx* result) {
            return fails("statx") ? -1 : next().statx(fd, path, flags, mask, result);
        };
        t.flock = [](int fd, int operation) {
            return fails("flock") ? -1 : next().flock(fd, operation);
        };
        t.ioctl = [](int fd, unsigned long request, void* argument) {
            return fails("ioctl") ? -1 : next().ioctl(fd, request, argument);
        };
        t.unshare = [](int flags) { return fails("unshare") ? -1 : next().unshare(flags); };
        t.setns = [](int fd, int kind) { return fails("setns") ? -1 : next().setns(fd, kind); };
        return t;
    }

    SysCalls table_;
    ScopedSysCalls scope_;
};

} // namespace promtact::test_support
