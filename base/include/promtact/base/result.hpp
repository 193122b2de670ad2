// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Result<T>: a value or an Error that cannot be dropped silently. The class is [[nodiscard]], so a
// call whose result is ignored does not compile with warnings as errors.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <promtact/base/assert.hpp>
#include <promtact/base/errc.hpp>

namespace promtact {

/// Why an operation failed: the code a caller acts on, the kernel's errno (0 when none), and what
/// was attempted on what, in lower case without final punctuation.
struct Error {
    Errc code = Errc::system;
    int sys_errno = 0;
    std::string context{};

    /// An Error for a failed system call.
    static Error from_errno(int sys_errno, std::string context) {
        return Error{errc_from_errno(sys_errno), sys_errno, std::move(context)};
    }

    friend bool operator==(const Error&, const Error&) = default;
};

/// A T or an Error. Move-only when T is. Requires: T is neither Error nor a reference.
template <class T>
class [[nodiscard]] Result {
    static_assert(!std::is_same_v<std::remove_cv_t<T>, Error>);
    static_assert(!std::is_reference_v<T>);

  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// Requires: has_value()
    T& value() & {
        PROMTACT_ASSERT(has_value());
        return *std::get_if<0>(&state_);
    }
    const T& value() const& {
        PROMTACT_ASSERT(has_value());
        return *std::get_if<0>(&state_);
    }
    T&& value() && {
        PROMTACT_ASSERT(has_value());
        return std::move(*std::get_if<0>(&state_));
    }
    T value_or(T fallback) && {
        return has_value() ? std::move(*this).value() : std::move(fallback);
    }

    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    /// Requires: !has_value()
    const Error& error() const& {
        PROMTACT_ASSERT(!has_value());
        return *std::get_if<1>(&state_);
    }
    Error&& error() && {
        PROMTACT_ASSERT(!has_value());
        return std::move(*std::get_if<1>(&state_));
    }

  private:
    std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return !error_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    /// Requires: !has_value()
    const Error& error() const& {
        PROMTACT_ASSERT(error_.has_value());
        return *error_;
    }
    Error&& error() && {
        PROMTACT_ASSERT(error_.has_value());
        return std::move(*error_);
    }

  private:
    std::optional<Error> error_;
};

} // namespace promtact

#define PROMTACT_CONCAT_INNER(a, b) a##b
#define PROMTACT_CONCAT(a, b) PROMTACT_CONCAT_INNER(a, b)

/// Evaluates an expression that yields a Result; on error returns that error from the enclosing
/// function.
#define PROMTACT_TRY(expression)                                                                   \
    do {                                                                                           \
        auto promtact_try_result = (expression);                                                   \
        if (!promtact_try_result) return std::move(promtact_try_result).error();                   \
    } while (false)

/// PROMTACT_TRY_ASSIGN(const auto file, open_direct(path));
#define PROMTACT_TRY_ASSIGN(declaration, expression)                                               \
    auto PROMTACT_CONCAT(promtact_try_, __LINE__) = (expression);                                  \
    if (!PROMTACT_CONCAT(promtact_try_, __LINE__))                                                 \
        return std::move(PROMTACT_CONCAT(promtact_try_, __LINE__)).error();                        \
    declaration = std::move(PROMTACT_CONCAT(promtact_try_, __LINE__)).value()
