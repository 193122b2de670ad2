// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include "claim_internal.hpp"

namespace promtact::netns {
namespace {

Claim example() {
    return {
        .name = "promtact-node1",
        .marker = "00112233445566778899aabbccddeeff",
        .boot_id = "11111111-2222-3333-4444-555555555555",
        .id = {.device = 4, .inode = 4026532000},
        .made_directory = true};
}

TEST(NetnsClaim, ComesBackFromItsTextUnchanged) {
    const auto again = parse_claim(claim_text(example()));

    ASSERT_TRUE(again) << again.error().context;
    EXPECT_EQ(claim_text(*again), claim_text(example()));
    EXPECT_EQ(again->id, example().id);
    EXPECT_TRUE(again->made_directory);
}

TEST(NetnsClaim, RefusesEveryTruncationAndForeignText) {
    const std::string text = claim_text(example());
    for (std::size_t length = 0; length < text.size(); ++length)
        EXPECT_FALSE(parse_claim(text.substr(0, length))) << length;
    EXPECT_FALSE(parse_claim(text + "x"));
    EXPECT_FALSE(parse_claim("#!/bin/sh\n"));
}

TEST(NetnsClaim, RefusesANameThatIsNotOurs) {
    Claim claim = example();
    for (const char* name : {"eth0", "../promtact-a", "promtact-", "promtact-a/b"}) {
        claim.name = name;
        EXPECT_FALSE(parse_claim(claim_text(claim))) << name;
    }
}

} // namespace
} // namespace promtact::netns
