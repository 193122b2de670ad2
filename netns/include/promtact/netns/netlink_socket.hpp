// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One rtnetlink socket. It stays in the namespace it was opened in and may be used from any thread,
// by one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/netns/namespace.hpp>

struct nl_sock;
struct nl_msg;
struct nlmsghdr;

namespace promtact::netns {

class NetlinkSocket {
  public:
    /// A socket inside the namespace. It keeps the namespace alive as long as it is open.
    static Result<NetlinkSocket> open(const Namespace& where);
    /// A socket in the calling thread's own namespace, for looking only (leak_audit).
    static Result<NetlinkSocket> open_here();

    /// Sends one request and waits for the kernel's answer. what names the attempt in errors.
    /// Errors: the kernel's errno; EPERM becomes denied naming CAP_NET_ADMIN; timeout after five
    /// seconds without an answer.
    Result<void> request(nl_msg& message, std::string_view what);

    /// Sends a dump request and calls each for every message of the answer. A dump that the kernel
    /// calls inconsistent is Errc::busy: call again.
    Result<void>
    dump(nl_msg& message, std::string_view what, const std::function<void(nlmsghdr&)>& each);

  private:
    struct Closer {
        void operator()(nl_sock* socket) const noexcept;
    };
    using Handle = std::unique_ptr<nl_sock, Closer>;
    explicit NetlinkSocket(Handle handle) noexcept : handle_(std::move(handle)) {}

    Handle handle_;
};

} // namespace promtact::netns
