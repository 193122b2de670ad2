// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A block writer over a scripted kernel, for the writer's tests.
#pragma once

#include <vector>

#include <sys/mman.h>

#include <gtest/gtest.h>

#include <promtact/uring/block_writer.hpp>
#include <promtact/uring/testing/fake_ring.hpp>

namespace promtact::uring {

class Writer : public ::testing::Test {
  protected:
    BlockWriter make(WriteMode mode, std::uint32_t depth = 1, std::uint32_t bytes = 16384) {
        BlockWriterOptions options{.mode = mode, .depth = depth, .write_bytes_max = bytes};
        options.timeout = std::chrono::milliseconds{1};
        options.ring.drain_limit = std::chrono::milliseconds{1};
        Ring ring = Ring::over(testing::make_fake_ring(kernel), options.ring);
        UniqueFd file(::memfd_create("promtact-writer-test", MFD_CLOEXEC));
        auto writer = BlockWriter::over(std::move(ring), std::move(file), options);
        PROMTACT_ASSERT(writer.has_value());
        return std::move(*writer);
    }

    [[nodiscard]] std::vector<OpKind> kinds() const {
        std::vector<OpKind> list;
        for (const testing::Seen& seen : kernel.seen)
            list.push_back(seen.operation.kind);
        return list;
    }

    static std::vector<std::byte> pattern(std::size_t bytes, std::uint8_t salt = 1) {
        std::vector<std::byte> data(bytes);
        for (std::size_t i = 0; i < bytes; ++i)
            data[i] = static_cast<std::byte>((i * 131 + i / 4096 + salt) & 0xff);
        return data;
    }

    testing::FakeKernel kernel{};
};

inline constexpr OpKind write_kind = OpKind::write_fixed;
inline constexpr OpKind sync_kind = OpKind::sync_data;
inline constexpr WriteMode all_modes[] = {
    WriteMode::separate, WriteMode::linked, WriteMode::dsync, WriteMode::inline_fdatasync,
    WriteMode::write_only};

} // namespace promtact::uring
