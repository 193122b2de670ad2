// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One program on one hook of one of our interfaces, until this object or the process ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/ebpf/attach_target.hpp>

namespace promtact::ebpf {

enum class XdpMode : std::uint8_t {
    native,  // in the driver; on veth it costs TCP its segmentation offload
    generic, // behind the driver, on any link
};

enum class TcMechanism : std::uint8_t {
    automatic, // tcx, or clsact where the kernel has no tcx
    tcx,
    clsact, // its filter is held by the link, not by us: it goes with the link's namespace
};

std::string_view to_string(XdpMode mode) noexcept;
std::string_view to_string(TcMechanism mechanism) noexcept;

/// The destructor detaches. SIGKILL detaches XDP and tcx at once (they are held by a descriptor).
class Attachment {
  public:
    /// Errors: busy when another program sits there; unsupported; denied naming CAP_NET_ADMIN and
    /// CAP_BPF.
    static Result<Attachment> xdp(int program_fd, const AttachTarget& target, XdpMode mode);
    static Result<Attachment>
    tc_egress(int program_fd, const AttachTarget& target, TcMechanism mechanism);

    Attachment(Attachment&& other) noexcept;
    Attachment& operator=(Attachment&&) = delete;
    Attachment(const Attachment&) = delete;
    ~Attachment();

    /// tcx or clsact for a TC attachment.
    TcMechanism mechanism() const noexcept {
        return filter_ ? TcMechanism::clsact : TcMechanism::tcx;
    }
    Result<void> detach();

  private:
    /// A clsact filter, which has no descriptor.
    struct Filter {
        AttachTarget target;
        std::uint32_t handle = 0;
        std::uint32_t priority = 0;
        bool made_qdisc = false; // only then may the qdisc be removed
    };
    explicit Attachment(UniqueFd link) noexcept : link_(std::move(link)) {}
    explicit Attachment(Filter filter) noexcept : filter_(std::move(filter)) {}
    static Result<Attachment> clsact(int program_fd, const AttachTarget& target);

    UniqueFd link_{};
    std::optional<Filter> filter_{};
};

} // namespace promtact::ebpf
