// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// IORING_* by number, since the headers of Debian 12 (liburing 2.3) end with Linux 6.0. The ones
// they have are checked against these in kernel_ring.cpp. Source: linux/io_uring.h
#pragma once

#include <cstdint>

namespace promtact::uring {

inline constexpr std::uint32_t setup_iopoll = 1U << 0;
inline constexpr std::uint32_t setup_sqpoll = 1U << 1;
inline constexpr std::uint32_t setup_sq_aff = 1U << 2;
inline constexpr std::uint32_t setup_cqsize = 1U << 3;
inline constexpr std::uint32_t setup_clamp = 1U << 4;
inline constexpr std::uint32_t setup_attach_wq = 1U << 5;
inline constexpr std::uint32_t setup_r_disabled = 1U << 6;
inline constexpr std::uint32_t setup_submit_all = 1U << 7;
inline constexpr std::uint32_t setup_coop_taskrun = 1U << 8;
inline constexpr std::uint32_t setup_taskrun_flag = 1U << 9;
inline constexpr std::uint32_t setup_sqe128 = 1U << 10;
inline constexpr std::uint32_t setup_cqe32 = 1U << 11;
inline constexpr std::uint32_t setup_single_issuer = 1U << 12;
inline constexpr std::uint32_t setup_defer_taskrun = 1U << 13;
inline constexpr std::uint32_t setup_no_mmap = 1U << 14;
inline constexpr std::uint32_t setup_registered_fd_only = 1U << 15;
inline constexpr std::uint32_t setup_no_sqarray = 1U << 16;
inline constexpr std::uint32_t setup_hybrid_iopoll = 1U << 17;
inline constexpr std::uint32_t setup_cqe_mixed = 1U << 18;
inline constexpr std::uint32_t setup_sqe_mixed = 1U << 19;
inline constexpr std::uint32_t setup_sq_rewind = 1U << 20;

inline constexpr std::uint32_t feat_nodrop = 1U << 1;
inline constexpr std::uint32_t feat_ext_arg = 1U << 8;

} // namespace promtact::uring
