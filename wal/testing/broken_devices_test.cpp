// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// For each of the ten properties of a device of four calls one that is broken so that exactly this
// property notices: on the device itself, and of the properties of the storage over it none.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bent_storage_internal.hpp"

namespace promtact::wal_testing {
namespace {

using Bytes = std::vector<std::byte>;
using Memory = MemoryDevice;

// The journal's entries are longer: these are the suite's own pieces.
bool is_small(std::size_t bytes) {
    return bytes > 0 && bytes < 32;
}

class Preformatted final : public Memory {
    using Memory::Memory;
    Result<Bytes> durable_bytes() override {
        if (medium().durable.empty() && !touched_) return Bytes(1, std::byte{0x2a});
        return Memory::durable_bytes();
    }
    Result<void> append(std::span<const std::byte> bytes) override {
        touched_ = true;
        return Memory::append(bytes);
    }
    Result<void> truncate_durable(std::uint64_t bytes) override {
        touched_ = true;
        return Memory::truncate_durable(bytes);
    }
    bool touched_ = false;
};
/// Shows a single first piece as synced while it is still in its cache.
class CachesTheFirstPiece final : public Memory {
    using Memory::Memory;

  public:
    Result<void> append(std::span<const std::byte> bytes) override {
        ++pieces_;
        return Memory::append(bytes);
    }
    Result<void> sync() override {
        if (pieces_ == 1 && medium().durable.empty() && is_small(pending().size())) return {};
        return Memory::sync();
    }
    Result<Bytes> durable_bytes() override {
        Bytes bytes = medium().durable;
        if (pieces_ == 1) bytes.insert(bytes.end(), pending().begin(), pending().end());
        return bytes;
    }

  private:
    int pieces_ = 0;
};
class SwapsThePiecesOfThree final : public Memory {
    using Memory::Memory;

  public:
    Result<void> append(std::span<const std::byte> bytes) override {
        if (!is_small(bytes.size())) return Memory::append(bytes);
        if (++pieces_ == 3) {
            pending().insert(pending().begin(), bytes.begin(), bytes.end());
            return {};
        }
        return Memory::append(bytes);
    }
    Result<void> sync() override {
        pieces_ = 0;
        return Memory::sync();
    }
    Result<void> truncate_durable(std::uint64_t bytes) override {
        pieces_ = -100; // not again
        return Memory::truncate_durable(bytes);
    }

  private:
    int pieces_ = 0;
};
class SyncsTheLastPieceAgain final : public Memory {
    using Memory::Memory;

  public:
    Result<void> append(std::span<const std::byte> bytes) override {
        last_.assign(bytes.begin(), bytes.end());
        fresh_ = true;
        return Memory::append(bytes);
    }
    Result<void> sync() override {
        if (!std::exchange(fresh_, false) && is_small(last_.size()))
            pending().insert(pending().end(), last_.begin(), last_.end());
        return Memory::sync();
    }

  private:
    Bytes last_{};
    bool fresh_ = false;
};
class AppendsAZeroForNothing final : public Memory {
    using Memory::Memory;
    Result<void> append(std::span<const std::byte> bytes) override {
        const std::byte zero{};
        return Memory::append(bytes.empty() ? std::span(&zero, 1) : bytes);
    }
};
/// Hands out its own memory, and has it no longer until it is synced again.
class HandsOutItsOwn final : public Memory {
    using Memory::Memory;
    Result<Bytes> durable_bytes() override {
        if (std::exchange(given_, true)) return Bytes{};
        return Memory::durable_bytes();
    }
    Result<void> sync() override {
        given_ = false;
        return Memory::sync();
    }
    bool given_ = false;
};
class CutsWithTheNextAppend final : public Memory {
    using Memory::Memory;

