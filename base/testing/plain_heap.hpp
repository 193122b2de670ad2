// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Whether the program's heap is the library's own: the sanitizers keep notes about every piece of
// theirs, which tests that copy or reuse memory behind their back would belie.
#pragma once

namespace promtact {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool plain_heap = false;
#elif defined(__has_feature)
inline constexpr bool plain_heap =
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
inline constexpr bool plain_heap = true;
#endif

} // namespace promtact
