// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include <promtact/base/assert.hpp>
#include <promtact/gates/format.hpp>
#include <promtact/gates/svg_chart.hpp>

namespace promtact::gates {
namespace {

constexpr std::uint64_t width = 760;
constexpr std::uint64_t height = 300;
constexpr std::uint64_t left = 50;
constexpr std::uint64_t right = 740;
constexpr std::uint64_t top = 44;
constexpr std::uint64_t bottom = 254;
constexpr std::uint64_t bars = 60;
constexpr std::array<std::string_view, 8> colours{"#b0b0b0", "#c8a46a", "#7fb07f", "#9a86b8",
                                                  "#d08c8c", "#6aa5b8", "#8c8c5a", "#1f5fa8"};

// log2 in 1/4096, straight between powers of two: monotone, and the same everywhere.
std::uint64_t log_of(std::uint64_t value) {
    value = std::max<std::uint64_t>(value, 1);
    const auto exponent = static_cast<std::uint64_t>(std::bit_width(value)) - 1;
    const std::uint64_t part =
        exponent >= 12 ? (value >> (exponent - 12)) : value << (12 - exponent);
    return exponent * 4096 + (part - 4096);
}

// The horizontal axis.
class Axis {
  public:
    Axis(std::uint64_t min, std::uint64_t max) : low_(log_of(min)) {
        // At least a factor of two, so that one value still has a place.
        high_ = std::max(log_of(max), low_ + 4096);
    }
    [[nodiscard]] std::uint64_t x(std::uint64_t value) const {
        const std::uint64_t at = std::clamp(log_of(value), low_, high_);
        return left + (at - low_) * (right - left) / (high_ - low_);
    }
    [[nodiscard]] std::uint64_t bar(std::uint64_t value) const {
        return std::min((x(value) - left) * bars / (right - left), bars - 1);
    }

  private:
    std::uint64_t low_;
    std::uint64_t high_ = 0;
};

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '&') {
            out += "&amp;";
        } else if (c == '"') {
            out += "&quot;";
        } else {
            out += c;
        }
    }
    return out;
}

std::string attribute(std::string_view name, std::uint64_t value) {
    return " " + std::string(name) + "=\"" + std::to_string(value) + "\"";
}

std::string
text_at(std::uint64_t x, std::uint64_t y, std::string_view anchor, std::string_view text) {
    return "<text" + attribute("x", x) + attribute("y", y) + " text-anchor=\"" +
           std::string(anchor) + "\">" + escaped(text) + "</text>\n";
}

std::string line_between(
    std::uint64_t x1, std::uint64_t y1, std::uint64_t x2, std::uint64_t y2,
    std::string_view stroke) {
    return "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
           attribute("y2", y2) + " stroke=\"" + std::string(stroke) + "\"/>\n";
}

std::string head(std::string_view title) {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(width) +
           " " + std::to_string(height) +
           "\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\">\n" + "<title>" +
           escaped(title) + "</title>\n<rect width=\"100%\" height=\"100%\" " +
           "fill=\"#ffffff\"/>\n<text x=\"" + std::to_string(left) +
           "\" y=\"20\" font-size=\"14\">" + escaped(title) + "</text>\n";
}

// Labels at 1, 2 and 5 times each power of ten, thinned until they do not touch.
std::string
axis_labels(const Axis& axis, std::uint64_t min, std::uint64_t max, std::string_view unit) {
    std::string out = line_between(left, bottom, right, bottom, "#444444");
    std::uint64_t last = 0;
    for (std::uint64_t decade = 1; decade <= max && decade <= UINT64_MAX / 10; decade *= 10) {
        for (const std::uint64_t digit : {1U, 2U, 5U}) {
            const std::uint64_t value = decade * digit;
            if (value < min || value > max) continue;
            const std::uint64_t x = axis.x(value);
            if (last != 0 && x < last + 64) continue;
            last = x;
            out += line_between(x, bottom, x, bottom + 5, "#444444");
            out += text_at(x, bottom + 18, "middle", value_text(value, unit));
        }
    }
    return out;
}

std::string percentile_marks(const Histogram& histogram, const Axis& axis, std::string_view unit) {
    struct Mark {
        std::string_view name{};
        std::uint64_t value = 0;
    };
    const std::array<Mark, 3> marks{
        {{"p50", histogram.p50()}, {"p99", histogram.p99()}, {"p99.9", histogram.p999()}}};
    std::string out;
    std::uint64_t row = 0;
    for (const Mark& mark : marks) {
        const std::uint64_t x = axis.x(mark.value);
        const std::uint64_t y = top - 10 + row * 14;
        const bool flip = x > right - 130;
        out += line_between(x, y + 3, x, bottom, "#b03030");
        out += text_at(
            flip ? x - 4 : x + 4, y + 4, flip ? "end" : "start",
            std::string(mark.name) + " " + value_text(mark.value, unit));
        ++row;
    }
    return out;
}

