// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <set>

#include <gtest/gtest.h>

#include <promtact/base/storage.hpp>

namespace promtact {
namespace {

/// The least a user has to write; answers everything at once.
class EchoStorage final : public Storage {
  public:
    [[nodiscard]] StorageLimits limits() const override { return {.depth = 1}; }
    [[nodiscard]] bool submit(const IoOp& op) override {
        if (pending_) return false;
        done_ = {.id = op.id, .result = static_cast<std::int64_t>(op.data.size())};
        pending_ = true;
        return true;
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        if (!pending_ || done.empty()) return 0;
        done.front() = done_;
        pending_ = false;
        return 1;
    }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t) override {
        return poll(done);
    }

  private:
    IoDone done_{};
    bool pending_ = false;
};

TEST(Storage, AUsersStorageNeedsFourFunctions) {
    EchoStorage echo;
    Storage& storage = echo;
    std::byte data[3] = {};
    IoDone done[2] = {};

    EXPECT_TRUE(storage.submit({.id = 9, .kind = IoKind::write, .data = data}));
    EXPECT_FALSE(storage.submit({.id = 10})) << "depth is one";

    ASSERT_EQ(storage.wait(done, 0), 1U);
    EXPECT_EQ(done[0].id, 9U);
    EXPECT_EQ(done[0].result, 3);
    EXPECT_EQ(storage.poll(done), 0U);
    EXPECT_EQ(storage.event_fd(), -1);
}

TEST(Storage, EveryKindHasAName) {
    std::set<std::string_view> names;
    for (int kind = 0; kind <= static_cast<int>(IoKind::list); ++kind)
        EXPECT_TRUE(names.insert(to_string(static_cast<IoKind>(kind))).second);
    EXPECT_EQ(names.count("unknown"), 0U);
    EXPECT_EQ(names.size(), 12U);
}

} // namespace
} // namespace promtact
