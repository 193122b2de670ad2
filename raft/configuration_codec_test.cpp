// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/raft/configuration_codec.hpp>

namespace promtact::raft {
namespace {

using Bytes = std::vector<std::byte>;

Configuration joint() {
    Configuration made;
    made.voters = {1, 2, ~NodeId{0}};
    made.outgoing = {1, 4};
    made.learners = {7};
    made.learners_next = {4};
    made.auto_leave = true;
    return made;
}

ConfigurationChange change() {
    ConfigurationChange made;
    made.transition = Transition::joint_explicit;
    made.steps = {
        {.kind = StepKind::add_voter, .member = 3},
        {.kind = StepKind::remove, .member = no_node},
        {.kind = StepKind::add_learner, .member = ~NodeId{0}}};
    made.context = {std::byte{1}, std::byte{0}, std::byte{2}};
    return made;
}

template <class T>
Bytes encoded(const T& value) {
    Bytes bytes;
    encode(value, bytes);
    return bytes;
}

/// Decoding must give the same bytes again, or an error with a reason.
template <class Decode>
bool honest(const Bytes& bytes, const Decode& decode) {
    auto result = decode(std::span<const std::byte>(bytes));
    if (!result) return !result.error().context.empty();
    return encoded(*result) == bytes;
}

TEST(ConfigurationCodec, RoundTripsEverySet) {
    for (const auto& configuration : {Configuration{}, make_configuration({5}), joint()}) {
        auto again = decode_configuration(encoded(configuration));
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, configuration);
    }
    for (const auto& original : {ConfigurationChange{}, change()}) {
        auto again = decode_change(encoded(original));
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, original);
    }
}

TEST(ConfigurationCodec, KeepsItsLayout) {
    const Bytes bytes = encoded(make_configuration({258}, {3}));
    const std::vector<int> expected{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
                                    0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
    ASSERT_EQ(bytes.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << i;
}

TEST(ConfigurationCodec, AppendsToWhatIsThere) {
    Bytes bytes{std::byte{9}};
    encode(joint(), bytes);
    EXPECT_EQ(bytes.front(), std::byte{9});
    EXPECT_EQ(Bytes(bytes.begin() + 1, bytes.end()), encoded(joint()));
}

TEST(ConfigurationCodec, NoChangedByteIsTakenForSomethingElse) {
    const auto as_configuration = [](auto bytes) { return decode_configuration(bytes); };
    const auto as_change = [](auto bytes) { return decode_change(bytes); };
    for (const bool of_change : {false, true}) {
        const Bytes whole = of_change ? encoded(change()) : encoded(joint());
        for (std::size_t at = 0; at < whole.size(); ++at) {
            for (int value = 0; value < 256; ++value) {
                Bytes bytes = whole;
                bytes[at] = static_cast<std::byte>(value);
                ASSERT_TRUE(of_change ? honest(bytes, as_change) : honest(bytes, as_configuration))
                    << "byte " << at << " = " << value;
            }
        }
    }
}

TEST(ConfigurationCodec, RefusesEveryOtherLength) {
    Bytes configuration = encoded(joint());
    Bytes changed = encoded(change());
    for (std::size_t size = 0; size < configuration.size(); ++size)
        EXPECT_FALSE(decode_configuration(std::span(configuration).first(size))) << size;
    for (std::size_t size = 0; size < changed.size(); ++size)
        EXPECT_FALSE(decode_change(std::span(changed).first(size))) << size;
    configuration.push_back(std::byte{0});
    changed.push_back(std::byte{0});
    EXPECT_FALSE(decode_configuration(configuration));
    EXPECT_FALSE(decode_change(changed));
}

TEST(ConfigurationCodec, TellsAnotherVersionFromDamage) {
    Bytes bytes = encoded(joint());
    bytes[0] = std::byte{2};
    EXPECT_EQ(decode_configuration(bytes).error().code, Errc::format);
    bytes = encoded(joint());
    bytes[1] = std::byte{3};
    EXPECT_EQ(decode_configuration(bytes).error().code, Errc::format);
    bytes = encoded(change());
    bytes[0] = std::byte{0};
    EXPECT_EQ(decode_change(bytes).error().code, Errc::format);
    bytes = encoded(change());
    bytes[1] = std::byte{3};
    EXPECT_EQ(decode_change(bytes).error().code, Errc::corrupt);
}

TEST(ConfigurationCodec, AnnouncedSizesCostNoMemory) {
    Bytes bytes = encoded(joint());
    store_le<std::uint32_t>(bytes, 4, 0xffffffffU);
    EXPECT_EQ(
        decode_configuration(bytes).error().context,
        "configuration: byte 4 announces 4294967295 members");
    bytes = encoded(change());
    store_le<std::uint32_t>(bytes, 4, 0xffffffffU);
    EXPECT_EQ(
        decode_change(bytes).error().context, "configuration change: announces 4294967295 steps");
    bytes = encoded(change());
    store_le<std::uint32_t>(bytes, 8, 0xffffffffU);
    EXPECT_EQ(
        decode_change(bytes).error().context,
        "configuration change: announces 4294967295 bytes of context");
}

TEST(ConfigurationCodec, RefusesWhatIsNotValid) {
    Bytes bytes = encoded(make_configuration({1, 2}));
    store_le<std::uint64_t>(bytes, 20, 2);
    EXPECT_EQ(
        decode_configuration(bytes).error().context,
        "configuration: voters is not in ascending order at member 2");
    EXPECT_EQ(decode_configuration(bytes).error().code, Errc::corrupt);
}

} // namespace
} // namespace promtact::raft
