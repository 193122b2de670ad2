// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

#include <liburing.h>

#include <promtact/base/assert.hpp>

#include "kernel_constants_internal.hpp"
#include "kernel_ring_internal.hpp"

namespace promtact::uring {
namespace {

static_assert(setup_iopoll == IORING_SETUP_IOPOLL);
static_assert(setup_sqpoll == IORING_SETUP_SQPOLL);
static_assert(setup_attach_wq == IORING_SETUP_ATTACH_WQ);
static_assert(setup_submit_all == IORING_SETUP_SUBMIT_ALL);
static_assert(setup_coop_taskrun == IORING_SETUP_COOP_TASKRUN);
static_assert(setup_taskrun_flag == IORING_SETUP_TASKRUN_FLAG);
static_assert(setup_cqe32 == IORING_SETUP_CQE32);
static_assert(setup_single_issuer == IORING_SETUP_SINGLE_ISSUER);
static_assert(setup_defer_taskrun == IORING_SETUP_DEFER_TASKRUN);
static_assert(feat_nodrop == IORING_FEAT_NODROP);
static_assert(feat_ext_arg == IORING_FEAT_EXT_ARG);
static_assert(sizeof(io_uring_sqe) == 64);

std::uint8_t opcode(OpKind kind) noexcept {
    switch (kind) {
    case OpKind::nop:
        return IORING_OP_NOP;
    case OpKind::read:
        return IORING_OP_READ;
    case OpKind::write:
        return IORING_OP_WRITE;
    case OpKind::read_fixed:
        return IORING_OP_READ_FIXED;
    case OpKind::write_fixed:
        return IORING_OP_WRITE_FIXED;
    case OpKind::sync_data:
    case OpKind::sync_all:
        return IORING_OP_FSYNC;
    }
    PROMTACT_UNREACHABLE();
}

std::uint32_t acquire(unsigned* shared) noexcept {
    return std::atomic_ref<unsigned>(*shared).load(std::memory_order_acquire);
}

void release(unsigned* shared, std::uint32_t value) noexcept {
    std::atomic_ref<unsigned>(*shared).store(value, std::memory_order_release);
}

class LibRing final : public RingBackend {
  public:
    LibRing() = default;
    ~LibRing() override {
        if (open_) ::io_uring_queue_exit(&ring_);
    }

    int open(std::uint32_t entries, std::uint32_t flags) noexcept {
        io_uring_params params{};
        params.flags = flags;
        const int rc = ::io_uring_queue_init_params(entries, &ring_, &params);
        open_ = rc == 0;
        return rc;
    }
    [[nodiscard]] std::uint32_t features() const noexcept { return ring_.features; }

    [[nodiscard]] std::uint32_t submission_capacity() const noexcept override {
        return ring_.sq.ring_entries;
    }
    [[nodiscard]] std::uint32_t completion_capacity() const noexcept override {
        return ring_.cq.ring_entries;
    }

    bool stage(const Operation& operation, std::uint64_t user_data) noexcept override {
        io_uring_sqe* sqe = ::io_uring_get_sqe(&ring_);
        if (sqe == nullptr) return false;
        encode_sqe(operation, user_data, *sqe);
        return true;
    }

    int enter(
        std::uint32_t wait_for, std::optional<std::chrono::nanoseconds> timeout) noexcept override;

    // Without SQPOLL the kernel reads the tail only inside enter(), so it may be moved back.
    void withdraw() noexcept override {
        const std::uint32_t head = acquire(ring_.sq.khead);
        ring_.sq.sqe_head = head;
        ring_.sq.sqe_tail = head;
        release(ring_.sq.ktail, head);
    }

    std::uint32_t reap(std::span<Completion> out) noexcept override;

    [[nodiscard]] bool wants_enter() const noexcept override {
        return (acquire(ring_.sq.kflags) & (IORING_SQ_CQ_OVERFLOW | IORING_SQ_TASKRUN)) != 0;
    }
    [[nodiscard]] std::uint32_t dropped() const noexcept override {
        return acquire(ring_.sq.kdropped);
    }
    [[nodiscard]] std::uint32_t overflowed() const noexcept override {
        return acquire(ring_.cq.koverflow);
    }

    int register_buffers(std::span<const std::span<std::byte>> buffers) noexcept override;
    int register_files(std::span<const int> files) noexcept override {
        return ::io_uring_register_files(&ring_, files.data(), static_cast<unsigned>(files.size()));
    }
    int update_file(std::uint32_t index, int fd) noexcept override {
        const int rc = ::io_uring_register_files_update(&ring_, index, &fd, 1);
        return rc < 0 ? rc : 0;
    }
    int register_eventfd(int fd) noexcept override {
        return ::io_uring_register_eventfd(&ring_, fd);
    }
    int register_ring() noexcept override {
        const int rc = ::io_uring_register_ring_fd(&ring_);
        if (rc < 0) return rc;
        ring_registered_ = true;
        return 0;
    }
    int data_sync(int fd) noexcept override { return ::fdatasync(fd) == 0 ? 0 : -errno; }

