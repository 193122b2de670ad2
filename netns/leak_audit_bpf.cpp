// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// BPF objects by bpf(2) itself, since this unit looks at them without owning any.
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/unique_fd.hpp>

#include "audit_internal.hpp"

namespace promtact::netns {
namespace {

constexpr std::string_view our_prefix = "promtact";
// BPF_TCX_INGRESS and BPF_TCX_EGRESS, which headers before 6.6 lack.
constexpr std::array<std::uint32_t, 2> tcx_hooks{46, 47};
constexpr std::size_t programs_per_hook_max = 64;
constexpr std::size_t objects_max = 100'000; // bounds the walk, whatever the kernel answers

int call(bpf_cmd command, bpf_attr& attribute) {
    const long status = ::syscall(SYS_bpf, command, &attribute, sizeof attribute);
    return status < 0 ? -errno : static_cast<int>(status);
}

/// Reads the info struct of the object with this id; false when it is gone or not visible.
template <class Info>
bool read_info(bpf_cmd open_command, std::uint32_t id, Info& info) {
    bpf_attr open{};
    open.prog_id = id; // the union shares this place with map_id and link_id
    const UniqueFd fd{call(open_command, open)};
    if (!fd) return false;
    bpf_attr get{};
    get.info.bpf_fd = static_cast<std::uint32_t>(fd.get());
    get.info.info_len = sizeof info;
    get.info.info = reinterpret_cast<std::uintptr_t>(&info);
    return call(BPF_OBJ_GET_INFO_BY_FD, get) == 0;
}

/// Calls each for every id; returns the errno that ended the walk, ENOENT at its regular end.
template <class Each>
int walk(bpf_cmd next_command, Each&& each) {
    std::uint32_t id = 0;
    for (std::size_t seen = 0; seen < objects_max; ++seen) {
        bpf_attr attribute{};
        attribute.start_id = id;
        if (const int status = call(next_command, attribute); status < 0) return -status;
        id = attribute.next_id;
        each(id);
    }
    return E2BIG;
}

bool ours(const char* name) {
    return std::strncmp(name, our_prefix.data(), our_prefix.size()) == 0;
}

} // namespace

void collect_tcx(std::uint32_t index, const std::string& name, Lines& lines) {
    for (const std::uint32_t hook : tcx_hooks) {
        std::array<std::uint32_t, programs_per_hook_max> ids{};
        bpf_attr attribute{};
        attribute.query.target_fd = index; // the union's place of target_ifindex
        attribute.query.attach_type = hook;
        attribute.query.prog_cnt = static_cast<std::uint32_t>(ids.size());
        attribute.query.prog_ids = reinterpret_cast<std::uintptr_t>(ids.data());
        // EINVAL: a kernel without tcx. EPERM: what attachments exist is not for us to see.
        const int status = call(BPF_PROG_QUERY, attribute);
        if (status == -EPERM)
            lines.push_back("attached tcx " + name + " not visible (needs CAP_NET_ADMIN)");
        if (status < 0) continue;
        for (std::uint32_t i = 0; i < attribute.query.prog_cnt && i < ids.size(); ++i) {
            lines.push_back(
                "attached tcx " + name + (hook == tcx_hooks[0] ? " ingress" : " egress") +
                " program " + std::to_string(ids[i]));
        }
    }
}

void collect_bpf_objects(Lines& lines) {
    std::set<std::uint32_t> our_programs;
    const int ended = walk(BPF_PROG_GET_NEXT_ID, [&](std::uint32_t id) {
        bpf_prog_info info{};
        if (!read_info(BPF_PROG_GET_FD_BY_ID, id, info) || !ours(info.name)) return;
        our_programs.insert(id);
        lines.push_back("bpf program " + std::to_string(id) + " " + info.name);
    });
    if (ended != ENOENT) {
        lines.push_back("bpf objects not visible (" + errno_name(ended) + ")");
        return;
    }
    static_cast<void>(walk(BPF_MAP_GET_NEXT_ID, [&](std::uint32_t id) {
        bpf_map_info info{};
        if (read_info(BPF_MAP_GET_FD_BY_ID, id, info) && ours(info.name))
            lines.push_back("bpf map " + std::to_string(id) + " " + info.name);
    }));
    static_cast<void>(walk(BPF_LINK_GET_NEXT_ID, [&](std::uint32_t id) {
        bpf_link_info info{};
        if (read_info(BPF_LINK_GET_FD_BY_ID, id, info) && our_programs.count(info.prog_id) != 0) {
            lines.push_back(
                "bpf link " + std::to_string(id) + " type " + std::to_string(info.type) +
                " program " + std::to_string(info.prog_id));
        }
    }));
}

} // namespace promtact::netns
