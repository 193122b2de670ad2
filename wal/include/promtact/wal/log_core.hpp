// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The write-ahead log without thread, clock or system call: appends, time and completions go in,
// requests to a Storage come out. The blocking API and the flusher are a shell around it, and the
// simulator drives the same code. Format and rules: wal/FORMAT.md
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/frame.hpp>
#include <promtact/wal/scan.hpp>

namespace promtact::wal {

struct LogOptions {
    enum class Open : std::uint8_t { existing, create, either };

    Open open = Open::existing;
    LogUuid uuid{};            // of a log that is created
    std::uint64_t entropy = 0; // fresh random bits for every open: the salts come from it
    std::uint64_t segment_bytes = std::uint64_t{64} << 20; // of a log that is created
    Layout layout = Layout::variable;                      // of a log that is created
    Lsn first_lsn = 1; // of a log that is created: that of its first record, 1 to lsn_last
    std::uint32_t frame_bytes_max = 640U << 10;    // whole blocks, at most 1 MiB
    std::uint32_t pipeline_depth = 4;              // frames whose writes may be in flight, 1..16
    std::uint32_t syncs_max = 1;                   // syncs in flight, 1 or 2
    std::uint32_t spares = 2;                      // unused segments kept ready, 2..8
    bool recycle = true;                           // make spares of released segments
    std::uint32_t zero_chunk_bytes = 512U << 10;   // a spare is zeroed in pieces of this size
    std::uint64_t watermark_delay_ns = 10'000'000; // of idleness before one is written
    std::uint64_t space_retry_ns = 1'000'000'000;  // after the device was full
    ScanOptions scan{};
};

/// What became of a run of appended records.
struct AppendDone {
    enum class Outcome : std::uint8_t {
        durable,       // acknowledged
        indeterminate, // in flight when the log was poisoned: may be found at the next open, or not
        failed,        // never handed to the storage: will not be found
    };
    Lsn first = 0;
    Lsn last = 0;
    Outcome outcome = Outcome::durable;
    friend bool operator==(const AppendDone&, const AppendDone&) = default;
};

struct LogStats {
    std::uint64_t frames = 0;
    std::uint64_t bytes_written = 0; // frames with their padding and segment headers
    std::uint64_t syncs = 0;         // of segments
    std::uint64_t rewrites = 0;      // after EAGAIN or a short write
    std::uint64_t watermarks = 0;
    std::uint64_t rotations = 0;
    std::uint64_t spares_made = 0;
    std::uint64_t spares_recycled = 0;
    std::uint64_t segments_released = 0;
};

/// Owned and driven by one thread. Fail-stop: the first error of a write or sync poisons the log,
/// and only opening it anew clears that.
class LogCore {
  public:
    enum class State : std::uint8_t {
        opening, // pump() reads, judges, repairs
        refused, // open_error() says why; nothing was changed
        ready,
        closing,
        closed,
        poisoned,
    };

    /// Bytes the arena needs; it is one piece so that it can be registered with the kernel.
    static std::size_t arena_bytes(const LogOptions& options) noexcept;

    /// Lifetime: storage and arena outlive the log; the arena also outlives the storage's requests.
    /// Requires: options within their bounds; arena of arena_bytes(), aligned as the storage wants,
    /// at least to 8
    LogCore(Storage& storage, const LogOptions& options, std::span<std::byte> arena);
    LogCore(const LogCore&) = delete;
    LogCore& operator=(const LogCore&) = delete;

    [[nodiscard]] State state() const noexcept { return state_; }
    /// What the scan found. Requires: state is not opening
    [[nodiscard]] const ScanReport& report() const noexcept { return report_; }
    /// Errors: corrupt, format, io, denied, not_found, exists, no_space, refused, out_of_range
    /// (first_lsn). Requires: refused
    [[nodiscard]] const Error& open_error() const noexcept { return error_; }

