// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The crash enumeration must notice every policy that loses data: each is broken below the log, by
// a storage that does not keep a promise, and each must be caught.
#include <deque>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/testing/crash_harness.hpp>

#include "testing/log_driver.hpp"

namespace promtact::wal::testing {
namespace {

Workload control_workload() {
    Workload workload{.name = "control", .seed = 5, .segment_blocks = 6};
    workload.steps = 150;
    workload.frame_blocks = 1; // a stale frame begins at every block
    return workload;
}

CrashTally run_with(std::function<std::unique_ptr<Storage>(Storage&)> decorate) {
    HarnessOptions options{.crash = {.exhaustive_max = 10, .random = 64}, .images_max = 8000};
    options.decorate = std::move(decorate);
    CrashHarness harness(control_workload(), options);
    return harness.run();
}

std::function<std::unique_ptr<Storage>(Storage&)> losing(IoKind kind) {
    return [kind](Storage& inner) {
        auto faults = std::make_unique<FaultStorage>(inner, 1);
        faults->add({.kind = kind, .count = ~std::uint64_t{0}, .fault = StorageFault::lost});
        return faults;
    };
}

/// Answers a sync when it is asked for, and carries it out some time later: an acknowledgement on
/// write completion.
class EagerSync final : public Storage {
  public:
    explicit EagerSync(Storage& inner) : inner_(&inner) {}
    [[nodiscard]] StorageLimits limits() const override { return inner_->limits(); }
    [[nodiscard]] bool submit(const IoOp& op) override {
        if (op.kind != IoKind::sync_data) return inner_->submit(op);
        IoOp late = op;
        late.id = op.id | mark;
        if (!inner_->submit(late)) return false;
        early_.push_back({.id = op.id, .result = 0});
        return true;
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        if (!early_.empty()) {
            done.front() = early_.front();
            early_.pop_front();
            return 1;
        }
        std::size_t count = inner_->poll(done);
        if (count == 1 && (done.front().id & mark) != 0) count = 0;
        return count;
    }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t) override {
        return poll(done);
    }

  private:
    static constexpr std::uint64_t mark = std::uint64_t{1} << 63;
    Storage* inner_;
    std::deque<IoDone> early_{};
};

/// Rewrites what the log writes so that every use of a file has the same salt: a log whose frames
/// do not say which use they belong to. Its chain starts anew in every segment.
class SaltlessWriter final : public Storage {
  public:
    explicit SaltlessWriter(Storage& inner) : inner_(&inner) {}
    [[nodiscard]] StorageLimits limits() const override { return inner_->limits(); }
    [[nodiscard]] bool submit(const IoOp& op) override {
        if (op.kind != IoKind::write) return inner_->submit(op);
        copies_.push_back({op.data.begin(), op.data.end()});
        std::span<std::byte> data = copies_.back();
        IoOp changed = op;
        changed.data = data;
        SegmentHeader header;
        if (decode(data.first<block_bytes>(), header) == BlockContent::valid) {
            header.salt = 0;
            if (const auto end = ends_.find(header.previous.chain); end != ends_.end()) {
                header.previous.chain = end->second;
            }
            chain_ = header.previous.chain;
            encode(header, data.first<block_bytes>());
        }
        for (std::size_t at = 0; at + block_bytes <= data.size();) {
            FrameHeader frame;
            const auto block = data.subspan(at).first<block_bytes>();
            if (decode_frame(block, Layout::variable, frame) != BlockContent::valid) {
                at += block_bytes;
                continue;
            }
            const Chain before = frame.chain;
            rewrite(block, frame);
            ends_[before] = chain_;
            at += std::size_t{frame.blocks} * block_bytes;
        }
        return inner_->submit(changed);
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override { return inner_->poll(done); }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t ns) override {
        return inner_->wait(done, ns);
    }

  private:
    void rewrite(std::span<std::byte, block_bytes> block, FrameHeader& frame) {
        store_le<std::uint64_t>(block, FrameLayout::prev_chain, chain_);
        store_le<std::uint64_t>(block, FrameLayout::salt, 0);
        constexpr std::array<std::byte, 8> salt{};
        const std::uint32_t crc =
            crc32c_extend(crc32c(salt), block.subspan(8, body_offset(frame, Layout::variable) - 8));
        store_le<std::uint32_t>(block, FrameLayout::crc, crc);
        const BlockContent content = decode_frame(block, Layout::variable, frame);
        PROMTACT_ASSERT(content == BlockContent::valid);
        chain_ = frame.chain;
    }

    Storage* inner_;
    std::deque<std::vector<std::byte>> copies_{};
    std::map<Chain, Chain> ends_{};
    Chain chain_ = 0;
};

TEST(WalCrashControls, TheUnbrokenLogPassesTheSameWorkload) {
    const CrashTally tally = run_with({});

    EXPECT_EQ(tally.failures(), 0U) << tally.first_failure;
    EXPECT_GT(tally.recycled, 0U);
}

TEST(WalCrashControls, ADroppedSyncIsCaught) {
    const CrashTally tally = run_with(losing(IoKind::sync_data));

    EXPECT_GT(tally.lost, 0U);
}

TEST(WalCrashControls, AcknowledgingOnWriteCompletionIsCaught) {
    const CrashTally tally =
        run_with([](Storage& inner) { return std::make_unique<EagerSync>(inner); });

    EXPECT_GT(tally.lost, 0U);
}

TEST(WalCrashControls, ASkippedDirectorySyncIsCaught) {
    const CrashTally tally = run_with(losing(IoKind::sync_dir));

    EXPECT_GT(tally.refused + tally.lost, 0U);
}

TEST(WalCrashControls, ALogWithoutSaltIsCaughtOnRecycledSegments) {
    const CrashTally tally =
        run_with([](Storage& inner) { return std::make_unique<SaltlessWriter>(inner); });

    EXPECT_GT(tally.failures(), 0U);
    EXPECT_GT(tally.recycled, 0U);
}

} // namespace
} // namespace promtact::wal::testing
