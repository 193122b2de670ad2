// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Test support: skips without root, and fails when a test leaves anything on the host or touches
// its interfaces.
#pragma once

#include <chrono>

#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/netns/leak_audit.hpp>

namespace promtact::netns {

class KernelFixture : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN)";
        auto inventory = take_inventory(network_parts);
        ASSERT_TRUE(inventory) << describe(inventory.error());
        before_ = *std::move(inventory);
    }
    void TearDown() override {
        if (IsSkipped()) return;
        const auto left = wait_until_equal(before_, network_parts, std::chrono::seconds{2});
        ASSERT_TRUE(left) << describe(left.error());
        EXPECT_TRUE(left->empty()) << left->text();
    }

  private:
    Inventory before_;
};

} // namespace promtact::netns