    enum class Group : std::uint8_t {
        commit, // write what was appended
        gather, // leave it open for more: the caller knows that more is about to come
    };
    /// Takes completions and submits what may be submitted. now_ns never goes back.
    void pump(std::uint64_t now_ns, Group group = Group::commit);
    /// When pump() has something to do even if nothing completes; ~0 when never.
    [[nodiscard]] std::uint64_t deadline_ns() const noexcept;

    /// Adds a record after the last. Allocates nothing.
    /// Durable: when take_done() says so
    /// Errors: busy (pump and try again), no_space (the device is full; release_prefix() helps),
    /// invalid_argument (longer than record_bytes_max(), not 112 bytes in layout fixed), poisoned,
    /// out_of_range (lsn_last is taken)
    Result<Lsn> append(std::span<const std::byte> payload, RecordTag tag = {});

    /// Voids every record above keep_through; takes an LSN like a record and is acknowledged so.
    /// Errors: as append(); out_of_range (below what was released, or above what exists)
    Result<Lsn> truncate_suffix(Lsn keep_through);

    /// Records below first_live are needed no longer; whole segments of them are let go once a
    /// fence is durable. Errors: out_of_range (first_live is not durable yet); poisoned
    Result<void> release_prefix(Lsn first_live);

    /// Reports outcomes in LSN order, each LSN once. Returns how many entries it filled.
    std::size_t take_done(std::span<AppendDone> out) noexcept;

    /// Drains, marks the log closed cleanly. Pump until closed or poisoned.
    void close() noexcept;

    [[nodiscard]] Lsn durable() const noexcept { return durable_; }
    [[nodiscard]] Lsn last() const noexcept { return next_lsn_ - 1; }
    [[nodiscard]] Lsn first_live() const noexcept { return first_live_lsn_; }
    /// Number of the frame that is filled or that begins next; what shares it becomes durable
    /// together.
    [[nodiscard]] std::uint64_t group() const noexcept { return frame_tail_; }
    [[nodiscard]] std::uint64_t record_bytes_max() const noexcept;
    [[nodiscard]] bool poisoned() const noexcept { return state_ == State::poisoned; }
    /// The first error, with the storage's errno. Requires: poisoned()
    [[nodiscard]] const Error& poison() const noexcept { return error_; }
    [[nodiscard]] bool disk_full() const noexcept { return disk_full_; }
    [[nodiscard]] bool idle() const noexcept;
    [[nodiscard]] const LogStats& stats() const noexcept { return stats_; }
    [[nodiscard]] const std::vector<SegmentFacts>& segments() const noexcept { return live_; }
    [[nodiscard]] const std::vector<VoidRange>& voids() const noexcept { return voids_; }

    /// Starts reading the durable frame that holds `from`, or the next one; one at a time. buffer
    /// is aligned as the storage wants and at least one frame (frame_blocks_max blocks) long.
    /// Errors: busy (a read is under way); out_of_range (released, or not durable yet)
    Result<void> start_read(Lsn from, std::span<std::byte> buffer);
    struct FrameRead {
        FrameHeader header{};
        std::span<const std::byte> frame{}; // within the buffer
    };
    /// The frame, once it is there; nothing before. Walk it with RecordCursor; skip voids().
    /// Errors: corrupt (damaged since it was written), io
    std::optional<Result<FrameRead>> take_read();
    [[nodiscard]] Layout layout() const noexcept { return layout_; }

  private:
    enum class Op : std::uint8_t { frame, sync, super, maintain, repair, read };
    static constexpr std::size_t frames_max = 64;
    static constexpr std::uint32_t control_buffers = 4;
    static constexpr std::uint32_t files_max = 16;
    static constexpr std::uint32_t read_file = files_max - 1;
    static constexpr std::uint32_t rewrites_max = 3;
    static constexpr std::size_t released_kept = 2; // waiting to be made spares of

