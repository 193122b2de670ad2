// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Live progress for people. Goes to stderr, so results on stdout stay clean.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <promtact/base/clock.hpp>

namespace promtact {

/// One line that is redrawn in place on a terminal; elsewhere a plain line whenever the activity
/// changes, and at least every thirty seconds while counts advance. Not thread-safe: one owner.
class Progress {
  public:
    struct Options {
        std::FILE* stream = stderr;
        bool redraw = false;                     // overwrite the line; see for_stderr()
        std::chrono::milliseconds interval{100}; // between two redraws
        std::chrono::milliseconds plain_interval{30'000};
        std::size_t columns = 80;
    };

    /// total: how many units of work there are; 0 when unknown.
    /// Lifetime: clock must outlive the progress.
    Progress(std::string_view title, std::uint64_t total, const Clock& clock, Options options);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    /// Wipes the redrawn line.
    ~Progress();

    /// Redraws when stderr is a terminal; takes the terminal's width.
    static Options for_stderr();

    /// done units are finished and `activity` is what happens now.
    void update(std::uint64_t done, std::string_view activity);
    /// Makes room for a line printed on another stream: wipes the redrawn line; the next update
    /// draws it again.
    void clear();

  private:
    [[nodiscard]] std::string line(std::size_t columns) const;
    void draw();

    std::string title_;
    std::uint64_t total_;
    const Clock& clock_;
    Options options_;
    std::uint64_t done_ = 0;
    std::string activity_{};
    std::chrono::nanoseconds drawn_at_{};
    bool drawn_once_ = false;
    bool visible_ = false;
};

} // namespace promtact
