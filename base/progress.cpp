// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <sys/ioctl.h>
#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/env.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/base/progress.hpp>
#include <promtact/base/terminal.hpp>

namespace promtact {
namespace {

constexpr std::size_t columns_default = 80;
constexpr std::size_t columns_min = 20;
constexpr std::size_t columns_max = 200;
constexpr std::size_t bar_cells = 20;

std::size_t stderr_columns() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return std::clamp<std::size_t>(size.ws_col, columns_min, columns_max);
    const Result<std::uint64_t> columns = parse_u64(environment_value("COLUMNS").value_or("0"));
    if (!columns || *columns == 0) return columns_default;
    return std::clamp<std::size_t>(*columns, columns_min, columns_max);
}

std::string bar(std::uint64_t done, std::uint64_t total) {
    PROMTACT_ASSERT(total > 0);
    const std::uint64_t whole = std::min(done, total);
    // Divides first when the product could overflow; a bar of twenty cells does not mind.
    const std::uint64_t filled =
        total > (std::uint64_t{1} << 48) ? whole / (total / bar_cells) : whole * bar_cells / total;
    const std::size_t cells = std::min<std::size_t>(static_cast<std::size_t>(filled), bar_cells);
    return "[" + std::string(cells, '#') + std::string(bar_cells - cells, '.') + "] ";
}

/// Cuts between characters, never inside a UTF-8 sequence.
void cut_to(std::string& text, std::size_t columns) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
        if (!continues && seen++ == columns) {
            text.resize(i);
            return;
        }
    }
}

} // namespace

Progress::Options Progress::for_stderr() {
    Options options;
    options.redraw = is_terminal(stderr);
    if (options.redraw) options.columns = stderr_columns();
    return options;
}

Progress::Progress(std::string_view title, std::uint64_t total, const Clock& clock, Options options)
    : title_(title), total_(total), clock_(clock), options_(options) {
    PROMTACT_ASSERT(options_.stream != nullptr);
    PROMTACT_ASSERT(options_.columns >= columns_min);
}

Progress::~Progress() {
    clear();
}

std::string Progress::line(std::size_t columns) const {
    std::string text = title_ + " ";
    if (total_ > 0) {
        if (options_.redraw) text += bar(done_, total_);
        text += std::to_string(done_) + "/" + std::to_string(total_);
    } else {
        text += std::to_string(done_);
    }
    if (!activity_.empty()) text += " " + activity_;
    // Activities may carry names from outside; a control character must not move the cursor.
    std::replace_if(
        text.begin(), text.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    if (options_.redraw) cut_to(text, columns - 1);
    return text;
}

void Progress::draw() {
    const std::string text = line(options_.columns);
    if (options_.redraw) {
        std::fprintf(options_.stream, "\r%s\x1b[K", text.c_str());
    } else {
        std::fprintf(options_.stream, "%s\n", text.c_str());
    }
    std::fflush(options_.stream);
    drawn_at_ = clock_.now();
    drawn_once_ = true;
    visible_ = options_.redraw;
}

void Progress::update(std::uint64_t done, std::string_view activity) {
    const bool changed = activity != activity_;
    const bool advanced = done != done_;
    done_ = done;
    activity_ = activity;
    const std::chrono::nanoseconds wait = options_.redraw
                                              ? std::chrono::nanoseconds{options_.interval}
                                              : std::chrono::nanoseconds{options_.plain_interval};
    const bool due = clock_.now() - drawn_at_ >= wait;
    const bool redraw_now = options_.redraw && (due || !visible_ || changed);
    const bool plain_now = !options_.redraw && (changed || (advanced && due));
    if (!drawn_once_ || redraw_now || plain_now) draw();
}

void Progress::clear() {
    if (!visible_) return;
    std::fputs("\r\x1b[K", options_.stream);
    std::fflush(options_.stream);
    visible_ = false;
}

} // namespace promtact
