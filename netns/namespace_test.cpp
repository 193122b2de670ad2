// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/netns/leak_audit.hpp>
#include <promtact/netns/namespace.hpp>

#include "kernel_fixture_internal.hpp"
#include "kill_sweep.hpp"

namespace promtact::netns {
namespace {

using namespace std::chrono_literals;

class NetnsNamespace : public KernelFixture {};

TEST_F(NetnsNamespace, CallingThreadStaysWhereItIs) {
    const auto before = current_namespace();
    const auto made = Namespace::create();
    ASSERT_TRUE(made) << describe(made.error());

    const auto inside = run_inside(*made, [] { return current_namespace(); });

    EXPECT_EQ(*current_namespace(), *before);
    EXPECT_EQ(*inside, made->id());
    EXPECT_NE(*inside, *before);
}

TEST_F(NetnsNamespace, IsEmptyAndShowsNothingOfTheHost) {
    const auto made = Namespace::create();
    ASSERT_TRUE(made);

    const auto inside = take_inventory(*made, interface_parts);

    ASSERT_TRUE(inside) << describe(inside.error());
    // lo alone, without address, plus at most tunnels the kernel adds to every namespace.
    EXPECT_EQ(inside->text().find("address"), std::string::npos) << inside->text();
    EXPECT_EQ(inside->text().find("eth0"), std::string::npos) << inside->text();
}

TEST_F(NetnsNamespace, TwoNamespacesDiffer) {
    const auto a = Namespace::create();
    const auto b = Namespace::create();
    ASSERT_TRUE(a && b);

    EXPECT_NE(a->id(), b->id());
}

TEST_F(NetnsNamespace, ErrorsOfTheFunctionComeBack) {
    const auto made = Namespace::create();
    ASSERT_TRUE(made);

    const auto result = run_inside(*made, []() -> Result<int> {
        return Error{Errc::busy, 0, "asked for"};
    });

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().context, "asked for");
}

TEST_F(NetnsNamespace, DeniedNamesTheCapability) {
    const auto end = testing_support::run_killed_at(0, [] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return false;
        const auto made = Namespace::create();
        return !made && made.error().code == Errc::denied &&
               made.error().context.find("CAP_SYS_ADMIN") != std::string::npos;
    });

    EXPECT_EQ(end, testing_support::ChildEnd::finished);
}

TEST_F(NetnsNamespace, NothingRemainsAfterAKill) {
    const auto end = testing_support::run_killed_at(2, [] {
        const auto a = Namespace::create();
        const auto b = Namespace::create();
        return a.has_value() && b.has_value();
    });

    EXPECT_EQ(end, testing_support::ChildEnd::killed);
}

} // namespace
} // namespace promtact::netns