    struct Outstanding {
        std::uint64_t id = 0;
        Op op = Op::frame;
        std::uint64_t number = 0; // of the frame or sync
    };
    struct Frame {
        enum class State : std::uint8_t { queued, writing, written };
        State state = State::queued;
        FrameKind kind = FrameKind::data;
        Lsn last_lsn = 0;
        std::uint64_t segment = 0;
        std::uint64_t fence_segment = 0; // fence
        std::uint32_t file = 0;
        std::uint64_t offset = 0;
        std::span<std::byte> data{};
        std::uint32_t buffer = 0;
        std::uint32_t rewrites = 0;
        bool short_seen = false;
    };
    struct Sync {
        std::uint64_t through = 0; // covers frames numbered below
        bool done = false;
    };
    struct Current {
        std::uint64_t segment = 0; // 0: none yet
        std::uint64_t salt = 0;
        Chain chain = 0;
        std::uint32_t file = 0;
        std::uint32_t next_block = 1;
        bool header_due = false;
        bool sealed = false;
        bool recycled = false;
    };
    struct Spare {
        std::uint64_t segment = 0;
        std::uint32_t file = 0; // 0: not opened yet
        bool recycled = false;
    };
    struct Maintenance {
        enum class Step : std::uint8_t {
            idle,
            unlink,
            create,
            allocate,
            zero,
            sync,
            rename,
            sync_dir,
            reopen,
            recycle_open,
            abandon,
        };
        Step step = Step::idle;
        bool submitted = false;
        bool recycled = false;
        std::uint64_t segment = 0;
        std::uint64_t offset = 0;
        std::uint32_t file = 0;
        std::uint32_t rewrites = 0;
        std::string name{};
        std::string new_name{};
    };
    enum class SuperStep : std::uint8_t { idle, write, sync };
    enum class Repair : std::uint8_t {
        open_last,
        sync_last,
        sync_super,
        create_super,
        sync_dir,
        super,
        segment,
        done,
    };
    struct Reading {
        enum class Step : std::uint8_t { idle, open, read, ready };
        Step step = Step::idle;
        bool submitted = false;
        Lsn from = 0;
        std::uint64_t segment = 0;
        std::uint32_t block = 0;
        std::span<std::byte> buffer{};
        std::string name{};
        std::optional<Result<FrameRead>> result{};
    };

    // log_core.cpp
    bool submit(Op op, IoOp request, std::uint64_t number = 0);
    void on_done(const IoDone& done);
    void fail(int sys_errno, std::string context);
    enum class Write : std::uint8_t { whole, again, fatal };
    Write
    judge_write(std::int64_t result, std::size_t bytes, std::uint32_t& rewrites, bool& short_seen);
    Result<void> writable() const;
    static Error full();
    std::uint32_t take_file() noexcept;
    void give_file(std::uint32_t file) noexcept;
    [[nodiscard]] std::span<std::byte> arena_part(std::size_t& at, std::size_t bytes) noexcept;

    // log_commit.cpp
    Result<void> open_frame(std::size_t payload_bytes);
    Result<void> make_room(std::uint32_t blocks, bool use_reserve);
    Result<void> rotate(bool use_reserve);
    [[nodiscard]] std::uint32_t blocks_left() const noexcept;
    void close_frame();
    void push_frame(FrameKind kind, std::uint32_t blocks, Lsn last_lsn, std::uint32_t buffer);
    Result<void> push_control(FrameKind kind, std::uint64_t a, std::uint64_t b, bool use_reserve);
    Result<void> seal_current();
    Result<std::uint32_t> take_control_buffer();
    void encode_control(FrameKind kind, std::uint32_t index, std::uint64_t a, std::uint64_t b);
    [[nodiscard]] bool only_watermarks() const noexcept;
    void encode_segment_header(std::span<std::byte> out);
    [[nodiscard]] Frame& frame(std::uint64_t number) noexcept;
    [[nodiscard]] std::span<std::byte> buffer(std::uint32_t index) noexcept;
    void commit(Group group);
    void submit_frames();
    void submit_sync();
    void on_frame(std::uint64_t number, std::int64_t result);
    void on_sync(std::uint64_t number, std::int64_t result);
    void advance();
    void pop_frame();
    void idle_work();

