// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The suite as GoogleTest tests: one test for each property, named suite.property.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/wal/testing/device_suite.hpp>

namespace promtact::wal_testing {

/// Runs one property as a test. What does not apply is skipped, never green.
class PropertyTest : public ::testing::Test {
  public:
    explicit PropertyTest(Property property) : property_(std::move(property)) {}
    void TestBody() override {
        const Finding finding = property_.run();
        if (finding.outcome == Finding::Outcome::not_applicable) GTEST_SKIP() << finding.words;
        EXPECT_EQ(finding.outcome, Finding::Outcome::passed)
            << property_.claim << "\n  but " << finding.words;
    }

  private:
    Property property_;
};

/// Makes a test of each property. Call it before RUN_ALL_TESTS, or for a variable at namespace
/// scope. Returns how many.
inline int register_device_suite(const char* suite, const std::vector<Property>& properties) {
    for (const Property& property : properties) {
        ::testing::RegisterTest(
            suite, std::string(property.name).c_str(), nullptr, nullptr, __FILE__, __LINE__,
            [property]() -> ::testing::Test* {
                return std::make_unique<PropertyTest>(property).release();
            });
    }
    return static_cast<int>(properties.size());
}

} // namespace promtact::wal_testing
