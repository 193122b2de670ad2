// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <string>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/ebpf/attachment.hpp>
#include <promtact/ebpf/verifier_log.hpp>

namespace promtact::ebpf {
namespace {

// BPF_TCX_EGRESS, which the headers of libbpf 1.1 lack. A plain "tc" program fits it.
constexpr auto tcx_egress = static_cast<bpf_attach_type>(47);

Error attach_error(int sys_errno, const char* what, const AttachTarget& target) {
    std::string context = std::string{what} + " to " + target.name();
    if (sys_errno == EPERM || sys_errno == EACCES)
        context += ": needs CAP_NET_ADMIN and CAP_BPF (run as root)";
    if (sys_errno == EBUSY) context += ": another program sits there and is left alone";
    return Error::from_errno(sys_errno, std::move(context));
}

/// bpf_link_create inside the namespace, where the index means the interface.
Result<UniqueFd> create_link(
    int program_fd, const AttachTarget& target, bpf_attach_type hook, std::uint32_t flags,
    const char* what) {
    bpf_link_create_opts options{};
    options.sz = sizeof options;
    options.flags = flags;
    int status = 0;
    PROMTACT_TRY(target.inside([&] {
        status = bpf_link_create(program_fd, static_cast<int>(target.index()), hook, &options);
    }));
    if (status < 0) return attach_error(-status, what, target);
    kill_point();
    return UniqueFd{status};
}

bpf_tc_hook hook_of(std::uint32_t index, bpf_tc_attach_point point) {
    bpf_tc_hook hook{};
    hook.sz = sizeof hook;
    hook.ifindex = static_cast<int>(index);
    hook.attach_point = point;
    return hook;
}

bpf_tc_opts filter_options() {
    bpf_tc_opts options{};
    options.sz = sizeof options;
    return options;
}

} // namespace

std::string_view to_string(XdpMode mode) noexcept {
    return mode == XdpMode::native ? "native" : "generic";
}

std::string_view to_string(TcMechanism mechanism) noexcept {
    switch (mechanism) {
    case TcMechanism::automatic:
        return "automatic";
    case TcMechanism::tcx:
        return "tcx";
    case TcMechanism::clsact:
        return "clsact";
    }
    return "unknown";
}

Result<Attachment> Attachment::xdp(int program_fd, const AttachTarget& target, XdpMode mode) {
    const std::uint32_t flags = mode == XdpMode::native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
    const std::string what = "attach XDP (" + std::string{to_string(mode)} + ")";
    PROMTACT_TRY_ASSIGN(
        UniqueFd link, create_link(program_fd, target, BPF_XDP, flags, what.c_str()));
    return Attachment{std::move(link)};
}

Result<Attachment>
Attachment::tc_egress(int program_fd, const AttachTarget& target, TcMechanism mechanism) {
    if (mechanism == TcMechanism::clsact) return clsact(program_fd, target);
    Result<UniqueFd> link = create_link(program_fd, target, tcx_egress, 0, "attach tcx egress");
    if (link) return Attachment{*std::move(link)};
    // EINVAL is the one answer that means "no tcx here" (before 6.6, or CONFIG_NET_XGRESS off).
    const bool no_tcx = link.error().sys_errno == EINVAL;
    if (no_tcx && mechanism == TcMechanism::automatic) return clsact(program_fd, target);
    if (no_tcx)
        return Error{Errc::unsupported, EINVAL, "attach tcx: the kernel lacks CONFIG_NET_XGRESS"};
    return std::move(link).error();
}

Result<Attachment> Attachment::clsact(int program_fd, const AttachTarget& target) {
    PROMTACT_TRY_ASSIGN(AttachTarget own, target.duplicate());
    Filter filter{.target = std::move(own), .handle = 0, .priority = 0, .made_qdisc = false};
    int status = 0;
    PROMTACT_TRY(target.inside([&] {
        const VerifierLog quiet; // "already exists" is no news
        bpf_tc_hook hook = hook_of(target.index(), BPF_TC_EGRESS);
        status = bpf_tc_hook_create(&hook);
        filter.made_qdisc = status == 0;
        if (status != 0 && status != -EEXIST) return;
        bpf_tc_opts options = filter_options();
        options.prog_fd = program_fd;
        status = bpf_tc_attach(&hook, &options);
        filter.handle = options.handle;
        filter.priority = options.priority;
    }));
    if (status == -EINVAL || status == -ENOENT || status == -EOPNOTSUPP) {
        return Error{
            Errc::unsupported, -status,
            "attach TC: the kernel lacks CONFIG_NET_SCH_INGRESS or CONFIG_NET_CLS_BPF"};
    }
    if (status != 0) return attach_error(-status, "attach TC filter", target);
    kill_point();
    return Attachment{std::move(filter)};
}

Attachment::Attachment(Attachment&& other) noexcept
    : link_(std::move(other.link_)), filter_(std::exchange(other.filter_, std::nullopt)) {}

Attachment::~Attachment() {
    // What cannot be detached goes with the interface's namespace.
    static_cast<void>(detach().has_value());
}

Result<void> Attachment::detach() {
    if (link_) PROMTACT_TRY(link_.close());
    if (!filter_) return {};
    const Filter filter = std::move(*filter_);
    filter_.reset();
    int status = 0;
    PROMTACT_TRY(filter.target.inside([&] {
        const VerifierLog quiet;
        bpf_tc_hook hook = hook_of(filter.target.index(), BPF_TC_EGRESS);
        bpf_tc_opts options = filter_options();
        options.handle = filter.handle;
        options.priority = filter.priority;
        status = bpf_tc_detach(&hook, &options);
        if (!filter.made_qdisc) return;
        hook.attach_point = static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS);
        const int destroyed = bpf_tc_hook_destroy(&hook);
        if (status == 0) status = destroyed;
    }));
    if (status == -ENOENT || status == -ENODEV) return {}; // went with its interface
    if (status != 0) return attach_error(-status, "detach TC filter", filter.target);
    return {};
}

} // namespace promtact::ebpf
