// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/uring/testing/fake_ring.hpp>

namespace promtact::uring::testing {
namespace {

constexpr std::uint64_t nobodys_user_data = 0xfeed'0000'0000'0000;

class FakeRing final : public RingBackend {
  public:
    explicit FakeRing(FakeKernel& kernel) : kernel_(kernel) {}

    [[nodiscard]] std::uint32_t submission_capacity() const noexcept override {
        return kernel_.submission_capacity;
    }
    [[nodiscard]] std::uint32_t completion_capacity() const noexcept override {
        return kernel_.completion_capacity;
    }

    bool stage(const Operation& operation, std::uint64_t user_data) noexcept override {
        if (staged_.size() >= kernel_.submission_capacity) return false;
        staged_.push_back({.operation = operation, .user_data = user_data});
        return true;
    }

    int enter(
        std::uint32_t wait_for, std::optional<std::chrono::nanoseconds> timeout) noexcept override {
        ++kernel_.enters;
        std::size_t limit = staged_.size();
        if (!kernel_.enter_results.empty()) {
            const int scripted = kernel_.enter_results.front();
            kernel_.enter_results.pop_front();
            if (scripted < 0) return scripted;
            limit = std::min(limit, static_cast<std::size_t>(scripted));
        }
        for (std::size_t i = 0; i < limit; ++i)
            consume(std::move(staged_[i]));
        staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(limit));
        if (limit > 0) return static_cast<int>(limit);
        if (ready_.size() >= wait_for) return 0;
        // Nothing more will come by itself: what was held back comes now, or the time runs out.
        ready_.insert(ready_.end(), late_.begin(), late_.end());
        late_.clear();
        if (ready_.size() >= wait_for) return 0;
        PROMTACT_ASSERT(timeout.has_value()); // a real kernel would hang here
        return -ETIME;
    }

    void withdraw() noexcept override { staged_.clear(); }

    std::uint32_t reap(std::span<Completion> out) noexcept override {
        const std::size_t count = std::min(out.size(), ready_.size());
        std::copy_n(ready_.begin(), count, out.begin());
        ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
        return static_cast<std::uint32_t>(count);
    }

    [[nodiscard]] bool wants_enter() const noexcept override { return !late_.empty(); }
    [[nodiscard]] std::uint32_t dropped() const noexcept override { return kernel_.dropped; }
    [[nodiscard]] std::uint32_t overflowed() const noexcept override { return kernel_.overflowed; }
    int register_buffers(std::span<const std::span<std::byte>>) noexcept override {
        return kernel_.register_buffers_result;
    }
    int register_files(std::span<const int>) noexcept override {
        return kernel_.register_files_result;
    }
    int update_file(std::uint32_t, int) noexcept override { return kernel_.update_file_result; }
    int register_eventfd(int) noexcept override { return 0; }
    int register_ring() noexcept override { return 0; }
    int data_sync(int) noexcept override {
        ++kernel_.data_syncs;
        if (kernel_.data_sync_results.empty()) return 0;
        const int scripted = kernel_.data_sync_results.front();
        kernel_.data_sync_results.pop_front();
        return scripted;
    }

  private:
    void consume(Seen seen) {
        const Operation operation = seen.operation;
        const std::uint64_t user_data = seen.user_data;
        seen.bytes.assign(operation.data.begin(), operation.data.end());
        kernel_.seen.push_back(std::move(seen));
        const bool cancelled = std::exchange(cancel_next_, false);
        std::int32_t result = -ECANCELED;
        Reply reply;
        if (!cancelled) {
            if (kernel_.on_consume) kernel_.on_consume(operation);
            if (!kernel_.replies.empty()) {
                reply = kernel_.replies.front();
                kernel_.replies.pop_front();
            }
            result = carry_out(operation, reply);
        }
        if (operation.linked && kernel_.chains)
            cancel_next_ = result != static_cast<std::int32_t>(operation.data.size());
        answer(reply.kind, {.user_data = user_data, .result = result});
    }

    std::int32_t carry_out(const Operation& operation, const Reply& reply) {
        const auto all = static_cast<std::int32_t>(operation.data.size());
        const std::int32_t result = reply.kind == Reply::Kind::result ? reply.value : all;
        const bool writes =
            operation.kind == OpKind::write || operation.kind == OpKind::write_fixed;
        if (!writes || result <= 0) return result;
        const auto moved = static_cast<std::size_t>(std::min(result, all));
        std::vector<std::byte>& file = kernel_.file;
        file.resize(std::max<std::size_t>(file.size(), operation.offset + moved));
        std::memcpy(file.data() + operation.offset, operation.data.data(), moved);
        return result;
    }

    void answer(Reply::Kind kind, const Completion& completion) {
        if (kind == Reply::Kind::lost) return;
        if (kind == Reply::Kind::late) {
            late_.push_back(completion);
            return;
        }
        if (kind == Reply::Kind::unknown) ready_.push_back({.user_data = nobodys_user_data});
        ready_.push_back(completion);
        if (kind == Reply::Kind::twice) ready_.push_back(completion);
        ready_.insert(ready_.end(), late_.begin(), late_.end());
        late_.clear();
    }

    FakeKernel& kernel_;
    std::vector<Seen> staged_{};
    std::deque<Completion> ready_{};
    std::vector<Completion> late_{};
    bool cancel_next_ = false;
};

} // namespace

std::unique_ptr<RingBackend> make_fake_ring(FakeKernel& kernel) {
    return std::make_unique<FakeRing>(kernel);
}

} // namespace promtact::uring::testing
