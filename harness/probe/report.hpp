// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What `promtact probe` found: facts, each answered yes, no or unknown with its evidence and,
// unless yes, what a person can do about it. A fact that could not be seen is unknown, never a
// guess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace promtact::harness::probe {

enum class Answer : std::uint8_t { yes, no, unknown };
std::string_view to_string(Answer answer) noexcept;

struct Fact {
    std::string section{}; // "io_uring"; facts of a section follow each other
    std::string name{};    // unique within the section: "IORING_SETUP_DEFER_TASKRUN"
    std::string group{};   // facts of one group follow each other and share rows in the table
    Answer answer = Answer::unknown;
    std::string value{};  // what was seen: "6.18.44", "512 bytes"
    std::string reason{}; // why not yes, with the errno where there was one
    std::string remedy{}; // what to do about it; empty when nothing needs doing
    friend bool operator==(const Fact&, const Fact&) = default;
};

struct Report {
    std::string toolchain{};   // compiler that built this binary
    std::uint64_t entries = 0; // asked of io_uring_setup(2)
    std::string setup_error{}; // empty: the ring was made
    std::vector<Fact> facts{};

    [[nodiscard]] std::size_t count(Answer answer) const noexcept;
    /// nullptr when there is no such fact.
    [[nodiscard]] const Fact* find(std::string_view section, std::string_view name) const noexcept;
};

/// Adds facts to one section.
class Section {
  public:
    Section(Report& report, std::string_view name) : report_(report), name_(name) {}
    void yes(std::string_view name, std::string_view value = {});
    void no(std::string_view name, std::string_view reason, std::string_view remedy = {});
    void unknown(std::string_view name, std::string_view reason, std::string_view remedy = {});
    /// Requires: no fact of this name in the section
    void add(Fact fact);

  private:
    Report& report_;
    std::string name_;
};

/// A table for people. Columns: answer, name, value or reason; the remedy on a line of its own.
/// A group takes one row for its number of yes, and a row for each no or unknown.
std::string as_text(const Report& report, bool coloured);
/// One JSON document, schema promtact.probe/1.
std::string as_json(const Report& report);

} // namespace promtact::harness::probe
