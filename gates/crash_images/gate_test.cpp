// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crash_images/gate.hpp"
#include "testing/gate_suite.hpp"

namespace promtact::gates {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(CrashImagesGate, PassesWithATallyForEveryWorkload) {
    const auto report = testing_gates::run_body(&run_crash_images);

    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_THAT(report->summary, Not(IsEmpty()));
    EXPECT_THAT(report->notes, SizeIs(24));
}

TEST(CrashImagesGate, ItsControlFailsForTheInjectedReason) {
    const auto report = testing_gates::run_body(&run_crash_images, true);

    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    // A failing image, and not merely that nothing happened.
    EXPECT_THAT(report->reason, ::testing::HasSubstr("image"));
    EXPECT_THAT(report->reason, ::testing::StartsWith("workload"));
}

TEST(CrashImagesGate, IsComplete) {
    testing_gates::expect_complete(crash_images_info);
}

} // namespace
} // namespace promtact::gates
