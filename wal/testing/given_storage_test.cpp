// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The log with threads on a storage its caller makes.
#include <cerrno>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/wal/device_storage.hpp>
#include <promtact/wal/log.hpp>

#include "log_hand_internal.hpp"
#include "places_internal.hpp"

namespace promtact::wal_testing {
namespace {

wal::MakeStorage on(MemoryMedium& medium, std::thread::id* maker = nullptr) {
    return [&medium, maker](std::span<std::byte> arena) -> Result<std::unique_ptr<Storage>> {
        if (maker != nullptr) *maker = std::this_thread::get_id();
        EXPECT_FALSE(arena.empty());
        PROMTACT_TRY_ASSIGN(
            auto storage, wal::DeviceStorage::open(std::make_unique<MemoryDevice>(medium)));
        return std::unique_ptr<Storage>(std::move(storage));
    };
}

wal::LogConfig small_config() {
    wal::LogConfig config;
    config.log = suite_log_options(0); // entropy is drawn
    return config;
}

TEST(GivenStorage, CarriesALogAcrossOpens) {
    MemoryMedium medium;
    for (wal::Lsn round = 0; round < 3; ++round) {
        const auto log = wal::Log::open(on(medium), small_config());
        ASSERT_TRUE(log) << describe(log.error());
        EXPECT_EQ((*log)->engine(), wal::Engine::given);
        EXPECT_TRUE((*log)->refusals().empty());
        EXPECT_EQ((*log)->durable(), round * 10);
        for (wal::Lsn i = 1; i <= 10; ++i)
            ASSERT_TRUE((*log)->append_durable(pattern(round * 10 + i, 300)));
        wal::Lsn next = 1;
        ASSERT_TRUE((*log)->read(1, (*log)->durable(), [&](const wal::RecordView& record) {
            EXPECT_TRUE(same(record.payload, pattern(next++, 300)));
        }));
        ASSERT_TRUE((*log)->close());
    }
}

TEST(GivenStorage, IsMadeByTheThreadThatUsesIt) {
    MemoryMedium medium;
    std::thread::id maker;
    const auto log = wal::Log::open(on(medium, &maker), small_config());
    ASSERT_TRUE(log) << describe(log.error());
    EXPECT_NE(maker, std::thread::id{});
    EXPECT_NE(maker, std::this_thread::get_id());
}

TEST(GivenStorage, WhatItsMakerSaysIsTheAnswerOfOpen) {
    const auto refuse = [](std::span<std::byte>) -> Result<std::unique_ptr<Storage>> {
        return Error{Errc::busy, 0, "somebody has the device"};
    };
    const auto log = wal::Log::open(refuse, small_config());
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::busy);
    EXPECT_EQ(log.error().context, "somebody has the device");
}

/// Answers every sync of a segment twice, once the log is open.
class Stutterer final : public Storage {
  public:
    explicit Stutterer(std::unique_ptr<Storage> inner) : inner_(std::move(inner)) {}
    [[nodiscard]] StorageLimits limits() const override { return inner_->limits(); }
    [[nodiscard]] bool submit(const IoOp& op) override {
        if (op.kind == IoKind::sync_data && op.file != 0) sync_ = op.id;
        return inner_->submit(op);
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        return stutter(done, inner_->poll(done.first(done.size() / 2)));
    }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) override {
        return stutter(done, inner_->wait(done.first(done.size() / 2), timeout_ns));
    }

  private:
    std::size_t stutter(std::span<IoDone> done, std::size_t count) {
        for (std::size_t i = count; i-- > 0;)
            if (done[i].id == sync_) done[count++] = done[i];
        return count;
    }
    std::unique_ptr<Storage> inner_;
    std::optional<std::uint64_t> sync_{};
};

TEST(GivenStorage, ThatAnswersTwiceStopsTheLogAndNothingElse) {
    MemoryMedium medium;
    const auto make = [&](std::span<std::byte> arena) -> Result<std::unique_ptr<Storage>> {
        PROMTACT_TRY_ASSIGN(auto storage, on(medium)(arena));
        return std::unique_ptr<Storage>(std::make_unique<Stutterer>(std::move(storage)));
    };
    const auto log = wal::Log::open(make, small_config());
    ASSERT_TRUE(log) << describe(log.error());
    while ((*log)->append_durable(pattern(1, 300))) {
    }
    ASSERT_TRUE((*log)->poison());
    EXPECT_EQ((*log)->poison()->sys_errno, EPROTO) << describe(*(*log)->poison());
}

TEST(GivenStorage, IsNoStepOfTheLadder) {
    const test_support::TemporaryDirectory where;
    wal::LogConfig config = small_config();
    config.only = wal::Engine::given;
    const auto log = wal::Log::open(where.path(), config);
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::invalid_argument);
}

} // namespace
} // namespace promtact::wal_testing
