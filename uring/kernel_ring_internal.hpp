// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The ring of the kernel, as Ring::open and the feature probe make it.
#pragma once

#include <cstdint>
#include <memory>

#include <promtact/uring/backend.hpp>

struct io_uring_sqe;

namespace promtact::uring {

/// The one builder of submission entries: starts from 64 zero bytes.
void encode_sqe(const Operation& operation, std::uint64_t user_data, io_uring_sqe& out) noexcept;

struct KernelRing {
    std::unique_ptr<RingBackend> backend{}; // null when refused
    int sys_errno = 0;
    std::uint32_t features = 0;
};

/// Sets up one ring with exactly these IORING_SETUP_* flags.
KernelRing open_kernel_ring(std::uint32_t entries, std::uint32_t flags);

} // namespace promtact::uring
