// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <string>

#include <sys/socket.h>
#include <sys/time.h>

#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <promtact/netns/netlink_socket.hpp>

namespace promtact::netns {
namespace {

constexpr int answer_timeout_seconds = 5;
constexpr int receive_buffer_bytes = 256 * 1024;

/// What the callbacks of one exchange saw. The kernel's own errno is taken from the answer, since
/// libnl's codes keep only a part of it.
struct Exchange {
    const std::function<void(nlmsghdr&)>* each = nullptr;
    int sys_errno = 0;
    bool finished = false;
    bool interrupted = false;
};

int on_error(sockaddr_nl*, nlmsgerr* error, void* argument) {
    Exchange& exchange = *static_cast<Exchange*>(argument);
    exchange.sys_errno = -error->error;
    exchange.finished = true;
    return NL_STOP;
}

int on_done(nl_msg*, void* argument) {
    static_cast<Exchange*>(argument)->finished = true;
    return NL_STOP;
}

int on_interrupted(nl_msg*, void* argument) {
    static_cast<Exchange*>(argument)->interrupted = true;
    return NL_OK;
}

int on_valid(nl_msg* message, void* argument) {
    const Exchange& exchange = *static_cast<Exchange*>(argument);
    if (exchange.each != nullptr) (*exchange.each)(*nlmsg_hdr(message));
    return NL_OK;
}

Error kernel_error(int sys_errno, std::string_view what) {
    std::string context{what};
    if (sys_errno == EPERM || sys_errno == EACCES) context += ": needs CAP_NET_ADMIN (run as root)";
    return Error::from_errno(sys_errno, std::move(context));
}

Error library_error(int nl_error, std::string_view what) {
    // errno is not trustworthy after a libnl call: its own text is.
    if (nl_error == -NLE_AGAIN)
        return Error{Errc::timeout, 0, std::string{what} + ": the kernel did not answer"};
    return Error{Errc::system, 0, std::string{what} + ": netlink: " + nl_geterror(nl_error)};
}

struct CallbackDeleter {
    void operator()(nl_cb* callbacks) const noexcept { nl_cb_put(callbacks); }
};

Result<void>
exchange_messages(nl_sock& socket, nl_msg& message, std::string_view what, Exchange& exchange) {
    const std::unique_ptr<nl_cb, CallbackDeleter> callbacks{nl_cb_alloc(NL_CB_DEFAULT)};
    PROMTACT_ASSERT(callbacks != nullptr);
    nl_cb_err(callbacks.get(), NL_CB_CUSTOM, &on_error, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, &on_done, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, &on_done, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_DUMP_INTR, NL_CB_CUSTOM, &on_interrupted, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, &on_valid, &exchange);

    if (const int sent = nl_send_auto(&socket, &message); sent < 0)
        return library_error(sent, what);
    while (!exchange.finished) {
        const int received = nl_recvmsgs(&socket, callbacks.get());
        if (exchange.sys_errno != 0) break;
        if (received < 0) return library_error(received, what);
    }
    if (exchange.sys_errno != 0) return kernel_error(exchange.sys_errno, what);
    if (exchange.interrupted)
        return Error{Errc::busy, EINTR, std::string{what} + ": the table changed meanwhile"};
    return {};
}

} // namespace

void NetlinkSocket::Closer::operator()(nl_sock* socket) const noexcept {
    nl_socket_free(socket);
}

Result<NetlinkSocket> NetlinkSocket::open_here() {
    Handle handle{nl_socket_alloc()};
    if (handle == nullptr) return Error{Errc::system, ENOMEM, "allocate netlink socket"};
    if (const int status = nl_connect(handle.get(), NETLINK_ROUTE); status < 0)
        return library_error(status, "open netlink socket");
    if (const int status = nl_socket_set_buffer_size(handle.get(), receive_buffer_bytes, 0);
        status < 0)
        return library_error(status, "size netlink socket");
    const timeval timeout{.tv_sec = answer_timeout_seconds, .tv_usec = 0};
    if (::setsockopt(
            nl_socket_get_fd(handle.get()), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0)
        return Error::from_errno(errno, "set timeout of netlink socket");
    return NetlinkSocket{std::move(handle)};
}

Result<NetlinkSocket> NetlinkSocket::open(const Namespace& where) {
    return run_inside(where, [] { return open_here(); });
}

Result<void> NetlinkSocket::request(nl_msg& message, std::string_view what) {
    Exchange exchange;
    nlmsg_hdr(&message)->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
    return exchange_messages(*handle_, message, what, exchange);
}

Result<void> NetlinkSocket::dump(
    nl_msg& message, std::string_view what, const std::function<void(nlmsghdr&)>& each) {
    Exchange exchange{.each = &each, .sys_errno = 0, .finished = false, .interrupted = false};
    nlmsg_hdr(&message)->nlmsg_flags |= NLM_F_REQUEST | NLM_F_DUMP;
    return exchange_messages(*handle_, message, what, exchange);
}

} // namespace promtact::netns
