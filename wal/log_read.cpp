// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reading durable frames back by LSN: from the nearest indexed frame forward.
#include <algorithm>
#include <cerrno>

#include <promtact/wal/log_core.hpp>

namespace promtact::wal {

Result<void> LogCore::start_read(Lsn from, std::span<std::byte> buffer) {
    if (state_ == State::opening || state_ == State::refused) {
        return Error{Errc::busy, 0, "not open"};
    }
    if (reading_.step != Reading::Step::idle) return Error{Errc::busy, 0, "a read is under way"};
    if (from < first_live_lsn_ || from > durable_) {
        return Error{
            Errc::out_of_range, 0, "LSN " + std::to_string(from) + " is released or not durable"};
    }
    PROMTACT_ASSERT(buffer.size() >= frame_blocks_max * block_bytes);
    PROMTACT_ASSERT(buffer.size() % block_bytes == 0);
    const auto behind =
        std::upper_bound(live_.begin(), live_.end(), from, [](Lsn lsn, const SegmentFacts& facts) {
            return lsn < facts.first_lsn;
        });
    PROMTACT_ASSERT(behind != live_.begin());
    const SegmentFacts& facts = *std::prev(behind);
    const auto entry = std::upper_bound(
        facts.index.begin(), facts.index.end(), from,
        [](Lsn lsn, const IndexEntry& indexed) { return lsn < indexed.first_lsn; });
    reading_ = {};
    reading_.step = Reading::Step::open;
    reading_.from = from;
    reading_.segment = facts.segment;
    reading_.block = entry == facts.index.begin() ? 1 : std::prev(entry)->block;
    reading_.buffer = buffer;
    reading_.name = segment_name(facts.segment);
    return {};
}

std::optional<Result<LogCore::FrameRead>> LogCore::take_read() {
    if (reading_.step != Reading::Step::ready) return std::nullopt;
    reading_.step = Reading::Step::idle;
    return std::exchange(reading_.result, std::nullopt);
}

void LogCore::end_read(Result<FrameRead> result) {
    reading_.result = std::move(result);
    reading_.step = Reading::Step::ready;
}

void LogCore::read_work() {
    using Step = Reading::Step;
    if (reading_.submitted) return;
    if (reading_.step == Step::open) {
        reading_.submitted =
            submit(Op::read, {.kind = IoKind::open, .file = read_file, .name = reading_.name});
    } else if (reading_.step == Step::read) {
        const std::uint64_t at = std::uint64_t{reading_.block} * block_bytes;
        const std::size_t bytes = static_cast<std::size_t>(
            std::min<std::uint64_t>(reading_.buffer.size(), segment_bytes_ - at));
        reading_.submitted = submit(
            Op::read, {.kind = IoKind::read,
                       .file = read_file,
                       .offset = at,
                       .data = reading_.buffer.first(bytes)});
    }
}

void LogCore::on_read(std::int64_t result) {
    reading_.submitted = false;
    if (result < 0) {
        return end_read(Error::from_errno(static_cast<int>(-result), "reading " + reading_.name));
    }
    if (reading_.step == Reading::Step::open) {
        reading_.step = Reading::Step::read;
        return;
    }
    parse_read(static_cast<std::size_t>(result));
}

void LogCore::parse_read(std::size_t bytes) {
    const auto damaged = [this](std::uint32_t block, const char* why) {
        end_read(Error{
            Errc::corrupt, 0, reading_.name + " block " + std::to_string(block) + ": " + why});
    };
    const std::uint32_t blocks = static_cast<std::uint32_t>(bytes / block_bytes);
    for (std::uint32_t at = 0; at < blocks;) {
        const auto block = reading_.buffer.subspan(at * block_bytes).first<block_bytes>();
        const std::uint32_t place = reading_.block + at;
        FrameHeader header;
        if (decode_frame(block, layout_, header) != BlockContent::valid) {
            return damaged(place, "no frame starts here");
        }
        if (const char* why = check_frame_fields(header, layout_, ~std::uint64_t{0})) {
            return damaged(place, why);
        }
        if (header.block_no != place) return damaged(place, "a frame lies where another belongs");
        if (header.first_lsn + header.records <= reading_.from) {
            at += header.blocks;
            if (at >= blocks) {
                reading_.block += at;
                return; // read on from there
            }
            continue;
        }
        if (header.blocks > blocks - at) {
            if (at == 0) return damaged(place, "the frame leaves the segment");
            reading_.block = place;
            return;
        }
        const auto frame =
            reading_.buffer.subspan(at * block_bytes, std::size_t{header.blocks} * block_bytes);
        for (std::uint32_t i = 0; i < header.blocks; ++i) {
            if (!frame_block_matches(
                    block, header, layout_, i, frame.subspan(i * block_bytes, block_bytes))) {
                return damaged(place + i, "its checksum does not hold");
            }
        }
        if (const char* why = check_body(frame, header, layout_)) return damaged(place, why);
        return end_read(FrameRead{.header = header, .frame = frame});
    }
    damaged(reading_.block, "the segment ends before its records");
}

} // namespace promtact::wal