  private:
    std::uint32_t publish() noexcept {
        if (ring_.sq.sqe_head != ring_.sq.sqe_tail) {
            ring_.sq.sqe_head = ring_.sq.sqe_tail;
            release(ring_.sq.ktail, ring_.sq.sqe_tail);
        }
        return ring_.sq.sqe_tail - acquire(ring_.sq.khead);
    }

    io_uring ring_{};
    bool open_ = false;
    bool ring_registered_ = false;
    std::thread::id owner_ = std::this_thread::get_id();
};

int LibRing::enter(
    std::uint32_t wait_for, std::optional<std::chrono::nanoseconds> timeout) noexcept {
    const std::uint32_t to_submit = publish();
    unsigned flags = 0;
    // Without anything to submit the call is made for its side effect: run deferred work.
    if (wait_for > 0 || to_submit == 0) flags |= IORING_ENTER_GETEVENTS;
    int fd = ring_.ring_fd;
    // A registered ring belongs to the thread's own table; another thread must use the descriptor,
    // and gets EEXIST if the ring has a single issuer.
    if (ring_registered_ && owner_ == std::this_thread::get_id()) {
        fd = ring_.enter_ring_fd;
        flags |= IORING_ENTER_REGISTERED_RING;
    }
    if (wait_for == 0 || !timeout) {
        return ::io_uring_enter2(
            static_cast<unsigned>(fd), to_submit, wait_for, flags, nullptr, _NSIG / 8);
    }
    const auto ns = timeout->count() < 0 ? 0 : timeout->count();
    __kernel_timespec limit{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    io_uring_getevents_arg arg{};
    arg.sigmask_sz = _NSIG / 8;
    arg.ts = reinterpret_cast<std::uintptr_t>(&limit);
    return ::io_uring_enter2(
        static_cast<unsigned>(fd), to_submit, wait_for, flags | IORING_ENTER_EXT_ARG,
        reinterpret_cast<sigset_t*>(&arg), sizeof arg);
}

std::uint32_t LibRing::reap(std::span<Completion> out) noexcept {
    std::uint32_t head = *ring_.cq.khead; // only this side writes it
    const std::uint32_t ready = acquire(ring_.cq.ktail) - head;
    PROMTACT_ASSERT(ready <= ring_.cq.ring_entries);
    std::uint32_t taken = 0;
    for (; taken < ready && taken < out.size(); ++taken) {
        const io_uring_cqe& cqe = ring_.cq.cqes[head++ & ring_.cq.ring_mask];
        out[taken] = {.user_data = cqe.user_data, .result = cqe.res, .flags = cqe.flags};
    }
    if (taken > 0) release(ring_.cq.khead, head);
    return taken;
}

int LibRing::register_buffers(std::span<const std::span<std::byte>> buffers) noexcept {
    std::vector<iovec> list;
    list.reserve(buffers.size());
    for (const std::span<std::byte> buffer : buffers)
        list.push_back({.iov_base = buffer.data(), .iov_len = buffer.size()});
    return ::io_uring_register_buffers(&ring_, list.data(), static_cast<unsigned>(list.size()));
}

} // namespace

void encode_sqe(const Operation& operation, std::uint64_t user_data, io_uring_sqe& out) noexcept {
    std::memset(&out, 0, sizeof out);
    out.opcode = opcode(operation.kind);
    out.user_data = user_data;
    if (operation.registered_file) out.flags |= IOSQE_FIXED_FILE;
    if (operation.linked) out.flags |= IOSQE_IO_LINK;
    if (operation.kind == OpKind::nop) {
        out.fd = -1;
        return;
    }
    out.fd = operation.file;
    if (operation.kind == OpKind::sync_data) out.fsync_flags = IORING_FSYNC_DATASYNC;
    if (!is_transfer(operation.kind)) return;
    PROMTACT_ASSERT(operation.data.size() <= 0x7fffffff);
    out.off = operation.offset;
    out.addr = reinterpret_cast<std::uintptr_t>(operation.data.data());
    out.len = static_cast<std::uint32_t>(operation.data.size());
    out.rw_flags = static_cast<__kernel_rwf_t>(operation.rw_flags);
    if (operation.kind == OpKind::read_fixed || operation.kind == OpKind::write_fixed)
        out.buf_index = operation.buffer;
}

KernelRing open_kernel_ring(std::uint32_t entries, std::uint32_t flags) {
    auto ring = std::make_unique<LibRing>();
    const int rc = ring->open(entries, flags);
    if (rc != 0) return {.backend = nullptr, .sys_errno = -rc};
    const std::uint32_t features = ring->features();
    return {.backend = std::move(ring), .sys_errno = 0, .features = features};
}

} // namespace promtact::uring
