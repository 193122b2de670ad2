// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/picture.hpp"

#include <algorithm>

#include <promtact/gates/format.hpp>
#include <promtact/gates/svg_chart.hpp>

#include "bench/statistics.hpp"

namespace promtact::harness::bench {
namespace {

// The drawing's own units; the page scales it.
constexpr std::uint64_t label_width = 260;
constexpr std::uint64_t bar_width = 460;
constexpr std::uint64_t value_width = 240;
constexpr std::uint64_t row_height = 24;
constexpr std::size_t curves_max = 8;

constexpr std::string_view head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Storage ladder</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;
 color:#1c2430;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}p{color:#4a5564}
svg{width:100%;height:auto}svg text{font:13px system-ui,sans-serif;fill:#1c2430}
.bar{fill:#3b6fb6}.spread{stroke:#1c2430;stroke-width:1.5}.muted{fill:#4a5564}
.axis{stroke:#aab3bf}
</style></head><body>
)";

std::vector<const RungResult*> drawn(const SectionResult& result) {
    std::vector<const RungResult*> rungs;
    for (const RungResult& rung : result.rungs)
        if (rung.failure.empty() && rung.total.operations > 0) rungs.push_back(&rung);
    return rungs;
}

std::uint64_t highest(const std::vector<const RungResult*>& rungs) {
    std::uint64_t most = 1;
    for (const RungResult* rung : rungs) {
        most = std::max(
            most, *std::max_element(rung->ops_per_round.begin(), rung->ops_per_round.end()));
    }
    return most;
}

std::string number(const char* name, std::uint64_t value) {
    return std::string(" ") + name + "=\"" + std::to_string(value) + "\"";
}

std::string
text_at(std::uint64_t x, std::uint64_t y, std::string_view extra, std::string_view text) {
    return "<text" + number("x", x) + number("y", y) + std::string(extra) + ">" +
           html_escaped(text) + "</text>\n";
}

std::string bar_of(const RungResult& rung, std::uint64_t top, std::uint64_t most) {
    const auto width = [&](std::uint64_t ops) { return bar_width * ops / most; };
    const auto [low, high] =
        std::minmax_element(rung.ops_per_round.begin(), rung.ops_per_round.end());
    const std::uint64_t ops = median(rung.ops_per_round);
    const std::uint64_t middle = top + row_height / 2;
    std::string svg;
    svg += text_at(label_width - 8, middle + 5, " text-anchor=\"end\"", rung.job.name);
    svg += "<rect class=\"bar\"" + number("x", label_width) + number("y", top + 4) +
           number("width", width(ops)) + number("height", row_height - 8) + "/>\n";
    svg += "<line class=\"spread\"" + number("x1", label_width + width(*low)) +
           number("x2", label_width + width(*high)) + number("y1", middle) + number("y2", middle) +
           "/>\n";
    svg += text_at(
        label_width + bar_width + 10, middle + 5, " class=\"muted\"",
        gates::grouped(ops) + "/s, p50 " + gates::duration_text(rung.total.latency.p50()) +
            ", p99 " + gates::duration_text(rung.total.latency.p99()));
    return svg;
}

std::string bars(const std::vector<const RungResult*>& rungs) {
    const std::uint64_t most = highest(rungs);
    const std::uint64_t height = row_height * rungs.size() + 8;
    std::string svg = "<svg viewBox=\"0 0 " +
                      std::to_string(label_width + bar_width + value_width) + " " +
                      std::to_string(height) + "\" role=\"img\">\n";
    svg += "<line class=\"axis\"" + number("x1", label_width) + number("x2", label_width) +
           number("y1", 0) + number("y2", height) + "/>\n";
    std::uint64_t top = 4;
    for (const RungResult* rung : rungs) {
        svg += bar_of(*rung, top, most);
        top += row_height;
    }
    return svg + "</svg>\n";
}

std::string curves(const std::vector<const RungResult*>& rungs, const std::string& title) {
    std::vector<gates::Curve> list;
    for (const RungResult* rung : rungs)
        if (list.size() < curves_max) list.push_back({rung->job.name, &rung->total.latency});
    return gates::cdf_svg(list, title + ": latency per operation", "ns");
}

} // namespace

std::string html_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

std::string ladder_page(const std::vector<SectionResult>& results, std::string_view subtitle) {
    std::string page(head);
    page += "<h1>Storage ladder</h1>\n<p>" + html_escaped(subtitle) + "</p>\n";
    page += "<p>Bars are operations per second, median of the rounds; the line spans the slowest "
            "and the fastest round. Compare rungs within a section only.</p>\n";
    for (const SectionResult& result : results) {
        page += "<h2>" + html_escaped(result.section.title) + "</h2>\n<p>" +
                html_escaped(result.section.question) + "</p>\n";
        const std::vector<const RungResult*> rungs = drawn(result);
        if (!rungs.empty()) page += bars(rungs) + curves(rungs, result.section.title);
        for (const RungResult& rung : result.rungs) {
            if (!rung.failure.empty()) {
                page += "<p>" + html_escaped(rung.job.name + " could not run: " + rung.failure) +
                        "</p>\n";
            }
        }
    }
    return page + "</body></html>\n";
}

} // namespace promtact::harness::bench
