// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Replaces the global operator new and delete, so that what a run allocates lies in the arena of
// the thread (arena.hpp). Include it in exactly one source file of a program; without an arena it
// is the heap as ever.
#pragma once

#include <cstdlib>
#include <new>

#include <promtact/engine/arena.hpp>

namespace promtact::engine::detail {

/// Memory of the present arena, else of the heap; nullptr when it is full.
inline void* arena_try_new(std::size_t bytes, std::size_t alignment) noexcept {
    if (Arena* const arena = Arena::current()) return arena->allocate(bytes, alignment);
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
        return std::malloc(bytes > 0 ? bytes : 1); // NOLINT(cppcoreguidelines-no-malloc)
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
/// The same. Throws: std::bad_alloc instead
inline void* arena_new(std::size_t bytes, std::size_t alignment) {
    void* const piece = arena_try_new(bytes, alignment);
    if (piece == nullptr) throw std::bad_alloc();
    return piece;
}
/// Gives memory of arena_new() back to where it is from.
inline void arena_delete(void* piece) noexcept {
    if (piece == nullptr) return;
    if (Arena* const arena = Arena::owner(piece)) return arena->deallocate(piece);
    std::free(piece); // NOLINT(cppcoreguidelines-no-malloc)
}

} // namespace promtact::engine::detail

// Every form, though the standard library's others call the first: the sanitizers' do not.
void* operator new(std::size_t bytes) {
    return promtact::engine::detail::arena_new(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new[](std::size_t bytes) {
    return promtact::engine::detail::arena_new(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return promtact::engine::detail::arena_new(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return promtact::engine::detail::arena_new(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return promtact::engine::detail::arena_try_new(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return promtact::engine::detail::arena_try_new(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return promtact::engine::detail::arena_try_new(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](
    std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return promtact::engine::detail::arena_try_new(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* piece) noexcept {
    promtact::engine::detail::arena_delete(piece);
}
void operator delete[](void* piece) noexcept {
    promtact::engine::detail::arena_delete(piece);
}
void operator delete(void* piece, std::size_t) noexcept {
    promtact::engine::detail::arena_delete(piece);
}
void operator delete[](void* piece, std::size_t) noexcept {
    promtact::engine::detail::arena_delete(piece);
}
void operator delete(void* piece, std::align_val_t) noexcept {
    promtact::engine::detail::arena_delete(piece);
}
void operator delete[](void* piece, std::align_val_t) noexcept {
    promtact::engine::detail::arena_delete(piece);
}
void operator delete(void* piece, std::size_t, std::align_val_t) noexcept {
    promtact::engine::detail::arena_delete(piece);
}
void operator delete[](void* piece, std::size_t, std::align_val_t) noexcept {
    promtact::engine::detail::arena_delete(piece);
}
