// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/netns/namespace.hpp>

namespace promtact::netns {
namespace {

constexpr const char* own_namespace_path = "/proc/thread-self/ns/net";

struct Task {
    int namespace_fd = -1; // -1: make a new namespace
    const std::function<void()>* body = nullptr;
    int error = 0;
};

void* run_task(void* argument) {
    Task& task = *static_cast<Task*>(argument);
    const int status =
        task.namespace_fd < 0 ? ::unshare(CLONE_NEWNET) : ::setns(task.namespace_fd, CLONE_NEWNET);
    if (status != 0) {
        task.error = errno;
    } else {
        (*task.body)();
    }
    return nullptr;
}

// pthread_create instead of std::thread, which reports a lack of threads by throwing.
int run_on_new_thread(Task& task) {
    sigset_t every{};
    sigset_t before{};
    ::sigfillset(&every);
    if (const int error = ::pthread_sigmask(SIG_SETMASK, &every, &before); error != 0) return error;
    pthread_t thread{};
    const int created = ::pthread_create(&thread, nullptr, &run_task, &task);
    const int restored = ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    PROMTACT_ASSERT(restored == 0);
    if (created != 0) return created;
    const int joined = ::pthread_join(thread, nullptr);
    PROMTACT_ASSERT(joined == 0);
    return 0;
}

Error namespace_error(int sys_errno, const char* what) {
    std::string context = what;
    if (sys_errno == EPERM) context += ": needs CAP_SYS_ADMIN (run as root)";
    if (sys_errno == EINVAL) {
        return Error{
            Errc::unsupported, sys_errno,
            context + ": the kernel has no network namespaces (CONFIG_NET_NS)"};
    }
    if (sys_errno == ENOSPC) context += ": too many namespaces (sysctl user.max_net_namespaces)";
    return Error::from_errno(sys_errno, std::move(context));
}

Result<NamespaceId> identify(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return Error::from_errno(errno, "stat namespace descriptor");
    return NamespaceId{status.st_dev, status.st_ino};
}

} // namespace

namespace detail {

Result<void> run_on_thread(int namespace_fd, const std::function<void()>& body) {
    PROMTACT_ASSERT(namespace_fd >= 0);
    Task task{.namespace_fd = namespace_fd, .body = &body, .error = 0};
    if (const int error = run_on_new_thread(task); error != 0)
        return Error::from_errno(error, "start a thread for the namespace");
    if (task.error != 0) return namespace_error(task.error, "enter network namespace");
    return {};
}

} // namespace detail

Result<NamespaceId> current_namespace() {
    const UniqueFd fd{::open(own_namespace_path, O_RDONLY | O_CLOEXEC)};
    if (!fd) return Error::from_errno(errno, std::string{"open "} + own_namespace_path);
    return identify(fd.get());
}

Result<Namespace> Namespace::create() {
    PROMTACT_TRY_ASSIGN(const NamespaceId before, current_namespace());
    UniqueFd fd;
    int open_error = 0;
    const std::function<void()> take = [&] {
        fd = UniqueFd{::open(own_namespace_path, O_RDONLY | O_CLOEXEC)};
        if (!fd) open_error = errno;
    };
    Task task{.namespace_fd = -1, .body = &take, .error = 0};
    if (const int error = run_on_new_thread(task); error != 0)
        return Error::from_errno(error, "start a thread for the namespace");
    if (task.error != 0) return namespace_error(task.error, "create network namespace");
    if (open_error != 0) return Error::from_errno(open_error, "open the new network namespace");

    PROMTACT_TRY_ASSIGN(const NamespaceId id, identify(fd.get()));
    PROMTACT_TRY_ASSIGN(const NamespaceId after, current_namespace());
    PROMTACT_ASSERT(id != before);
    PROMTACT_ASSERT(after == before);
    kill_point();
    return Namespace{std::move(fd), id};
}

} // namespace promtact::netns
