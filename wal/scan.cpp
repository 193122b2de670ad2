// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include <promtact/base/huge_pages.hpp>
#include <promtact/wal/scan.hpp>

#include "judge_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint32_t super_bytes = super_slots * block_bytes; // also what a list is read into

} // namespace

AlignedBytes::AlignedBytes(std::size_t bytes, std::size_t alignment) : bytes_(bytes) {
    PROMTACT_ASSERT(alignment > 0);
    const std::align_val_t wanted{bytes >= huge_page_bytes ? huge_page_bytes : alignment};
    PROMTACT_ASSERT(static_cast<std::size_t>(wanted) % alignment == 0);
    store_ = {static_cast<std::byte*>(::operator new(bytes, wanted)), Free{wanted}};
    prefer_huge_pages({store_.get(), bytes});
}

LogScan::LogScan(Storage& storage, const ScanOptions& options)
    : storage_(&storage), options_(options),
      buffer_(super_bytes, std::max<std::size_t>(storage.limits().align_memory, 64)) {
    PROMTACT_ASSERT(options.chunk_bytes >= block_bytes);
    PROMTACT_ASSERT(options.chunk_bytes % block_bytes == 0);
}

LogScan::~LogScan() = default;

void LogScan::run() {
    while (!finished()) {
        step();
        std::array<IoDone, 8> done{};
        if (finished() || in_flight_ == 0) continue;
        const std::size_t count = storage_->wait(done, 1'000'000'000);
        for (std::size_t i = 0; i < count; ++i)
            on_done(done[i]);
    }
}

void LogScan::step() {
    std::array<IoDone, 8> done{};
    submit_next();
    // One step takes what is ready and goes on as long as that helps; a storage that answers at
    // once is read to the end.
    while (!finished()) {
        const std::size_t count = storage_->poll(done);
        if (count == 0) return;
        for (std::size_t i = 0; i < count; ++i)
            on_done(done[i]);
        submit_next();
    }
}

void LogScan::submit(IoOp op) {
    op.id = next_id_;
    if (!storage_->submit(op)) return;
    ++next_id_;
    ++in_flight_;
}

void LogScan::submit_next() {
    if (phase_ == Phase::read) return submit_reads();
    if (in_flight_ > 0) return;
    first_id_ = next_id_;
    switch (phase_) {
    case Phase::list:
        return submit(
            {.kind = IoKind::list, .offset = entries_, .data = buffer_.span().first(super_bytes)});
    case Phase::super_open:
        return submit({.kind = IoKind::open, .file = super_file, .name = super_name});
    case Phase::super_read:
        return submit(
            {.kind = IoKind::read, .file = super_file, .data = buffer_.span().first(super_bytes)});
    case Phase::open:
        name_ = segment_name(present_[cursor_]);
        return submit({.kind = IoKind::open, .file = segment_file, .name = name_});
    case Phase::read:
    case Phase::drain:
    case Phase::finished:
        return;
    }
    PROMTACT_UNREACHABLE();
}

void LogScan::submit_reads() {
    while (submitted_ < wanted_) {
        const std::uint64_t piece =
            std::min<std::uint64_t>(options_.chunk_bytes, wanted_ - submitted_);
        const std::uint64_t before = next_id_;
        submit(
            {.kind = IoKind::read,
             .file = segment_file,
             .offset = submitted_,
             .data = buffer_.span().subspan(
                 static_cast<std::size_t>(submitted_), static_cast<std::size_t>(piece))});
        if (next_id_ == before) return;
        pieces_.push_back({.bytes = piece});
        submitted_ += piece;
    }
}

void LogScan::on_done(const IoDone& done) {
    if (finished()) return;
    if (done.id < first_id_ || done.id >= next_id_ || in_flight_ == 0) {
        refuse(Refusal::io, "R0", "the storage answered a request that was not made");
        phase_ = Phase::finished; // nothing it will say means anything
        return;
    }
    --in_flight_;
    if (phase_ == Phase::drain) {
        if (in_flight_ == 0) phase_ = Phase::finished;
        return;
    }
    if (phase_ == Phase::read && done.result >= 0) return on_piece(done);
    if (done.result < 0 && !(phase_ == Phase::open && done.result == -ELOOP)) {
        report_.sys_errno = static_cast<int>(-done.result);
        report_.segment = phase_ >= Phase::open ? present_[cursor_] : 0;
        const bool denied = errc_from_errno(report_.sys_errno) == Errc::denied;
        return refuse(
            denied ? Refusal::denied : Refusal::io, phase_ >= Phase::open ? "R3" : "R1",
            denied ? "this user may not read it, so nothing is known of what it holds"
                   : "reading failed, and what cannot be read is not the end of the log");
    }
    if (phase_ == Phase::list) return on_listed(done.result);
    if (phase_ == Phase::super_open) {
        phase_ = Phase::super_read;
    } else if (phase_ == Phase::super_read) {
        on_super(done.result);
    } else {
        on_opened(done.result);
    }
}

/// The segment is judged as far as it has arrived, while the rest is being read.
void LogScan::on_piece(const IoDone& done) {
    Piece& piece = pieces_[static_cast<std::size_t>(done.id - first_id_)];
    if (piece.arrived || static_cast<std::uint64_t>(done.result) != piece.bytes) {
        return refuse(Refusal::io, "R3", "a read returned fewer bytes than the file has");
    }
    piece.arrived = true;
    for (; pieces_whole_ < pieces_.size() && pieces_[pieces_whole_].arrived; ++pieces_whole_)
        front_ += pieces_[pieces_whole_].bytes;
    on_front();
}

void LogScan::on_listed(std::int64_t bytes) {
    const auto text = buffer_.span().first(static_cast<std::size_t>(bytes));
    std::size_t at = 0;
    while (at < text.size()) {
        const char kind = static_cast<char>(text[at]);
        const auto end =
            std::find(text.begin() + static_cast<std::ptrdiff_t>(at) + 1, text.end(), std::byte{0});
        const std::size_t length = static_cast<std::size_t>(end - text.begin()) - at - 1;
        const std::string_view name(
            static_cast<const char*>(static_cast<const void*>(text.data() + at + 1)), length);
        note_name(name, kind == DirectoryEntry::regular);
        at += length + 2;
        ++entries_;
    }
    if (bytes > 0) return;
    std::sort(present_.begin(), present_.end());
    if (!odd_.empty()) {
        report_.segment = odd_.front();
        return refuse(
            Refusal::not_regular, "R0",
            "a name of the log is not a regular file of its own; links are never followed");
    }
    if (options_.super) {
        report_.super = options_.super;
        admit_super();
    } else if (super_present_) {
        phase_ = Phase::super_open;
    } else if (present_.empty()) {
        phase_ = Phase::finished; // fresh
        report_.text = "there is no log here";
    } else {
        refuse(Refusal::super_lost, "R1", "segments exist, but SUPER does not");
    }
}

void LogScan::note_name(std::string_view name, bool regular) {
    if (name == super_name) {
        super_present_ = true;
        if (!regular) odd_.push_back(0);
        return;
    }
    if (name == lock_name) return;
    if (const std::uint64_t segment = parse_segment_name(name); segment != 0) {
        (regular ? present_ : odd_).push_back(segment);
    } else if (parse_segment_name(name, true) != 0 && regular) {
        report_.leftovers.push_back(std::string(name));
    } else {
        report_.ignored.push_back(std::string(name));
    }
}

void LogScan::on_super(std::int64_t bytes) {
    bool written = false; // something other than zeros
    std::uint32_t zero = 0;
    for (std::uint32_t slot = 0; slot < super_slots; ++slot) {
        const std::size_t at = slot * block_bytes;
        if (static_cast<std::size_t>(bytes) < at + block_bytes) {
            ++zero;
            continue;
        }
        Super super;
        const BlockContent content = decode(buffer_.span().subspan(at).first<block_bytes>(), super);
        zero += content == BlockContent::zero ? 1 : 0;
        written = written || content != BlockContent::zero;
        report_.slots_damaged += content == BlockContent::damaged ? 1 : 0;
        if (content != BlockContent::valid) continue;
        if (super.generation % super_slots != slot) { // written where another belongs
            ++report_.slots_damaged;
            continue;
        }
        if (!report_.super || report_.super->generation < super.generation) report_.super = super;
    }
    if (!report_.super) {
        // SUPER is durable before the first segment has its name.
        if (present_.empty() && !written) {
            report_.text = "a log was about to be created here";
            phase_ = Phase::finished;
            return;
        }
        return refuse(Refusal::super_lost, "R1", "no slot of SUPER can be read");
    }
    // Generation g fills slot g mod 4, so from 4 on no slot is zero.
    if (report_.super->generation >= super_slots) report_.slots_damaged += zero;
    admit_super();
}

void LogScan::admit_super() {
    const Super& super = *report_.super;
    if ((super.features.incompat & ~known_features.incompat) != 0) {
        return refuse(Refusal::unsupported_feature, "R1", "SUPER names a feature we lack");
    }
    report_.read_only = (super.features.ro_compat & ~known_features.ro_compat) != 0;
    if (super.segment_bytes % block_bytes != 0 || super.segment_bytes < segment_bytes_min ||
        super.segment_bytes > segment_bytes_max) {
        return refuse(Refusal::geometry, "R1", "SUPER states an impossible segment size");
    }
    if (super.layout != Layout::variable && super.layout != Layout::fixed) {
        return refuse(Refusal::unsupported_feature, "R1", "SUPER states an unknown layout");
    }
    // Segments are only released once a later one was opened.
    const bool opened =
        super.first_live_segment == 1 || super.highest_opened >= super.first_live_segment;
    if (super.first_live_segment == 0 || super.first_live_segment >= counters_end || !opened ||
        super.first_live_lsn == 0 || super.first_live_lsn > lsn_last + 1) {
        return refuse(Refusal::corrupt, "R1", "SUPER states an impossible start of the log");
    }
    report_.first_live_segment = super.first_live_segment;
    report_.first_live_lsn = super.first_live_lsn;
    // A log may begin above LSN 1, and crash before its first segment was written.
    if (super.first_live_segment == 1) report_.end.next_lsn = super.first_live_lsn;
    while (cursor_ < present_.size() && present_[cursor_] < super.first_live_segment)
        report_.leftovers.push_back(segment_name(present_[cursor_++]));
    // An older slot may name segments that were released since. A fence frame then says so.
    if (cursor_ < present_.size() && present_[cursor_] > super.first_live_segment &&
        report_.slots_damaged > 0) {
        relaxed_start_ = true;
        report_.first_live_segment = present_[cursor_];
    }
    open_or_finish();
}

std::uint64_t LogScan::expected_segment() const noexcept {
    return report_.segments.empty() ? report_.first_live_segment
                                    : report_.segments.back().segment + 1;
}

void LogScan::next_segment() {
    ++cursor_;
    open_or_finish();
}

void LogScan::open_or_finish() {
    if (cursor_ >= present_.size()) return finish();
    phase_ = Phase::open;
}

void LogScan::on_opened(std::int64_t size) {
    report_.segment = present_[cursor_];
    if (size == -ELOOP) {
        return refuse(Refusal::not_regular, "R0", "a segment is not a regular file of its own");
    }
    file_bytes_ = static_cast<std::uint64_t>(size);
    const std::uint64_t whole = report_.super->segment_bytes;
    const bool used = present_[cursor_] <= report_.super->highest_opened;
    if (file_bytes_ < whole && used) {
        return refuse(
            Refusal::corrupt, "R2",
            "the file is shorter than the segment, which was acknowledged at its full size");
    }
    report_.oversize = report_.oversize || file_bytes_ > whole;
    // Never more than the file has, whatever SUPER states.
    const std::uint64_t room = std::min(whole, file_bytes_ / block_bytes * block_bytes);
    // What no slot names is most likely a spare: its beginning tells. A lost slot may have named
    // it.
    const bool all = used || report_.slots_damaged > 0;
    wanted_ = all ? room : std::min<std::uint64_t>(options_.chunk_bytes, room);
    submitted_ = front_ = 0;
    pieces_.clear();
    pieces_whole_ = 0;
    first_id_ = next_id_;
    phase_ = Phase::read;
    if (wanted_ < block_bytes) return judge_unopened();
    if (buffer_.span().size() < room) {
        buffer_ = AlignedBytes(); // never two at once
        buffer_ = AlignedBytes(
            static_cast<std::size_t>(room),
            std::max<std::size_t>(storage_->limits().align_memory, 64));
    }
}

void LogScan::on_front() {
    if (!judge_ && front_ >= block_bytes) {
        SegmentHeader header;
        const BlockContent block = decode(buffer_.span().first<block_bytes>(), header);
        if (block == BlockContent::damaged) {
            return refuse(
                Refusal::corrupt, "R2",
                "the segment's first block is neither zero nor a header with a checksum that "
                "holds");
        }
        if (block == BlockContent::valid) begin_live(header);
    }
    if (judge_ && phase_ == Phase::read) judge_->arrived(static_cast<std::size_t>(front_));
    if (phase_ != Phase::read || front_ < wanted_) return;
    if (judge_) return judge_live();
    judge_unopened();
}

/// The header is there: is it one of this log's, and all of the segment worth reading?
void LogScan::begin_live(const SegmentHeader& header) {
    if (!admit(header)) return;
    const std::uint64_t whole = report_.super->segment_bytes;
    if (file_bytes_ < whole) {
        return refuse(Refusal::corrupt, "R2", "the file is shorter than its header states");
    }
    wanted_ = whole; // also of a file that looked like a spare
    if (options_.on_segment) options_.on_segment(header);
    const JudgeInput input{
        .content = buffer_.span().first(static_cast<std::size_t>(whole)),
        .header = header,
        .durable_hint = durable_hint_,
        .index_stride_blocks = options_.index_stride_blocks};
    judge_ = std::make_unique<SegmentJudge>(input, options_, report_.voids);
    submit_reads();
}

bool LogScan::admit(const SegmentHeader& header) {
    const Super& super = *report_.super;
    const auto no = [this](Refusal refusal, std::string text) {
        refuse(refusal, "R2", std::move(text));
        return false;
    };
    if (header.major != format_major) return no(Refusal::unsupported_feature, "a later version");
    if ((header.features.incompat & ~known_features.incompat) != 0) {
        return no(Refusal::unsupported_feature, "the segment uses a feature we lack");
    }
    if ((header.features.ro_compat & ~known_features.ro_compat) != 0) report_.read_only = true;
    if (header.block_bytes != block_bytes)
        return no(Refusal::geometry, "blocks are not 4096 bytes");
    if (header.segment_bytes != super.segment_bytes) {
        return no(Refusal::geometry, "the segment's size is not the log's");
    }
    if (header.uuid != super.uuid) return no(Refusal::foreign, "the segment is of another log");
    if (header.segment != present_[cursor_]) {
        return no(
            Refusal::misnamed, "the header says it is segment " + std::to_string(header.segment));
    }
    if (header.layout != super.layout) return no(Refusal::geometry, "the layout is not the log's");
    if (header.first_lsn == 0 || header.first_lsn > lsn_last + 1) {
        return no(Refusal::corrupt, "the header states an impossible LSN");
    }
    if (gap_ || header.segment != expected_segment()) {
        report_.segment = expected_segment();
        report_.lost_first = report_.end.next_lsn;
        report_.lost_last = header.first_lsn - 1;
        return no(Refusal::missing_segment, "a live segment's file is not there");
    }
    if (header.first_lsn != header.previous.next_lsn) {
        return no(Refusal::chain, "the first LSN does not follow the segment before");
    }
    return check_previous(header);
}

} // namespace promtact::wal
