// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What must hold after every step, and what is reported when it does not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <promtact/base/fault.hpp>
#include <promtact/base/trace_hash.hpp>

namespace promtact::engine {

/// How a property is broken.
struct Broken {
    std::string text{}; // for people
    /// What must stay the same while the run is made smaller, such as "term 3": two failures with
    /// equal property and key are the same failure.
    std::string key{};
};

/// A safety property of the whole cluster. It may keep history.
class Invariant {
  public:
    Invariant() = default;
    Invariant(const Invariant&) = delete;
    Invariant& operator=(const Invariant&) = delete;
    virtual ~Invariant() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Nothing while it holds.
    virtual std::optional<Broken> check() = 0;
};

/// An invariant from a function.
class InvariantFunction final : public Invariant {
  public:
    InvariantFunction(std::string name, std::function<std::optional<Broken>()> function)
        : name_(std::move(name)), function_(std::move(function)) {}
    [[nodiscard]] std::string_view name() const override { return name_; }
    std::optional<Broken> check() override { return function_(); }

  private:
    std::string name_;
    std::function<std::optional<Broken>()> function_;
};

/// Where in a run something was noticed: enough to come there again.
struct RunPlace {
    std::uint64_t seed = 0;
    Step step{};
    std::uint64_t event = 0; // the last one before
    Digest128 trace{};
};

/// A property that was broken, and where.
struct Violation {
    std::string property{};
    Broken broken{};
    RunPlace place{};
};

} // namespace promtact::engine
