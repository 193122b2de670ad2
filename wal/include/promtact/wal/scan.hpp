// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reads a log directory and decides which prefix of it stands, and why. Step-driven: it submits
// reads to a Storage and is told time by nobody. It never writes. Rules R0 to R5 of wal/FORMAT.md
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/frame.hpp>

namespace promtact::wal {

enum class Verdict : std::uint8_t {
    fresh,  // there is no log here
    ok,     // everything written stands
    prefix, // an unacknowledged tail was torn by a crash; the prefix before it stands
    refuse, // see Refusal; nothing may be changed
};
std::string_view to_string(Verdict verdict) noexcept;

enum class Refusal : std::uint8_t {
    none,
    super_lost,          // segments exist, but no slot of SUPER can be read
    missing_segment,     // a live segment's file is not there
    corrupt,             // acknowledged records are damaged, or what no crash explains
    corrupt_tail,        // the tail holds content that no crash explains
    chain,               // a frame or segment does not continue the one before it
    sequence,            // a frame's LSN does not follow
    misdirected,         // a frame lies where another belongs
    misnamed,            // a segment's number is not its file's
    geometry,            // a block or segment size we do not work with
    unsupported_feature, // a version, feature bit or frame kind we do not know
    foreign,             // a segment of another log
    not_regular,         // a link, directory, pipe or a file with two names
    io,                  // the storage could not read
    denied,              // this process may not read; nothing is said of the content
};
std::string_view to_string(Refusal refusal) noexcept;
/// What an open that is refused so answers: format, io, denied, refused or corrupt.
Errc errc_of(Refusal refusal) noexcept;

/// Where a frame begins: one entry of a sparse index.
struct IndexEntry {
    Lsn first_lsn = 0;
    std::uint32_t block = 0;
};

/// A live segment.
struct SegmentFacts {
    std::uint64_t segment = 0;
    std::uint64_t salt = 0;
    Lsn first_lsn = 1;
    LogEnd end{}; // of what verified in it
    std::uint32_t end_block = 1;
    std::uint32_t frames = 0;
    bool sealed = false;
    bool recycled = false;
    std::vector<IndexEntry> index{}; // a frame every few blocks
};

/// Records first <= lsn <= last were voided by a suffix truncation.
struct VoidRange {
    Lsn first = 0;
    Lsn last = 0;
    friend bool operator==(const VoidRange&, const VoidRange&) = default;
};
/// Adds [first, last], which lies behind or swallows what is there.
void add_void(std::vector<VoidRange>& ranges, VoidRange range);

struct ScanReport {
    Verdict verdict = Verdict::fresh;
    Refusal refusal = Refusal::none;
    int sys_errno = 0;
    std::string_view rule{}; // "R0" .. "R5": which rule decided
    std::string text{};      // the verdict in words
    std::uint64_t segment = 0;
    std::uint32_t block = 0;
    /// When refused or cut: records from lost_first may be lost, and lost_last is the highest of
    /// which there is any trace; 0 when there is none.
    Lsn lost_first = 0;
    Lsn lost_last = 0;
    bool read_only = false;        // an unknown ro-compat feature: may be read, not written
    bool ambiguous_tail = false;   // the medium cannot tell whether the tail tore or rotted
    std::uint32_t torn_frames = 0; // frame headers found behind the prefix
    bool oversize = false;         // a segment's file is longer than the segment

    std::optional<Super> super{};
    std::uint32_t slots_damaged = 0;
    std::vector<SegmentFacts> segments{};
    LogEnd end{};          // of the log; segment 0 when there is none yet
    bool tail_zero = true; // nothing but zeros behind the end: may be appended to in place
    /// Closed cleanly at the end found, and nothing of this use of the last file lies behind it.
    bool closed = false;
    Lsn first_live_lsn = 1;
    std::uint64_t first_live_segment = 1;
    std::vector<VoidRange> voids{};
    std::vector<std::uint64_t> spares{};  // complete and unused, contiguous behind the last
    std::vector<std::string> leftovers{}; // ours, of no use any more: to be unlinked
    std::vector<std::string> ignored{};   // not ours
};

struct ScanOptions {
    bool strict = false; // refuse an ambiguous tail
    /// Reading one record's worth at a time would be slow, reading too much costs memory.
    std::uint32_t chunk_bytes = 1U << 20;
    std::uint32_t index_stride_blocks = 16;
    /// Judges as if SUPER said this, and does not read SUPER: what a rebuilt one would lead to.
    std::optional<Super> super{};
    /// Called for every live segment before its frames.
    std::function<void(const SegmentHeader&)> on_segment{};
    /// Called for every verified frame in order, before the verdict: act on what it shows only when
    /// the scan does not refuse.
    std::function<void(const FrameHeader&, std::span<const std::byte> frame)> on_frame{};
};

/// Memory aligned for direct I/O, in huge pages where it is large. Its size is fixed.
class AlignedBytes {
  public:
    AlignedBytes() = default;
    /// Shape: not initialized
    AlignedBytes(std::size_t bytes, std::size_t alignment);
    [[nodiscard]] std::span<std::byte> span() noexcept { return {store_.get(), bytes_}; }

