// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>

#include "bench/store_peer.hpp"
#include "temporary_directory.hpp"

namespace promtact::harness::bench {
namespace {

class StorePeerTest : public ::testing::TestWithParam<const StorePeer*> {};

TEST_P(StorePeerTest, PutsFromSeveralThreads) {
    const test_support::TemporaryDirectory where;
    std::string version;
    const auto store = GetParam()->open(where.path(), 3, version);
    if (!store && store.error().code == Errc::unsupported) GTEST_SKIP() << store.error().context;
    ASSERT_TRUE(store) << describe(store.error());
    EXPECT_FALSE(version.empty());

    const auto figures = run_store(**store, 3, 5, 100);

    ASSERT_TRUE(figures) << describe(figures.error());
    EXPECT_GT(figures->operations_per_second, 0U);
    EXPECT_GT(figures->p50_ns, 0U);
}

TEST_P(StorePeerTest, ADirectoryThatIsNotThereIsAnError) {
    std::string version;
    const auto store = GetParam()->open("/proc/absent/store", 1, version);
    if (!store && store.error().code == Errc::unsupported) GTEST_SKIP() << store.error().context;
    EXPECT_FALSE(store);
}

std::vector<const StorePeer*> every_store() {
    std::vector<const StorePeer*> stores;
    for (const StorePeer& peer : store_peers())
        stores.push_back(&peer);
    return stores;
}

INSTANTIATE_TEST_SUITE_P(
    Stores, StorePeerTest, ::testing::ValuesIn(every_store()),
    [](const auto& peer) { return std::string(peer.param->name); });

} // namespace
} // namespace promtact::harness::bench
