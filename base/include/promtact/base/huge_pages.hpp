// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <cstddef>
#include <span>

namespace promtact {

/// What large memory is best aligned to.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Asks for large pages behind memory that was not touched yet: a wish, never an error. They matter
/// for direct I/O (a request has few segments) and in virtual machines, where the first touch of
/// each page is slow. Source: madvise(2), MADV_HUGEPAGE
void prefer_huge_pages(std::span<std::byte> memory) noexcept;

} // namespace promtact
