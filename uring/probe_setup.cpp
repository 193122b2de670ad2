// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include <sys/utsname.h>

#include <liburing.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/refusal.hpp>

#include "kernel_constants_internal.hpp"
#include "probe_internal.hpp"

namespace promtact::uring {
namespace {

constexpr unsigned entries = 8;

// A flag, what must accompany it for the kernel to accept it, and the release that brought it.
struct FlagCase {
    std::uint32_t flag;
    std::uint32_t with;
    const char* name;
    const char* since;
};
constexpr std::array flag_cases{
    FlagCase{setup_iopoll, 0, "IORING_SETUP_IOPOLL", "Linux 5.1"},
    FlagCase{setup_sqpoll, 0, "IORING_SETUP_SQPOLL", "Linux 5.1"},
    FlagCase{setup_sq_aff, setup_sqpoll, "IORING_SETUP_SQ_AFF", "Linux 5.1"},
    FlagCase{setup_cqsize, 0, "IORING_SETUP_CQSIZE", "Linux 5.5"},
    FlagCase{setup_clamp, 0, "IORING_SETUP_CLAMP", "Linux 5.6"},
    FlagCase{setup_attach_wq, 0, "IORING_SETUP_ATTACH_WQ", "Linux 5.6"},
    FlagCase{setup_r_disabled, 0, "IORING_SETUP_R_DISABLED", "Linux 5.10"},
    FlagCase{setup_submit_all, 0, "IORING_SETUP_SUBMIT_ALL", "Linux 5.18"},
    FlagCase{setup_coop_taskrun, 0, "IORING_SETUP_COOP_TASKRUN", "Linux 5.19"},
    FlagCase{setup_taskrun_flag, setup_coop_taskrun, "IORING_SETUP_TASKRUN_FLAG", "Linux 5.19"},
    FlagCase{setup_sqe128, 0, "IORING_SETUP_SQE128", "Linux 5.19"},
    FlagCase{setup_cqe32, 0, "IORING_SETUP_CQE32", "Linux 5.19"},
    FlagCase{setup_single_issuer, 0, "IORING_SETUP_SINGLE_ISSUER", "Linux 6.0"},
    FlagCase{setup_defer_taskrun, setup_single_issuer, "IORING_SETUP_DEFER_TASKRUN", "Linux 6.1"},
    FlagCase{setup_no_mmap, 0, "IORING_SETUP_NO_MMAP", "Linux 6.5"},
    FlagCase{
        setup_registered_fd_only, setup_no_mmap, "IORING_SETUP_REGISTERED_FD_ONLY", "Linux 6.5"},
    FlagCase{setup_no_sqarray, 0, "IORING_SETUP_NO_SQARRAY", "Linux 6.6"},
    FlagCase{setup_hybrid_iopoll, setup_iopoll, "IORING_SETUP_HYBRID_IOPOLL", "Linux 6.13"},
    FlagCase{setup_cqe_mixed, 0, "IORING_SETUP_CQE_MIXED", "Linux 6.18"},
    FlagCase{setup_sqe_mixed, 0, "IORING_SETUP_SQE_MIXED", "a release after 6.18"},
    FlagCase{setup_sq_rewind, setup_no_sqarray, "IORING_SETUP_SQ_REWIND", "a release after 6.18"},
};

constexpr std::array mask_names{
    "IORING_FEAT_SINGLE_MMAP",    "IORING_FEAT_NODROP",          "IORING_FEAT_SUBMIT_STABLE",
    "IORING_FEAT_RW_CUR_POS",     "IORING_FEAT_CUR_PERSONALITY", "IORING_FEAT_FAST_POLL",
    "IORING_FEAT_POLL_32BITS",    "IORING_FEAT_SQPOLL_NONFIXED", "IORING_FEAT_EXT_ARG",
    "IORING_FEAT_NATIVE_WORKERS", "IORING_FEAT_RSRC_TAGS",       "IORING_FEAT_CQE_SKIP",
    "IORING_FEAT_LINKED_FILE",    "IORING_FEAT_REG_REG_RING",    "IORING_FEAT_RECVSEND_BUNDLE",
    "IORING_FEAT_MIN_TIMEOUT",    "IORING_FEAT_RW_ATTR",         "IORING_FEAT_NO_IOWAIT",
};

constexpr std::array opcode_names{
    "NOP",
    "READV",
    "WRITEV",
    "FSYNC",
    "READ_FIXED",
    "WRITE_FIXED",
    "POLL_ADD",
    "POLL_REMOVE",
    "SYNC_FILE_RANGE",
    "SENDMSG",
    "RECVMSG",
    "TIMEOUT",
    "TIMEOUT_REMOVE",
    "ACCEPT",
    "ASYNC_CANCEL",
    "LINK_TIMEOUT",
    "CONNECT",
    "FALLOCATE",
    "OPENAT",
    "CLOSE",
    "FILES_UPDATE",
    "STATX",
    "READ",
    "WRITE",
    "FADVISE",
    "MADVISE",
    "SEND",
    "RECV",
    "OPENAT2",
    "EPOLL_CTL",
    "SPLICE",
    "PROVIDE_BUFFERS",
    "REMOVE_BUFFERS",
    "TEE",
    "SHUTDOWN",
    "RENAMEAT",
    "UNLINKAT",
    "MKDIRAT",
    "SYMLINKAT",
    "LINKAT",
    "MSG_RING",
    "FSETXATTR",
    "SETXATTR",
    "FGETXATTR",
    "GETXATTR",
    "SOCKET",
    "URING_CMD",
    "SEND_ZC",
    "SENDMSG_ZC",
    "READ_MULTISHOT",
    "WAITID",
    "FUTEX_WAIT",
    "FUTEX_WAKE",
    "FUTEX_WAITV",
    "FIXED_FD_INSTALL",
    "FTRUNCATE",
    "BIND",
    "LISTEN",
    "RECV_ZC",
    "EPOLL_WAIT",
    "READV_FIXED",
    "WRITEV_FIXED",
    "PIPE",
    "NOP128",
    "URING_CMD128",
};
static_assert(opcode_names.size() == 65);

std::string running_kernel() {
    utsname facts{};
    return ::uname(&facts) == 0 ? facts.release : "unknown";
}

std::string too_old(const char* since) {
    return std::string("not known to kernel ") + running_kernel() + "; since " + since;
}

struct Attempt {
    int sys_errno = 0;
    io_uring_params params{};
    UniqueFd fd{};
};

Attempt attempt(io_uring_params params) {
    Attempt result{.sys_errno = 0, .params = params};
    const int rc = ::io_uring_setup(entries, &result.params);
    if (rc < 0) {
        result.sys_errno = -rc;
    } else if ((params.flags & setup_registered_fd_only) == 0) {
        result.fd = UniqueFd(rc);
    }
    return result;
}

// A ring that exists only in this thread's table of registered rings: give the place back.
void forget_registered_ring(unsigned index) {
    constexpr unsigned use_registered_ring = 1U << 31;
    constexpr unsigned unregister_ring_fds = 21;
    io_uring_rsrc_update update{};
    update.offset = index;
    const int rc =
        ::io_uring_register(index, unregister_ring_fds | use_registered_ring, &update, 1);
    PROMTACT_ASSERT(rc == 1);
}

// The last field of both offset structs; liburing 2.3 calls it resv2, later ones user_addr.
void set_user_address(void* offsets, std::span<std::byte> memory) {
    constexpr std::size_t at_user_address = 32;
    static_assert(sizeof(io_sqring_offsets) == at_user_address + 8);
    static_assert(sizeof(io_cqring_offsets) == at_user_address + 8);
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(memory.data());
    std::memcpy(static_cast<std::byte*>(offsets) + at_user_address, &address, sizeof address);
}

// NO_MMAP: the application brings the memory of both queues, a page each.
int attempt_in_own_memory(std::uint32_t flags) {
    auto memory = AlignedBuffer::allocate(2, block_bytes);
    if (!memory) return memory.error().sys_errno;
    io_uring_params params{};
    params.flags = flags;
    set_user_address(&params.sq_off, memory->slot(0));
    set_user_address(&params.cq_off, memory->slot(1));
    const int rc = ::io_uring_setup(entries, &params);
    if (rc < 0) return -rc;
    if ((flags & setup_registered_fd_only) != 0) {
        forget_registered_ring(static_cast<unsigned>(rc));
    } else {
        UniqueFd(rc).reset();
    }
    return 0;
}

int attempt_flag(const FlagCase& flag_case) {
    const std::uint32_t flags = flag_case.flag | flag_case.with;
    if ((flags & setup_no_mmap) != 0) return attempt_in_own_memory(flags);
    io_uring_params params{};
    params.flags = flags;
    if (flag_case.flag == setup_cqsize) params.cq_entries = 4 * entries;
    if (flag_case.flag != setup_attach_wq) return attempt(params).sys_errno;
    const Attempt first = attempt({});
    if (first.sys_errno != 0) return first.sys_errno;
    params.wq_fd = static_cast<__u32>(first.fd.get());
    return attempt(params).sys_errno;
}

} // namespace

bool probe_plain_setup(FeatureReport& report) {
    const Attempt plain = attempt({});
    report.sys_errno = plain.sys_errno;
    report.io_uring = plain.sys_errno == 0 ? Support::yes : Support::no;
    report.features_mask = plain.params.features;
    if (plain.sys_errno == 0) return true;
    report.features_mask = 0;
    report.reason = explain_setup_refusal(plain.sys_errno, read_surroundings()).context;
    return false;
}

void probe_setup_flags(FeatureReport& report) {
    for (const FlagCase& flag_case : flag_cases) {
        const int failure = attempt_flag(flag_case);
        if (failure == 0) {
            report.features.push_back(supported(FeatureGroup::setup, flag_case.name));
            continue;
        }
        std::string reason = failure == EINVAL
                                 ? too_old(flag_case.since)
                                 : explain_setup_refusal(failure, read_surroundings()).context;
        report.features.push_back(
            refused(FeatureGroup::setup, flag_case.name, failure, std::move(reason)));
    }
}

void probe_mask(FeatureReport& report) {
    for (std::size_t bit = 0; bit < mask_names.size(); ++bit) {
        const bool set = (report.features_mask >> bit & 1U) != 0;
        report.features.push_back(
            set ? supported(FeatureGroup::mask, mask_names[bit])
                : refused(
                      FeatureGroup::mask, mask_names[bit], 0,
                      "not set by kernel " + running_kernel()));
    }
}

void probe_opcodes(FeatureReport& report) {
    constexpr unsigned register_probe = 8;
    constexpr std::size_t ops_max = 256;
    std::array<std::uint64_t, (sizeof(io_uring_probe) + ops_max * sizeof(io_uring_probe_op)) / 8>
        memory{};
    auto* probe = reinterpret_cast<io_uring_probe*>(memory.data());
    const Attempt ring = attempt({});
    const int rc = ring.sys_errno != 0
                       ? -ring.sys_errno
                       : ::io_uring_register(
                             static_cast<unsigned>(ring.fd.get()), register_probe, probe, ops_max);
    if (rc == 0) report.last_opcode = probe->last_op;
    for (std::size_t code = 0; code < opcode_names.size(); ++code) {
        Feature feature{
            .group = FeatureGroup::opcode, .name = std::string("IORING_OP_") + opcode_names[code]};
        if (rc != 0) {
            feature.sys_errno = -rc;
            feature.reason = "IORING_REGISTER_PROBE was refused (" + errno_name(-rc) + ")";
        } else {
            const bool known =
                code <= probe->last_op && (probe->ops[code].flags & IO_URING_OP_SUPPORTED) != 0;
            feature.support = known ? Support::yes : Support::no;
            if (!known) feature.reason = "not known to kernel " + running_kernel();
        }
        report.features.push_back(std::move(feature));
    }
}

} // namespace promtact::uring
