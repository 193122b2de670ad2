// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The main of every test binary: a run in which something was skipped and nothing failed exits 77,
// so that ctest shows "Skipped" and never a green line for work that was not done.
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    const int status = RUN_ALL_TESTS();
    const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
    if (status == 0 && unit.successful_test_count() == 0 && unit.skipped_test_count() > 0)
        return 77;
    return status;
}
