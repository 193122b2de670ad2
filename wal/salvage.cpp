// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/assert.hpp>
#include <promtact/wal/explain.hpp>
#include <promtact/wal/log_core.hpp>

#include "salvage_internal.hpp"
#include "snapshot_pump_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::size_t window_bytes = std::size_t{2} * frame_blocks_max * block_bytes;

/// One segment's blocks, read as they are needed; what cannot be read is zero.
class Window {
  public:
    explicit Window(SnapshotPump& pump) : pump_(pump), buffer_(0, 64) {}

    /// How many blocks the file has.
    Result<std::uint64_t> open(const std::string& name) {
        name_ = name;
        first_ = count_ = 0;
        PROMTACT_TRY_ASSIGN(const std::uint64_t bytes, pump_.open(LogScan::segment_file, name));
        blocks_ = bytes / block_bytes;
        const auto room =
            static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, blocks_ * block_bytes));
        if (buffer_.span().size() < room)
            buffer_ = PumpBuffer(room, std::max(pump_.limits().align_memory, 64U));
        return blocks_;
    }
    /// `count` blocks from `at`. Requires: they are within the file; count <= frame_blocks_max
    std::span<const std::byte> blocks(std::uint64_t at, std::uint64_t count) {
        PROMTACT_ASSERT(at + count <= blocks_);
        PROMTACT_ASSERT(count <= frame_blocks_max);
        if (at < first_ || at + count > first_ + count_) fill(at);
        const auto skip = static_cast<std::size_t>((at - first_) * block_bytes);
        return buffer_.span().subspan(skip, static_cast<std::size_t>(count) * block_bytes);
    }

  private:
    void fill(std::uint64_t at) {
        first_ = at;
        count_ = std::min<std::uint64_t>(window_bytes / block_bytes, blocks_ - at);
        const auto all =
            buffer_.span().first(static_cast<std::size_t>(count_) * std::size_t{block_bytes});
        const auto read = pump_.read(LogScan::segment_file, at * block_bytes, all, name_);
        if (read && *read == all.size()) return;
        for (std::uint64_t i = 0; i < count_; ++i) { // a bad block must not take others with it
            const auto one = all.subspan(static_cast<std::size_t>(i) * block_bytes, block_bytes);
            const auto piece =
                pump_.read(LogScan::segment_file, (at + i) * block_bytes, one, name_);
            if (!piece || *piece != one.size()) std::fill(one.begin(), one.end(), std::byte{0});
        }
    }

    SnapshotPump& pump_;
    PumpBuffer buffer_;
    std::string name_{};
    std::uint64_t blocks_ = 0;
    std::uint64_t first_ = 0;
    std::uint64_t count_ = 0;
};

class Salvage {
  public:
    Salvage(Storage& storage, ExportWriter& writer)
        : pump_(storage), window_(pump_), writer_(writer) {}

    Result<void> run(const ScanReport& report) {
        PROMTACT_TRY(look(report));
        PROMTACT_TRY(writer_.begin(header_));
        for (const Segment& segment : segments_)
            PROMTACT_TRY(read_segment(segment));
        PROMTACT_TRY(writer_.skip_to(known_end_));
        return writer_.end();
    }

  private:
    struct Segment {
        std::uint64_t id = 0;
        SegmentHeader header{};
        bool held = false; // the header holds, and is this file's
        /// Where the next segment goes on, or the log ends. What this one holds from there on was
        /// torn by a crash and is void, whether it can be read or not.
        Lsn limit = 0;
    };