  public:
    Result<void> append(std::span<const std::byte> bytes) override {
        PROMTACT_TRY(cut());
        return Memory::append(bytes);
    }
    Result<void> sync() override {
        PROMTACT_TRY(cut());
        return Memory::sync();
    }
    Result<void> truncate_durable(std::uint64_t bytes) override {
        if (bytes == 0 || bytes > medium().durable.size()) return Memory::truncate_durable(bytes);
        later_ = bytes;
        return {};
    }

  private:
    Result<void> cut() {
        if (!later_) return {};
        return Memory::truncate_durable(*std::exchange(later_, std::nullopt));
    }
    std::optional<std::uint64_t> later_{};
};
class ForgetsToSeekBack final : public Memory {
    using Memory::Memory;
    Result<void> append(std::span<const std::byte> bytes) override {
        if (hole_ > 0) PROMTACT_TRY(Memory::append(Bytes(std::exchange(hole_, 0))));
        return Memory::append(bytes);
    }
    Result<void> truncate_durable(std::uint64_t bytes) override {
        const std::size_t before = medium().durable.size();
        PROMTACT_TRY(Memory::truncate_durable(bytes));
        if (is_small(before)) hole_ = before - medium().durable.size();
        return {};
    }
    std::size_t hole_ = 0;
};
class TakesZeroForNoLimit final : public Memory {
    using Memory::Memory;
    Result<void> truncate_durable(std::uint64_t bytes) override {
        return bytes == 0 ? Result<void>{} : Memory::truncate_durable(bytes);
    }
};
class CutsToWhatItHas final : public Memory {
    using Memory::Memory;
    Result<void> truncate_durable(std::uint64_t bytes) override {
        return Memory::truncate_durable(std::min<std::uint64_t>(bytes, medium().durable.size()));
    }
};

template <class Kind>
std::unique_ptr<DevicePlace> place_of() {
    return std::make_unique<MemoryDevicePlace<Kind>>();
}

struct Row {
    const char* broken_property;
    std::unique_ptr<DevicePlace> (*make)();
};

void PrintTo(const Row& row, std::ostream* out) {
    *out << row.broken_property;
}

class BrokenDevice : public ::testing::TestWithParam<Row> {};

TEST_P(BrokenDevice, FailsExactlyTheOnePropertyItBreaks) {
    const auto suite = device_suite(DevicePlaceFactory(GetParam().make));
    EXPECT_THAT(failures(suite), ::testing::ElementsAre(GetParam().broken_property));
}

constexpr Row rows[] = {
    {"FreshDeviceIsEmpty", place_of<Preformatted>},
    {"AppendAndSyncAreDurable", place_of<CachesTheFirstPiece>},
    {"AppendsConcatenateInOrder", place_of<SwapsThePiecesOfThree>},
    {"SyncIsIdempotent", place_of<SyncsTheLastPieceAgain>},
    {"EmptyAppendIsHarmless", place_of<AppendsAZeroForNothing>},
    {"ReturnedBytesAreACopy", place_of<HandsOutItsOwn>},
    {"TruncateShortens", place_of<CutsWithTheNextAppend>},
    {"AppendContinuesAtTheTruncatedEnd", place_of<ForgetsToSeekBack>},
    {"TruncateToZeroEmpties", place_of<TakesZeroForNoLimit>},
    {"TruncateOutOfRangeIsRefusedAndChangesNothing", place_of<CutsToWhatItHas>},
};

INSTANTIATE_TEST_SUITE_P(Rows, BrokenDevice, ::testing::ValuesIn(rows), [](const auto& row) {
    return std::string(row.param.broken_property);
});

TEST(BrokenDevices, EachOfTheTenHasOne) {
    const auto suite = device_suite(DevicePlaceFactory(place_of<Memory>));
    ASSERT_EQ(std::size(rows), 10U);
    for (std::size_t i = 0; i < std::size(rows); ++i)
        EXPECT_EQ(suite[i].name, rows[i].broken_property);
}

} // namespace
} // namespace promtact::wal_testing
