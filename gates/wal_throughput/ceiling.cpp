// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fcntl.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/clock.hpp>

#include "wal_throughput/ceiling_internal.hpp"

namespace promtact::gates::wal_throughput {

Ceiling::Ceiling(UniqueFd file, uring::AlignedBuffer buffer, uring::Ring ring)
    : file_(std::move(file)), buffer_(std::move(buffer)), ring_(std::move(ring)) {}

Result<std::unique_ptr<Ceiling>> Ceiling::open(const ScratchFile& file) {
    PROMTACT_TRY_ASSIGN(UniqueFd direct, reopen_descriptor(file.fd(), O_RDWR | O_DIRECT));
    PROMTACT_TRY_ASSIGN(auto buffer, uring::AlignedBuffer::allocate(1, write_bytes_max));
    std::fill(buffer.all().begin(), buffer.all().end(), std::byte{0x5a});
    PROMTACT_TRY_ASSIGN(auto ring, uring::Ring::open({.entries = 8}));
    const std::array buffers{buffer.all()};
    PROMTACT_TRY(ring.register_buffers(buffers));
    const std::array files{direct.get()};
    PROMTACT_TRY(ring.register_files(files));
    auto ceiling = std::make_unique<Ceiling>(std::move(direct), std::move(buffer), std::move(ring));
    for (std::uint64_t at = 0; at < region_bytes; at += write_bytes_max)
        PROMTACT_TRY(ceiling->commit(write_bytes_max, at));
    return ceiling;
}

Result<void> Ceiling::commit(std::uint64_t bytes, std::uint64_t offset) {
    PROMTACT_TRY(ring_.prepare(
        {.kind = uring::OpKind::write_fixed,
         .registered_file = true,
         .file = 0,
         .offset = offset,
         .data = buffer_.all().first(bytes)}));
    std::array<uring::Finished, 1> answer{};
    PROMTACT_TRY_ASSIGN(const std::size_t got, ring_.wait(answer, 1, std::chrono::seconds(30)));
    PROMTACT_ASSERT(got == 1);
    PROMTACT_TRY(answer[0].check());
    return ring_.data_sync(file_.get());
}

Result<std::uint64_t> Ceiling::run(std::uint64_t bytes, std::uint64_t count) {
    PROMTACT_ASSERT(bytes > 0 && bytes <= write_bytes_max);
    const MonotonicClock clock;
    const std::uint64_t begin = clock.now_ns();
    const std::uint64_t places = region_bytes / bytes;
    for (std::uint64_t i = 0; i < count; ++i)
        PROMTACT_TRY(commit(bytes, i % places * bytes));
    return clock.now_ns() - begin;
}

} // namespace promtact::gates::wal_throughput
