// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A storage over a ring whose kernel is a script: answers that are wrong, short, late, or none.
#include <array>
#include <cerrno>
#include <map>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/testing/fake_ring.hpp>
#include <promtact/uring/uring_storage.hpp>

#include "temporary_directory.hpp"

namespace promtact::uring {
namespace {

class UringStorageScripted : public ::testing::Test {
  protected:
    void open(UringStorageOptions options = {.depth = 4}) {
        RingOptions ring;
        ring.drain_limit = std::chrono::milliseconds(5); // what is lost stays lost
        auto opened =
            UringStorage::over(Ring::over(make_fake_ring(kernel), ring), where.path(), options);
        if (!opened && opened.error().code == Errc::unsupported)
            GTEST_SKIP() << opened.error().context;
        ASSERT_TRUE(opened) << describe(opened.error());
        storage = std::move(*opened);
        ASSERT_TRUE(storage->submit({.id = 1, .kind = IoKind::create, .file = 1, .name = "f"}));
        EXPECT_EQ(take()[1], 0);
    }
    bool write(std::uint64_t id) {
        return storage->submit({.id = id, .kind = IoKind::write, .file = 1, .data = data()});
    }
    std::span<std::byte> data() { return memory->all(); }
    /// Whatever is answered soon, by id; an id answered twice fails the test.
    std::map<std::uint64_t, std::int64_t> take() {
        std::map<std::uint64_t, std::int64_t> answers;
        for (int i = 0; i < 4; ++i) {
            std::array<IoDone, 8> done{};
            const std::size_t count = storage->wait(done, 1'000'000);
            for (std::size_t k = 0; k < count; ++k)
                EXPECT_TRUE(answers.emplace(done[k].id, done[k].result).second);
        }
        return answers;
    }
    using Answers = std::map<std::uint64_t, std::int64_t>;

    test_support::TemporaryDirectory where;
    testing::FakeKernel kernel;
    Result<AlignedBuffer> memory = AlignedBuffer::allocate(1, 2 * block_bytes);
    std::unique_ptr<UringStorage> storage;
};

TEST_F(UringStorageScripted, HandsOnEveryResultOfTheKernel) {
    open();
    if (!storage) return;
    kernel.replies = {
        testing::moves(4096), testing::fails(EAGAIN), testing::fails(EIO), testing::fails(ENOSPC)};
    for (std::uint64_t id = 10; id < 14; ++id)
        ASSERT_TRUE(write(id));
    EXPECT_FALSE(write(14)) << "depth is four";
    EXPECT_EQ(take(), (Answers{{10, 4096}, {11, -EAGAIN}, {12, -EIO}, {13, -ENOSPC}}));
    EXPECT_FALSE(storage->broken());
    ASSERT_TRUE(write(15));
    EXPECT_EQ(take(), (Answers{{15, 8192}}));
}

TEST_F(UringStorageScripted, AnAnswerThatCannotBeAttributedEndsEverythingWithEio) {
    for (const testing::Reply& reply : {testing::unknown(), testing::twice()}) {
        kernel = {};
        open();
        if (!storage) return;
        kernel.replies = {reply, testing::lost()};
        ASSERT_TRUE(write(20));
        ASSERT_TRUE(write(21));
        auto answers = take();
        EXPECT_EQ(answers.size(), 2U) << "each is answered, and once";
        EXPECT_EQ(answers[21], -EIO);
        EXPECT_TRUE(storage->broken());
        ASSERT_TRUE(write(22));
        ASSERT_TRUE(storage->submit({.id = 23, .kind = IoKind::sync_dir}));
        EXPECT_EQ(take(), (Answers{{22, -EIO}, {23, -EIO}}));
        storage.reset();
    }
}

TEST_F(UringStorageScripted, AMissingAnswerEndsTheWaitAndNotTheRequest) {
    open();
    if (!storage) return;
    kernel.replies = {testing::lost()};
    ASSERT_TRUE(write(30));
    EXPECT_TRUE(take().empty());
    EXPECT_FALSE(storage->broken());
    for (std::uint64_t id = 31; id < 34; ++id)
        ASSERT_TRUE(write(id));
    EXPECT_FALSE(write(34)) << "the lost one still holds its place";
    EXPECT_EQ(take().size(), 3U);
}

TEST_F(UringStorageScripted, InlineSyncsAnswerTheErrnoOfTheCallOnce) {
    open({.depth = 4, .inline_sync = true});
    if (!storage) return;
    kernel.data_sync_results = {-EIO};
    ASSERT_TRUE(storage->submit({.id = 40, .kind = IoKind::sync_data, .file = 1}));
    EXPECT_EQ(take(), (Answers{{40, -EIO}}));
    EXPECT_EQ(kernel.data_syncs, 1U) << "a failed sync is not tried again";
}

TEST_F(UringStorageScripted, WithoutLockedMemoryGoesOnUnregistered) {
    kernel.register_buffers_result = -ENOMEM;
    open({.depth = 4, .arena = memory->all()});
    if (!storage) return;
    EXPECT_FALSE(storage->arena_registered());
    ASSERT_TRUE(write(50));
    EXPECT_EQ(take(), (Answers{{50, 8192}}));
    EXPECT_EQ(kernel.seen.back().operation.kind, OpKind::write);

    const auto strict = UringStorage::over(
        Ring::over(make_fake_ring(kernel), {}), where.path(),
        {.depth = 4, .arena = memory->all(), .allow_unregistered = false});
    ASSERT_FALSE(strict);
    EXPECT_EQ(strict.error().sys_errno, ENOMEM);
}

} // namespace
} // namespace promtact::uring