// part / whole in millionths. Requires: part <= whole, whole > 0
std::uint64_t millionths(std::uint64_t part, std::uint64_t whole) {
    PROMTACT_ASSERT(part <= whole);
    if (part <= UINT64_MAX / 1'000'000) return part * 1'000'000 / whole;
    return std::min<std::uint64_t>(part / (whole / 1'000'000), 1'000'000);
}

std::string
curve_path(const Histogram& histogram, const Axis& axis, std::string_view colour, bool strong) {
    std::string points;
    std::uint64_t seen = 0;
    std::uint64_t last_x = 0;
    std::uint64_t last_y = 0;
    const auto point = [&](std::uint64_t x, std::uint64_t y) {
        if (x == last_x && y == last_y) return;
        points += (points.empty() ? "" : " ") + std::to_string(x) + "," + std::to_string(y);
        last_x = x;
        last_y = y;
    };
    point(axis.x(histogram.min()), bottom);
    for (const Histogram::Bucket& bucket : histogram.buckets()) {
        const std::uint64_t x = axis.x(std::min(bucket.high, histogram.max()));
        point(x, last_y);
        seen += bucket.count;
        const std::uint64_t share = millionths(seen, histogram.count());
        point(x, bottom - share * (bottom - top) / 1'000'000);
    }
    point(right, last_y);
    return "<polyline fill=\"none\" stroke=\"" + std::string(colour) + "\" stroke-width=\"" +
           (strong ? "2" : "1") + "\" points=\"" + points + "\"/>\n";
}

} // namespace

std::string
histogram_svg(const Histogram& histogram, std::string_view title, std::string_view unit) {
    PROMTACT_ASSERT(histogram.count() > 0);
    const Axis axis(histogram.min(), histogram.max());
    std::array<std::uint64_t, bars> counts{};
    for (const Histogram::Bucket& bucket : histogram.buckets())
        counts[axis.bar(bucket.low)] += bucket.count;
    const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
    std::string out = head(title);
    for (std::uint64_t i = 0; i < bars; ++i) {
        if (counts[i] == 0) continue;
        const std::uint64_t x = left + i * (right - left) / bars;
        const std::uint64_t next = left + (i + 1) * (right - left) / bars;
        // A rare value is still a value: every bar is at least one pixel high.
        const std::uint64_t tall =
            std::max<std::uint64_t>(1, millionths(counts[i], most) * (bottom - top) / 1'000'000);
        out += "<rect" + attribute("x", x) + attribute("y", bottom - tall) +
               attribute("width", next - x - 1) + attribute("height", tall) +
               " fill=\"#4a7fb5\"/>\n";
    }
    out += axis_labels(axis, histogram.min(), histogram.max(), unit);
    out += percentile_marks(histogram, axis, unit);
    out += text_at(
        left, height - 8, "start",
        grouped(histogram.count()) + " samples, " + value_text(histogram.min(), unit) + " to " +
            value_text(histogram.max(), unit) + ", logarithmic axis");
    return out + "</svg>\n";
}

std::string
cdf_svg(const std::vector<Curve>& curves, std::string_view title, std::string_view unit) {
    PROMTACT_ASSERT(!curves.empty());
    PROMTACT_ASSERT(curves.size() <= colours.size());
    std::uint64_t min = UINT64_MAX;
    std::uint64_t max = 0;
    for (const Curve& curve : curves) {
        PROMTACT_ASSERT(curve.histogram->count() > 0);
        min = std::min(min, curve.histogram->min());
        max = std::max(max, curve.histogram->max());
    }
    const Axis axis(min, max);
    std::string out = head(title) + axis_labels(axis, min, max, unit);
    for (const std::uint64_t percent : {0U, 25U, 50U, 75U, 100U}) {
        const std::uint64_t y = bottom - percent * (bottom - top) / 100;
        out += line_between(left, y, right, y, "#dddddd");
        out += text_at(left - 6, y + 4, "end", std::to_string(percent) + " %");
    }
    for (std::size_t i = 0; i < curves.size(); ++i) {
        // The newest takes the strong colour however many there are.
        const std::size_t colour = i + colours.size() - curves.size();
        out += curve_path(*curves[i].histogram, axis, colours[colour], i + 1 == curves.size());
        const std::uint64_t y = bottom - 10 - (curves.size() - 1 - i) * 14;
        out += "<text" + attribute("x", right - 4) + attribute("y", y) +
               " text-anchor=\"end\" fill=\"" + std::string(colours[colour]) + "\">" +
               escaped(curves[i].name) + "</text>\n";
    }
    return out + "</svg>\n";
}

} // namespace promtact::gates