  private:
    struct Free {
        std::align_val_t alignment;
        void operator()(std::byte* memory) const noexcept { ::operator delete(memory, alignment); }
    };
    std::unique_ptr<std::byte, Free> store_{};
    std::size_t bytes_ = 0;
};

class SegmentJudge;

/// Reads and judges a log directory without changing anything: rules R0 to R5 of wal/FORMAT.md.
class LogScan {
  public:
    /// File numbers the scan uses in the storage.
    static constexpr std::uint32_t super_file = 0;
    static constexpr std::uint32_t segment_file = 1;

    /// Lifetime: storage outlives the scan, and nothing else submits to it until finished().
    LogScan(Storage& storage, const ScanOptions& options);
    ~LogScan();
    LogScan(const LogScan&) = delete;
    LogScan& operator=(const LogScan&) = delete;

    /// Takes completions and submits what may be submitted; never waits.
    void step();
    /// step() until finished, waiting for the storage. For callers with a thread of their own.
    void run();
    [[nodiscard]] bool finished() const noexcept { return phase_ == Phase::finished; }
    /// Requires: finished()
    [[nodiscard]] const ScanReport& report() const noexcept { return report_; }

  private:
    enum class Phase : std::uint8_t {
        list,
        super_open,
        super_read,
        open,
        read,
        drain, // the verdict is there, but not every answer: they write into our buffer
        finished,
    };
    struct Piece {
        std::uint64_t bytes = 0;
        bool arrived = false;
    };

    void submit_next();
    void submit_reads();
    void submit(IoOp op);
    void on_done(const IoDone& done);
    void on_listed(std::int64_t bytes);
    void note_name(std::string_view name, bool regular);
    void on_super(std::int64_t bytes);
    void admit_super();
    void on_opened(std::int64_t size);
    void on_piece(const IoDone& done);
    void on_front();
    void begin_live(const SegmentHeader& header);
    void next_segment();
    void open_or_finish();
    void judge_live();
    void judge_unopened();
    void judge_ambiguous();
    bool admit(const SegmentHeader& header);
    bool check_previous(const SegmentHeader& header);
    [[nodiscard]] bool spare_follows(std::uint64_t segment) const noexcept;
    [[nodiscard]] std::uint64_t expected_segment() const noexcept;
    void finish();
    void accept();
    void refuse(Refusal refusal, std::string_view rule, std::string text);

    Storage* storage_;
    ScanOptions options_;
    ScanReport report_{};
    Phase phase_ = Phase::list;
    AlignedBytes buffer_{};
    std::vector<std::uint64_t> present_{}; // segment numbers in the directory, ascending
    std::vector<std::uint64_t> odd_{};     // those that are not regular files
    std::string name_{};                   // of the file being opened
    bool super_present_ = false;
    std::uint64_t entries_ = 0;
    std::size_t cursor_ = 0; // into present_
    std::uint64_t file_bytes_ = 0;
    std::uint64_t wanted_ = 0;    // bytes of the present segment to read
    std::uint64_t submitted_ = 0; // of them
    std::uint64_t front_ = 0;     // everything before has arrived
    std::uint64_t next_id_ = 0;
    std::uint64_t first_id_ = 0; // of the present phase; older answers are strangers
    std::uint32_t in_flight_ = 0;
    bool relaxed_start_ = false; // damaged slots: a fence frame may excuse missing segments
    std::uint64_t fence_segment_ = 0;
    Lsn fence_lsn_ = 0;
    bool gap_ = false;
    Lsn durable_hint_ = 0;
    /// Why the newest live segment did not verify to its end; it stands if it turns out to be last.
    ScanReport tail_{};
    Lsn tail_acknowledged_ = 0;
    std::uint32_t tail_misplaced_ = 0;      // a block of the last segment; 0: none
    std::vector<Piece> pieces_{};           // of the present segment, in order
    std::size_t pieces_whole_ = 0;          // of which this many make up the front
    std::unique_ptr<SegmentJudge> judge_{}; // of the present segment, once its header stands
};

} // namespace promtact::wal
