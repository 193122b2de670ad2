// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <memory>

#include <sys/mman.h>

#include <promtact/base/huge_pages.hpp>

namespace promtact {

void prefer_huge_pages(std::span<std::byte> memory) noexcept {
    void* at = memory.data();
    std::size_t room = memory.size();
    if (std::align(huge_page_bytes, huge_page_bytes, at, room) == nullptr) return;
    static_cast<void>(::madvise(at, room / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE));
}

} // namespace promtact
