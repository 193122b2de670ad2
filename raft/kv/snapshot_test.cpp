// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/kv/snapshot_loader.hpp>
#include <promtact/kv/state_machine.hpp>

#include "testing/kv_commands.hpp"

namespace promtact::kv {
namespace {

using testing::apply;
using testing::Bytes;
using testing::load;
using testing::put;
using testing::snapshot_of;

/// Two values, two sessions; the first has two answers.
StateMachine small_machine() {
    StateMachine machine({.sessions_max = 5});
    const auto session =
        apply(machine, testing::at(7, testing::about_session(Operation::open_session))).session;
    apply(machine, testing::about_session(Operation::open_session));
    apply(machine, put("a", "1", {.session = session, .number = 1, .first_unanswered = 1}));
    apply(
        machine, testing::compare_and_set(
                     "a", "2", "", {.session = session, .number = 2, .first_unanswered = 1}));
    apply(machine, put("bb", std::string(30, 'v')));
    machine.skip_to(9);
    return machine;
}

std::string reason(const Bytes& bytes) {
    auto loaded = load(bytes);
    return loaded ? "loaded" : std::move(loaded).error().context;
}

TEST(KvSnapshot, RoundTripsCutInAnyWay) {
    StateMachine machine = small_machine();
    const Bytes whole = snapshot_of(machine);
    for (const std::size_t piece : {1UL, 7UL, 16UL, 4096UL}) {
        machine.begin_snapshot();
        EXPECT_EQ(testing::read_all(machine, piece), whole);
        auto loaded = load(whole, piece);
        ASSERT_TRUE(loaded) << loaded.error().context;
        EXPECT_EQ(loaded->digest(), machine.digest());
        EXPECT_EQ(loaded->applied(), 9U);
        EXPECT_EQ(loaded->now(), 7U);
        EXPECT_EQ(loaded->limits(), machine.limits());
        EXPECT_EQ(loaded->get("bb"), std::string(30, 'v'));
        EXPECT_EQ(snapshot_of(*loaded), whole);
    }
}

TEST(KvSnapshot, AnEmptyMachineHasOne) {
    const StateMachine machine;
    const Bytes bytes = snapshot_of(machine);
    EXPECT_EQ(bytes.size(), SnapshotBytes::head + SnapshotBytes::end);
    auto loaded = load(bytes);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->digest(), machine.digest());
}

TEST(KvSnapshot, CarriesTheAnswersThatAreKept) {
    auto loaded = load(snapshot_of(small_machine()));
    ASSERT_TRUE(loaded);
    const Command again = put("a", "9", {.session = 1, .number = 1, .first_unanswered = 1});
    EXPECT_TRUE(apply(*loaded, again).duplicate);
    EXPECT_EQ(loaded->get("a"), "1");
    // The negative control: a machine with the values alone does it again.
    StateMachine values_only;
    apply(values_only, put("a", "1"));
    apply(values_only, testing::about_session(Operation::open_session));
    EXPECT_FALSE(
        apply(values_only, put("a", "9", {.session = 2, .number = 1, .first_unanswered = 1}))
            .duplicate);
}

TEST(KvSnapshot, IsOfOneMomentWhileCommandsGoOn) {
    StateMachine machine = small_machine();
    for (int i = 0; i < 50; ++i)
        apply(machine, put("key" + std::to_string(i), "before"));
    const Bytes expected = snapshot_of(machine);
    machine.begin_snapshot();
    Bytes bytes;
    for (int i = 0; !machine.snapshot_done(); ++i) {
        const std::size_t begin = bytes.size();
        bytes.resize(begin + 32);
        bytes.resize(begin + machine.read_snapshot(std::span(bytes).subspan(begin)));
        const std::string key = "key" + std::to_string(49 - i % 50);
        apply(machine, i % 3 == 0 ? testing::remove(key) : put(key, "after"));
        apply(machine, put("new" + std::to_string(i), "after"));
        apply(
            machine, put("a", "after",
                         {.session = 1,
                          .number = 3 + static_cast<std::uint64_t>(i),
                          .first_unanswered = 3 + static_cast<std::uint64_t>(i)}));
        if (i == 3) apply(machine, testing::about_session(Operation::close_session, 2));
        if (i == 4) apply(machine, testing::about_session(Operation::open_session));
    }
    machine.end_snapshot();
    EXPECT_EQ(bytes, expected);
    EXPECT_NE(snapshot_of(machine), expected);
}

TEST(KvSnapshot, BeginningAnewEndsTheOneUnderWay) {
    StateMachine machine = small_machine();
    machine.begin_snapshot();
    Bytes some(100);
    EXPECT_EQ(machine.read_snapshot(some), 100U);
    apply(machine, put("a", "later"));
    machine.begin_snapshot();
    EXPECT_EQ(testing::read_all(machine), snapshot_of(machine));
    EXPECT_FALSE(machine.snapshot_active());
}

TEST(KvSnapshot, RefusesEveryFlippedBit) {
    const Bytes whole = snapshot_of(small_machine());
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            Bytes bytes = whole;
            bytes[at] ^= static_cast<std::byte>(1U << bit);
            ASSERT_NE(reason(bytes), "loaded") << "byte " << at << ", bit " << bit;
        }
    }
}

