// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "allocation_peak.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace {

std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> highest{0};

void* take(std::size_t bytes, std::size_t alignment) {
    void* at = alignment == 0
                   ? std::malloc(bytes)
                   : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (at == nullptr) std::abort(); // an allocation nobody bounded
    const std::size_t now = in_use += ::malloc_usable_size(at);
    std::size_t seen = highest;
    while (now > seen && !highest.compare_exchange_weak(seen, now)) {
    }
    return at;
}

void give(void* at) noexcept {
    if (at != nullptr) in_use -= ::malloc_usable_size(at);
    std::free(at);
}

} // namespace

void* operator new(std::size_t bytes) {
    return take(bytes, 0);
}
void* operator new[](std::size_t bytes) {
    return take(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return take(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return take(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return take(bytes, 0);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return take(bytes, 0);
}
void operator delete(void* at, const std::nothrow_t&) noexcept {
    give(at);
}
void operator delete[](void* at, const std::nothrow_t&) noexcept {
    give(at);
}
void operator delete(void* at) noexcept {
    give(at);
}
void operator delete[](void* at) noexcept {
    give(at);
}
void operator delete(void* at, std::size_t) noexcept {
    give(at);
}
void operator delete[](void* at, std::size_t) noexcept {
    give(at);
}
void operator delete(void* at, std::align_val_t) noexcept {
    give(at);
}
void operator delete[](void* at, std::align_val_t) noexcept {
    give(at);
}
void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
    give(at);
}
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept {
    give(at);
}

namespace promtact::wal::testing {

AllocationPeak::AllocationPeak() noexcept : before_(in_use) {
    highest = before_;
}

std::size_t AllocationPeak::bytes() const noexcept {
    return highest - std::min<std::size_t>(before_, highest);
}

} // namespace promtact::wal::testing
