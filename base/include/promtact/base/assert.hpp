// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Assertions stay on in every build: a broken invariant of ours ends the process, saying where in
// the run it happened. Errors of the world are Result, never assertions.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace promtact {

/// Prints where a run is (seed, step, trace) when an assertion fires. Install one with
/// ScopedRunCoordinate.
class RunCoordinate {
  public:
    /// Writes one line, without a newline, into buffer of the given size.
    virtual void describe(char* buffer, std::size_t size) const noexcept = 0;

  protected:
    ~RunCoordinate() = default;
};

namespace detail {
inline thread_local const RunCoordinate* run_coordinate = nullptr;

[[noreturn]] inline void assertion_failed(
    const char* expression, const char* file, int line, const char* function) noexcept {
    std::fprintf(
        stderr, "assertion failed: %s\n  at %s:%d in %s\n", expression, file, line, function);
    if (run_coordinate != nullptr) {
        char where[512] = {};
        run_coordinate->describe(where, sizeof where);
        std::fprintf(stderr, "  run: %s\n", where);
    }
    std::fflush(stderr);
    std::abort();
}
} // namespace detail

/// Makes `coordinate` the one printed by assertions of this thread until the scope ends. Scopes
/// nest. Lifetime: coordinate must outlive the scope.
class ScopedRunCoordinate {
  public:
    explicit ScopedRunCoordinate(const RunCoordinate& coordinate) noexcept
        : previous_(detail::run_coordinate) {
        detail::run_coordinate = &coordinate;
    }
    ScopedRunCoordinate(const ScopedRunCoordinate&) = delete;
    ScopedRunCoordinate& operator=(const ScopedRunCoordinate&) = delete;
    ~ScopedRunCoordinate() { detail::run_coordinate = previous_; }

  private:
    const RunCoordinate* previous_;
};

} // namespace promtact

#define PROMTACT_ASSERT(condition)                                                                 \
    (static_cast<bool>(condition)                                                                  \
         ? static_cast<void>(0)                                                                    \
         : ::promtact::detail::assertion_failed(#condition, __FILE__, __LINE__, __func__))

#define PROMTACT_UNREACHABLE()                                                                     \
    ::promtact::detail::assertion_failed("unreachable", __FILE__, __LINE__, __func__)

/// For checks too costly for release builds; on when PROMTACT_DEBUG_ASSERTS is defined (fuzz,
/// sanitizers).
#ifdef PROMTACT_DEBUG_ASSERTS
#define PROMTACT_DEBUG_ASSERT(condition) PROMTACT_ASSERT(condition)
#else
#define PROMTACT_DEBUG_ASSERT(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif
