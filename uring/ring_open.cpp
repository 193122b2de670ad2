// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// How a ring comes to be: the best mode the kernel takes, and what is registered with it.
#include <cerrno>
#include <string>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/uring/refusal.hpp>
#include <promtact/uring/ring.hpp>

#include "kernel_constants_internal.hpp"
#include "kernel_ring_internal.hpp"

namespace promtact::uring {
namespace {

constexpr std::uint32_t entries_max = 32768; // IORING_MAX_ENTRIES

std::uint32_t flags_of(RingMode mode) noexcept {
    switch (mode) {
    case RingMode::deferred:
        return setup_single_issuer | setup_defer_taskrun | setup_taskrun_flag;
    case RingMode::cooperative:
        return setup_coop_taskrun | setup_taskrun_flag;
    case RingMode::plain:
        return 0;
    }
    PROMTACT_UNREACHABLE();
}

} // namespace

std::string_view to_string(RingMode mode) noexcept {
    switch (mode) {
    case RingMode::deferred:
        return "deferred";
    case RingMode::cooperative:
        return "cooperative";
    case RingMode::plain:
        return "plain";
    }
    PROMTACT_UNREACHABLE();
}

Result<Ring> Ring::open(const RingOptions& options) {
    if (options.entries == 0 || options.entries > entries_max) {
        return Error{
            Errc::invalid_argument, 0,
            "ring entries must be 1.." + std::to_string(entries_max) + ", not " +
                std::to_string(options.entries)};
    }
    RingSetup setup;
    KernelRing opened;
    for (const RingMode mode : {RingMode::deferred, RingMode::cooperative, RingMode::plain}) {
        if (options.only && *options.only != mode) continue;
        setup.mode = mode;
        setup.flags = flags_of(mode);
        opened = open_kernel_ring(options.entries, setup.flags);
        if (opened.backend) break;
        setup.refused.push_back({.mode = mode, .sys_errno = opened.sys_errno});
        // Only an unknown flag is a reason to ask for less; anything else would be refused again.
        if (opened.sys_errno != EINVAL) break;
    }
    if (!opened.backend) return explain_setup_refusal(opened.sys_errno, read_surroundings());
    setup.features = opened.features;
    constexpr std::uint32_t needed = feat_nodrop | feat_ext_arg;
    if ((setup.features & needed) != needed) {
        return Error{
            Errc::unsupported, 0,
            "this kernel's io_uring lacks IORING_FEAT_NODROP or IORING_FEAT_EXT_ARG (Linux 5.11)"};
    }
    if (options.register_ring) {
        const int rc = opened.backend->register_ring();
        setup.ring_registered = rc >= 0;
        setup.ring_register_errno = rc < 0 ? -rc : 0;
    }
    return Ring{std::move(opened.backend), options, std::move(setup)};
}

Ring Ring::over(std::unique_ptr<RingBackend> backend, const RingOptions& options) {
    PROMTACT_ASSERT(backend != nullptr);
    return Ring{std::move(backend), options, RingSetup{}};
}

Result<void> Ring::register_buffers(std::span<const std::span<std::byte>> buffers) {
    std::uint64_t bytes = 0;
    for (const std::span<std::byte> buffer : buffers)
        bytes += buffer.size();
    const int rc = backend_->register_buffers(buffers);
    if (rc < 0) return explain_buffer_refusal(-rc, bytes, read_surroundings());
    return {};
}

Result<void> Ring::register_files(std::span<const int> files) {
    const int rc = backend_->register_files(files);
    if (rc < 0)
        return Error::from_errno(-rc, "register " + std::to_string(files.size()) + " files");
    return {};
}

Result<void> Ring::update_file(std::uint32_t index, int fd) {
    const int rc = backend_->update_file(index, fd);
    if (rc < 0) return Error::from_errno(-rc, "register a file at index " + std::to_string(index));
    return {};
}

Result<void> Ring::register_eventfd(int fd) {
    const int rc = backend_->register_eventfd(fd);
    if (rc < 0) return Error::from_errno(-rc, "register eventfd " + std::to_string(fd));
    return {};
}

} // namespace promtact::uring
