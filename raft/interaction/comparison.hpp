// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A file of stanzas run against what it describes: each output is compared text by text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>

#include "datadriven.hpp"

namespace promtact::raft::interaction {

/// What carries out the stanzas of one file, in order; it keeps the state between them.
/// Errors: invalid_argument for a stanza it cannot read; that counts as a different output.
using Runner = std::function<Result<std::string>(const Stanza&)>;

struct Difference {
    std::size_t line = 0; // of the command
    std::string command{};
    std::string expected{};
    std::string actual{};
    std::string reason{}; // when it is intended
};

struct Comparison {
    std::size_t stanzas = 0;
    std::size_t compared = 0; // where the file says something that can be compared
    std::size_t equal = 0;    // nothing differs
    std::vector<Difference> differences{};
    /// Of the differences, those that are intended, by the word of their reason.
    std::map<std::string, std::size_t> intended{};

    [[nodiscard]] std::size_t different() const noexcept { return stanzas - equal; }
    /// Differences without a reason.
    [[nodiscard]] std::size_t unexplained() const noexcept;
};

/// Runs every stanza, also those behind a difference.
Comparison compare(std::span<const Stanza> stanzas, const Runner& runner);

/// What a file is about, told by its commands.
enum class Subject : std::uint8_t {
    quorum,      // committed, vote
    confchange,  // simple, enter-joint, leave-joint
    interaction, // a cluster of nodes
};
Subject subject_of(std::span<const Stanza> stanzas);

/// The runner for a subject, fresh. Requires: subject is quorum or confchange
Runner make_runner(Subject subject);

} // namespace promtact::raft::interaction