    // log_open.cpp
    void on_scanned();
    void refuse(Errc code, std::string context);
    void adopt(const ScanReport& report);
    void begin_at(Lsn next);
    void repair();
    void on_repair(std::int64_t result);
    void enter(Repair step) noexcept;

    // log_maintain.cpp
    void write_super();
    void on_super(std::int64_t result);
    void on_super_durable();
    void maintain();
    bool choose_job();
    void submit_step();
    void on_step(std::int64_t result);
    bool on_step_failed(std::int64_t result);
    void finish_spare();
    std::uint64_t take_released();
    void start_create();
    void start_recycle(std::uint64_t segment);
    void fence_work();
    void close_work();

    // log_read.cpp
    void read_work();
    void on_read(std::int64_t result);
    void parse_read(std::size_t bytes);
    void end_read(Result<FrameRead> result);

    Storage* storage_;
    LogOptions options_;
    State state_ = State::opening;
    Error error_{};
    std::optional<LogScan> scan_{};
    ScanReport report_{};
    Layout layout_ = Layout::variable;
    std::uint64_t segment_bytes_ = 0;
    std::uint64_t now_ns_ = 0;
    LogStats stats_{};

    // Requests.
    std::vector<Outstanding> outstanding_{};
    std::uint64_t next_id_ = 0;
    std::uint32_t files_used_ = 1U | 1U << read_file; // bit per file number; SUPER and the reader

    // Buffers: data buffers first, then control buffers.
    std::vector<std::span<std::byte>> buffers_{};
    std::uint64_t buffers_free_ = 0;
    std::span<std::byte> super_buffer_{};
    std::span<std::byte> zeros_{};

    // The commit path. Frames are numbered from 0; frames_ is a ring over [frame_head_,
    // frame_tail_).
    FrameBuilder builder_{};
    std::optional<std::uint32_t> open_buffer_{};
    std::array<Frame, frames_max> frames_{};
    std::uint64_t frame_head_ = 0;
    std::uint64_t frame_tail_ = 0;
    std::uint32_t writing_ = 0;
    std::array<Sync, 2> syncs_{};
    std::uint64_t sync_head_ = 0;
    std::uint64_t sync_tail_ = 0;
    std::uint64_t sync_submitted_ = 0; // frames below are covered by a sync in flight or done
    std::uint64_t sync_done_ = 0;
    std::uint64_t sync_waits_for_ = 0; // the next sync covers the frames below, once written
    Current current_{};
    LogEnd previous_{}; // of the segment before the current one
    PreviousEnd previous_end_ = PreviousEnd::none;
    Lsn next_lsn_ = 1;
    Lsn durable_ = 0;
    Lsn submitted_ = 0; // highest LSN ever handed to the storage
    Lsn reported_ = 0;
    Lsn hinted_ = 0; // highest durable_lsn that a frame carries
    std::uint64_t idle_since_ns_ = 0;

    // SUPER.
    Super super_{};         // wanted
    Super super_written_{}; // in flight
    Super super_durable_{};
    SuperStep super_step_ = SuperStep::idle;
    bool super_submitted_ = false;
    bool super_dirty_ = false;
    bool super_whole_ = false; // write all slots: the file is new
    std::uint32_t super_rewrites_ = 0;

    // Segments.
    std::vector<SegmentFacts> live_{}; // the current one last
    std::vector<Spare> spares_{};
    std::vector<std::uint64_t> released_{};
    std::vector<std::string> leftovers_{};
    std::uint64_t last_segment_ = 0; // highest number in use, spares included
    Maintenance job_{};
    bool disk_full_ = false;
    std::uint64_t space_retry_at_ns_ = 0;
    Lsn first_live_lsn_ = 1;
    Lsn fence_wanted_ = 1;
    Lsn fence_pushed_ = 1;
    std::vector<VoidRange> voids_{};

    Repair repair_ = Repair::open_last;
    bool repair_submitted_ = false;
    Reading reading_{};
};

} // namespace promtact::wal
