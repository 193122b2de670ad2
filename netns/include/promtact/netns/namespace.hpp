// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Network namespaces that exist only as long as somebody holds their descriptor: when the process
// dies, however it dies, the kernel takes them and everything in them away.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::netns {

/// Identity of a namespace: device and inode of its nsfs file.
struct NamespaceId {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend auto operator<=>(const NamespaceId&, const NamespaceId&) = default;
};

/// The namespace of the calling thread.
Result<NamespaceId> current_namespace();

class NamedNamespace;

/// A network namespace made by us. Nothing else can be put into this type, so whatever takes a
/// Namespace cannot touch the host's.
class Namespace {
  public:
    /// Makes an empty namespace on a short-lived thread; the calling thread stays where it is.
    /// Errors: denied naming CAP_SYS_ADMIN, unsupported naming CONFIG_NET_NS.
    static Result<Namespace> create();

    int fd() const noexcept { return fd_.get(); }
    NamespaceId id() const noexcept { return id_; }

  private:
    friend class NamedNamespace;
    Namespace(UniqueFd fd, NamespaceId id) noexcept : fd_(std::move(fd)), id_(id) {}

    UniqueFd fd_;
    NamespaceId id_;
};

namespace detail {
/// Runs body on a new thread that has entered the namespace, and waits for it. The thread has all
/// signals blocked and ends afterwards: no thread ever returns from a namespace.
Result<void> run_on_thread(int namespace_fd, const std::function<void()>& body);
} // namespace detail

/// Runs function inside the namespace on a dedicated thread and returns what it returns. Sockets it
/// opens belong to the namespace and may be used from any thread afterwards.
/// Errors: denied naming CAP_SYS_ADMIN; whatever function itself returns.
template <class Function>
auto run_inside(const Namespace& where, Function&& function) {
    using Out = std::invoke_result_t<Function&>;
    std::optional<Out> out;
    Result<void> ran = detail::run_on_thread(where.fd(), [&] { out.emplace(function()); });
    if (!ran) return Out{std::move(ran).error()};
    PROMTACT_ASSERT(out.has_value());
    return std::move(*out);
}

} // namespace promtact::netns
