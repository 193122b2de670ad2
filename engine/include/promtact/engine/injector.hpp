// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Faults written by the user: asked after the draws, so that they move nobody's fate but of the
// messages they deny.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <promtact/base/fault.hpp>

namespace promtact::engine {

/// A message about to be scheduled.
struct Attempt {
    Step now{};
    NodeId from{};
    NodeId to{};
    std::uint64_t delay = 0; // steps it would travel
};

/// Denies messages by a rule of its own.
class Injector {
  public:
    Injector() = default;
    Injector(const Injector&) = delete;
    Injector& operator=(const Injector&) = delete;
    virtual ~Injector() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    /// False: the message is cut. A pure function of its argument.
    [[nodiscard]] virtual bool allow(const Attempt& attempt) const = 0;
};

/// An injector from a function.
class InjectorFunction final : public Injector {
  public:
    InjectorFunction(std::string name, std::function<bool(const Attempt&)> function)
        : name_(std::move(name)), function_(std::move(function)) {}
    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] bool allow(const Attempt& attempt) const override { return function_(attempt); }

  private:
    std::string name_;
    std::function<bool(const Attempt&)> function_;
};

} // namespace promtact::engine