TEST(KvSnapshot, RefusesEveryOtherLength) {
    Bytes bytes = snapshot_of(small_machine());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        ASSERT_FALSE(load(std::span(bytes).first(size))) << size;
    bytes.push_back(std::byte{0});
    EXPECT_NE(reason(bytes).find("bytes behind the end"), std::string::npos);
}

TEST(KvSnapshot, AFailureStays) {
    Bytes bytes = snapshot_of(small_machine());
    SnapshotLoader loader;
    bytes[0] = std::byte{0};
    EXPECT_FALSE(loader.feed(bytes));
    const auto again = loader.feed({});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Errc::format);
    EXPECT_FALSE(std::move(loader).finish());
}

TEST(KvSnapshot, TellsAnotherVersionFromDamage) {
    Bytes bytes = snapshot_of(small_machine());
    bytes[8] = std::byte{2};
    EXPECT_EQ(load(bytes).error().code, Errc::format);
    bytes[8] = std::byte{1};
    bytes[12] = std::byte{1};
    EXPECT_EQ(load(bytes).error().code, Errc::corrupt);
}

TEST(KvSnapshot, AnnouncedSizesCostNoMemory) {
    const Bytes whole = snapshot_of(small_machine());
    const auto fed = [&whole](std::size_t offset, std::uint32_t size) {
        Bytes bytes = whole;
        store_le<std::uint32_t>(bytes, SnapshotBytes::head + offset, size);
        SnapshotLoader loader;
        const auto result = loader.feed(std::span(bytes).first(SnapshotBytes::head + 16));
        EXPECT_LE(loader.buffered(), 16U);
        return result ? "taken" : result.error().context;
    };
    const std::string place = "snapshot of the state machine, byte 80: ";
    EXPECT_EQ(fed(4, 0xffffffffU), place + "a key of no possible length");
    EXPECT_EQ(fed(4, 0), place + "a key of no possible length");
    EXPECT_EQ(fed(8, 0xffffffffU), place + "a value that is too long");
    EXPECT_EQ(fed(8, static_cast<std::uint32_t>(value_bytes_max)), "taken");
}

/// Changes a word of a part (numbered from the head on) and mends the checksum.
std::string
mended(std::size_t part, std::size_t offset, std::uint64_t word, std::size_t width = 8) {
    Bytes bytes = snapshot_of(small_machine());
    const std::size_t at = testing::parts_of(bytes)[part] + offset;
    for (std::size_t i = 0; i < width; ++i)
        bytes[at + i] = static_cast<std::byte>(word >> (8 * i) & 0xffU);
    EXPECT_TRUE(testing::mend_checksum(bytes));
    const std::string text = reason(bytes);
    return text.substr(std::min(text.size(), text.find(": ") + 2));
}

TEST(KvSnapshot, RefusesWhatNoMachineWrites) {
    // Parts: head, a, bb, session 1, its two answers, session 2, end.
    EXPECT_EQ(mended(0, 32, 0), "sessions_max 0 is not in 1..1048576");
    EXPECT_EQ(mended(0, 32, 1), "more sessions than its limits allow");
    EXPECT_EQ(mended(0, 64, 1), "part 1 instead of 2");
    EXPECT_EQ(mended(0, 72, 1), "part 2 instead of 4");
    EXPECT_EQ(mended(0, 16, 3), "a session was used after the snapshot");
    EXPECT_EQ(mended(0, 24, 6), "a session was used after its time");
    EXPECT_EQ(mended(0, 24, 3'600'000'007), "a session that has expired");
    EXPECT_EQ(mended(1, 1, 1, 1), "reserved bytes of a value are not zero");
    EXPECT_EQ(mended(1, 16, 'z', 1), "keys are not in ascending order");
    EXPECT_EQ(mended(1, 17, '9', 1), "the digest of the state does not match");
    EXPECT_EQ(mended(3, 1, 1, 1), "reserved bytes of a session are not zero");
    EXPECT_EQ(mended(3, 8, 0), "sessions are not in ascending order");
    EXPECT_EQ(mended(3, 8, 5), "session 5 was used before it was opened");
    EXPECT_EQ(mended(3, 16, 2), "session 2 was used at the same index as another");
    EXPECT_EQ(mended(3, 24, 5), "session 2 was used at a later time than a session used after it");
    EXPECT_EQ(mended(3, 32, 2), "session 1 holds answers out of order");
    EXPECT_EQ(mended(3, 32, 0), "session 1 has no first unanswered request");
    EXPECT_EQ(mended(3, 4, 2000, 4), "a session with too many answers");
    EXPECT_EQ(mended(4, 1, 2, 1), "an answer that is never kept");
    EXPECT_EQ(mended(4, 2, 2, 1), "an answer that is never kept");
    EXPECT_EQ(mended(4, 8, 2), "session 1 holds answers out of order");
    EXPECT_EQ(mended(5, 2, 0, 1), "an answer with the value of an absent key");
    EXPECT_EQ(mended(5, 8, ~0ULL), "session 1 has used up its numbers");
    EXPECT_EQ(mended(6, 8, 1), "sessions are not in ascending order");
    EXPECT_EQ(mended(7, 1, 1, 1), "reserved bytes of the end are not zero");
    EXPECT_EQ(mended(7, 8, 1), "the digest of the state does not match");
}

} // namespace
} // namespace promtact::kv
