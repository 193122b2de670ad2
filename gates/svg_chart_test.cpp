// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/svg_chart.hpp>

namespace promtact::gates {
namespace {

using testing::HasSubstr;
using testing::Not;

Histogram spread() {
    Histogram histogram;
    for (std::uint64_t i = 1; i <= 2000; ++i)
        histogram.record(10'000 + i * i);
    return histogram;
}

TEST(SvgChart, GivesTheSameBytesForTheSameHistogram) {
    EXPECT_EQ(histogram_svg(spread(), "t", "ns"), histogram_svg(spread(), "t", "ns"));
}

TEST(SvgChart, NeedsNoNetworkAndNoScript) {
    const std::string svg = histogram_svg(spread(), "latency", "ns");
    EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
    EXPECT_THAT(svg, Not(HasSubstr("href")));
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_THAT(svg, HasSubstr("p99.9 "));
    EXPECT_THAT(svg, HasSubstr("2,000 samples"));
}

TEST(SvgChart, EscapesTitles) {
    EXPECT_THAT(histogram_svg(spread(), "<a & b>", "ns"), HasSubstr("&lt;a &amp; b&gt;"));
}

TEST(SvgChart, DrawsOneValueAndTheLargestValue) {
    Histogram one;
    one.record(0);
    EXPECT_THAT(histogram_svg(one, "t", "ns"), HasSubstr("1 samples"));
    Histogram large;
    large.record(UINT64_MAX);
    large.record(1);
    EXPECT_THAT(histogram_svg(large, "t", "ns"), HasSubstr("<rect"));
    EXPECT_THAT(cdf_svg({{"c", &large}}, "t", "ns"), HasSubstr("<polyline"));
}

TEST(SvgChart, EndsEveryCumulativeCurveAtTheTop) {
    const Histogram a = spread();
    Histogram b;
    b.record(50'000);
    const std::string svg = cdf_svg({{"old", &b}, {"new", &a}}, "t", "ns");
    EXPECT_THAT(svg, HasSubstr("740,44\""));
    EXPECT_THAT(svg, HasSubstr(">old</text>"));
    EXPECT_THAT(svg, HasSubstr(">new</text>"));
}

} // namespace
} // namespace promtact::gates