    /// Which files there are, which log they are of, and how far it is known to have reached.
    Result<void> look(const ScanReport& report) {
        if (report.refusal == Refusal::denied)
            return Error{Errc::denied, report.sys_errno, place_of(report) + ": " + report.text};
        PROMTACT_TRY_ASSIGN(const auto entries, pump_.list());
        for (const SnapshotPump::Entry& entry : entries) {
            if (const std::uint64_t segment = parse_segment_name(entry.name);
                segment != 0 && entry.regular) {
                segments_.push_back({.id = segment});
            }
        }
        if (segments_.empty()) return Error{Errc::not_found, 0, "there is no log here"};
        for (Segment& segment : segments_) {
            PROMTACT_TRY_ASSIGN(segment.held, read_header(segment.id, segment.header));
        }
        PROMTACT_TRY(find_header(report));
        if (report.super) know(report.super->end.next_lsn);
        if (report.end.segment != 0) know(report.end.next_lsn);
        for (Segment& segment : segments_) {
            segment.held = segment.held && segment.header.uuid == header_.uuid &&
                           segment.header.segment == segment.id;
            if (segment.held) know(segment.header.first_lsn);
        }
        const bool stands = stands_whole(report);
        Lsn limit = stands ? report.end.next_lsn : ~Lsn{0};
        for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment) {
            segment->limit = limit;
            if (segment->held) limit = segment->header.first_lsn;
        }
        make_plausible();
        return {};
    }
    /// Otherwise what the report says of the log's start may itself be the damage.
    static bool stands_whole(const ScanReport& report) noexcept {
        return report.verdict == Verdict::ok || report.verdict == Verdict::prefix;
    }
    /// Records below `next` were acknowledged, or lie before something that is there.
    void know(Lsn next) noexcept { known_end_ = std::max(known_end_, next); }
    /// What a frame's header vouches for, whether its blocks can be read or not.
    void know(const FrameHeader& frame) noexcept {
        if (frame.first_lsn > lsn_last + 1 || frame.durable_lsn >= frame.first_lsn) return;
        know(FrameKind{frame.kind} == FrameKind::seal ? frame.first_lsn : frame.durable_lsn + 1);
    }

    /// What SUPER said, or else the first segment header that holds.
    Result<void> find_header(const ScanReport& report) {
        if (report.super) {
            const bool stands = stands_whole(report);
            header_ = {
                .uuid = report.super->uuid,
                .layout = report.super->layout,
                .segment_bytes = report.super->segment_bytes,
                .first_lsn = stands ? std::max(report.super->first_live_lsn, report.first_live_lsn)
                                    : report.super->first_live_lsn};
            return {};
        }
        for (const Segment& segment : segments_) {
            if (!segment.held) continue;
            const SegmentHeader& header = segment.header;
            header_ = {
                .uuid = header.uuid,
                .layout = header.layout,
                .segment_bytes = header.segment_bytes,
                .first_lsn = header.first_lsn};
            return {};
        }
        return Error{Errc::format, 0, "neither SUPER nor any segment says which log this was"};
    }
    /// What SUPER or a header states may itself be the damage.
    void make_plausible() noexcept {
        if (header_.first_lsn == 0 || header_.first_lsn > lsn_last + 1) header_.first_lsn = 1;
        const std::uint64_t bytes = header_.segment_bytes;
        if (bytes % block_bytes != 0 || bytes < segment_bytes_min || bytes > segment_bytes_max)
            header_.segment_bytes = LogOptions{}.segment_bytes;
        if (header_.layout != Layout::fixed) header_.layout = Layout::variable;
    }
    /// Errors: denied, since then nothing is damaged and nothing need be given up.
    Result<bool> read_header(std::uint64_t segment, SegmentHeader& header) {
        const auto blocks = window_.open(segment_name(segment));
        if (!blocks && blocks.error().code == Errc::denied) return blocks.error();
        if (!blocks || *blocks == 0) return false;
        return decode(window_.blocks(0, 1).first<block_bytes>(), header) == BlockContent::valid;
    }

    Result<void> read_segment(const Segment& segment) {
        SegmentHeader header;
        PROMTACT_TRY_ASSIGN(const bool held, read_header(segment.id, header));
        if (held && header.uuid != header_.uuid) return {}; // another log's
        const auto blocks = window_.open(segment_name(segment.id));
        if (!blocks) return {};
        const std::uint64_t salt = held ? header.salt : newest_salt(*blocks);
        for (std::uint64_t at = 1; at < *blocks;) {
            FrameHeader frame;
            const auto first = window_.blocks(at, 1).first<block_bytes>();
            const bool ours = decode_frame(first, header_.layout, frame) == BlockContent::valid &&
                              frame.salt == salt && frame.block_no == at &&
                              frame.first_lsn < segment.limit;
            if (ours) know(frame);
            if (!ours || check_frame_fields(frame, header_.layout, *blocks - at) != nullptr) {
                ++at;
                continue;
            }
            const auto bytes = window_.blocks(at, frame.blocks);
            if (!stands(frame, bytes)) {
                ++at;
                continue;
            }
            PROMTACT_TRY(write_frame(writer_, frame, bytes, header_.layout));
            at += frame.blocks;
        }
        return {};
    }
    [[nodiscard]] bool stands(const FrameHeader& frame, std::span<const std::byte> bytes) const {
        for (std::uint32_t i = 0; i < frame.blocks; ++i) {
            if (!frame_block_matches(
                    bytes.first(block_bytes), frame, header_.layout, i,
                    bytes.subspan(std::size_t{i} * block_bytes, block_bytes))) {
                return false;
            }
        }
        return check_body(bytes, frame, header_.layout) == nullptr;
    }
    /// Of a segment whose header is gone: the salt of the frame with the highest LSN, since those
    /// of an earlier use are older.
    std::uint64_t newest_salt(std::uint64_t blocks) {
        std::uint64_t salt = 0;
        Lsn highest = 0;
        for (std::uint64_t at = 1; at < blocks; ++at) {
            FrameHeader frame;
            const auto block = window_.blocks(at, 1).first<block_bytes>();
            if (decode_frame(block, header_.layout, frame) != BlockContent::valid) continue;
            if (frame.block_no != at || frame.first_lsn < highest) continue;
            highest = frame.first_lsn;
            salt = frame.salt;
        }
        return salt;
    }

    SnapshotPump pump_;
    Window window_;
    ExportWriter& writer_;
    std::vector<Segment> segments_{};
    ExportHeader header_{};
    Lsn known_end_ = 0;
};

} // namespace

Result<void> salvage_log(Storage& storage, const ScanReport& report, ExportWriter& writer) {
    return Salvage(storage, writer).run(report);
}

} // namespace promtact::wal
