// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>
#include <linux/nsfs.h>

#include <promtact/ebpf/attach_target.hpp>

namespace promtact::ebpf {
namespace {

constexpr std::string_view our_prefix = "promtact-";

struct Task {
    int namespace_fd = -1;
    const std::function<void()>* body = nullptr;
    int error = 0;
};

void* run_task(void* argument) {
    Task& task = *static_cast<Task*>(argument);
    if (::setns(task.namespace_fd, CLONE_NEWNET) != 0) {
        task.error = errno;
    } else {
        (*task.body)();
    }
    return nullptr;
}

/// Whether the descriptor is the network namespace at path. Process 1 may be hidden from us (by a
/// container, or without CAP_SYS_PTRACE); then its namespace cannot have been opened through it
/// either.
bool same_as(const struct stat& status, const char* path) {
    struct stat other {};
    if (::stat(path, &other) != 0) return false;
    return other.st_dev == status.st_dev && other.st_ino == status.st_ino;
}

Result<void> refuse_foreign_namespace(int fd) {
    struct statfs filesystem {};
    struct stat status {};
    if (::fstatfs(fd, &filesystem) != 0 || ::fstat(fd, &status) != 0)
        return Error::from_errno(errno, "stat the namespace descriptor");
    if (filesystem.f_type != NSFS_MAGIC || ::ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWNET)
        return Error{Errc::refused, 0, "the descriptor is no network namespace"};
    for (const char* path : {"/proc/1/ns/net", "/proc/self/ns/net", "/proc/thread-self/ns/net"}) {
        if (same_as(status, path)) {
            return Error{
                Errc::refused, 0,
                std::string{"fault programs are never attached in the namespace of the host ("} +
                    path + ")"};
        }
    }
    return {};
}

} // namespace

Result<void> AttachTarget::inside(const std::function<void()>& body) const {
    Task task{.namespace_fd = namespace_.get(), .body = &body, .error = 0};
    sigset_t every{};
    sigset_t before{};
    ::sigfillset(&every);
    if (const int error = ::pthread_sigmask(SIG_SETMASK, &every, &before); error != 0)
        return Error::from_errno(error, "block signals");
    pthread_t thread{};
    const int created = ::pthread_create(&thread, nullptr, &run_task, &task);
    const int restored = ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    PROMTACT_ASSERT(restored == 0);
    if (created != 0) return Error::from_errno(created, "start a thread for the namespace");
    const int joined = ::pthread_join(thread, nullptr);
    PROMTACT_ASSERT(joined == 0);
    if (task.error == EPERM)
        return Error::from_errno(EPERM, "enter network namespace: needs CAP_SYS_ADMIN");
    if (task.error != 0) return Error::from_errno(task.error, "enter network namespace");
    return {};
}

Result<AttachTarget> AttachTarget::duplicate() const {
    UniqueFd own{::fcntl(namespace_.get(), F_DUPFD_CLOEXEC, 0)};
    if (!own) return Error::from_errno(errno, "duplicate the namespace descriptor");
    AttachTarget target{std::move(own), index_};
    target.name_ = name_;
    return target;
}

Result<AttachTarget> AttachTarget::verify(int namespace_fd, std::uint32_t interface_index) {
    PROMTACT_TRY(refuse_foreign_namespace(namespace_fd));
    UniqueFd own{::fcntl(namespace_fd, F_DUPFD_CLOEXEC, 0)};
    if (!own) return Error::from_errno(errno, "duplicate the namespace descriptor");
    AttachTarget target{std::move(own), interface_index};
    std::array<char, IF_NAMESIZE> name{};
    int name_error = 0;
    PROMTACT_TRY(target.inside([&] {
        if (::if_indextoname(interface_index, name.data()) == nullptr) name_error = errno;
    }));
    if (name_error != 0) {
        return Error::from_errno(
            name_error, "interface " + std::to_string(interface_index) + " of the namespace");
    }
    target.name_ = name.data();
    if (target.name_.substr(0, our_prefix.size()) != our_prefix) {
        return Error{
            Errc::refused, 0,
            "interface " + target.name_ + " is not ours: fault programs are attached to " +
                std::string{our_prefix} + "* only"};
    }
    return target;
}

} // namespace promtact::ebpf
