// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The only thing a fault program can be attached to: one of our interfaces in one of our
// namespaces. A management interface cannot become a value of this type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::ebpf {

class AttachTarget {
  public:
    /// Looks at the interface from inside the namespace. Keeps its own descriptor of the namespace.
    /// Errors: refused when the namespace is that of process 1 (where it may be seen) or our own,
    /// or when the interface is not called promtact-*; not_found when it does not exist; denied
    /// naming CAP_SYS_ADMIN.
    static Result<AttachTarget> verify(int namespace_fd, std::uint32_t interface_index);

    /// Another handle on the same interface.
    Result<AttachTarget> duplicate() const;

    std::uint32_t index() const noexcept { return index_; }
    const std::string& name() const noexcept { return name_; }
    /// Runs body on a new thread inside the namespace, where the index means this interface.
    Result<void> inside(const std::function<void()>& body) const;

  private:
    AttachTarget(UniqueFd namespace_fd, std::uint32_t index) noexcept
        : namespace_(std::move(namespace_fd)), index_(index) {}

    UniqueFd namespace_;
    std::uint32_t index_;
    std::string name_{};
};

} // namespace promtact::ebpf
