// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One member of a Raft group without clock, disk, network or thread. Inputs only change it; take()
// says what is to be done. It is a value: a copy goes on by itself.
// Map of functions to paper and specification: raft/README.md
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/raft/configuration_change.hpp>
#include <promtact/raft/configuration_log.hpp>
#include <promtact/raft/counters.hpp>
#include <promtact/raft/log.hpp>
#include <promtact/raft/message.hpp>
#include <promtact/raft/options.hpp>
#include <promtact/raft/output.hpp>
#include <promtact/raft/progress.hpp>
#include <promtact/raft/recovered.hpp>
#include <promtact/raft/status.hpp>
#include <promtact/raft/store.hpp>

namespace promtact::raft {

class Core {
  public:
    /// A member as its store remembers it.
    /// Errors: invalid_argument (options); corrupt (what was recovered contradicts itself: a gap,
    /// an unknown kind of entry, a configuration that is none, a commit index beyond the log)
    static Result<Core> open(const Options& options, const Recovered& recovered);

    // Inputs. None of them sends, writes or waits. After a fault they do nothing.

    /// Time has passed; a member that was paused is told of all of it at once.
    void tick(std::uint64_t ticks = 1);
    /// A message has arrived, from anywhere: what no correct member sends is counted and dropped.
    void step(const Message& message);
    /// Adds a command to the log of the leader.
    ProposeResult propose(std::span<const std::byte> command);
    /// Changes the members. One change at a time; a joint configuration counts until it is left.
    ProposeResult propose_config(const ConfigurationChange& change, Force force = Force::no);
    /// Asks for a linearizable read; the answer is in Output::reads or failed_reads. Contexts are
    /// the owner's and need not be unique.
    ReadStatus read_index(std::uint64_t context);
    /// Hands leadership over; the end is in Output::transfer.
    TransferStatus transfer(NodeId to);
    /// Stands for election now, whatever the clock says. False for who may not.
    bool campaign();
    /// What a snapshot of the state after `index` must say about itself; its bytes are left 0.
    /// Nothing unless the index is behind the last snapshot, was handed out to be applied, and this
    /// member knows who took part then.
    [[nodiscard]] std::optional<SnapshotMeta> snapshot_at(Index index) const;
    /// A snapshot is durable and whole: the log before it may go, but for trailing entries.
    /// Errors: out_of_range, invalid_argument (not what snapshot_at() said)
    Result<void> compact(const SnapshotMeta& durable);
    /// The snapshot of Output::received is whole. False when it is of no use any more.
    bool install(Index snapshot);
    /// It is not: the sender must begin again.
    void install_failed(Index snapshot);
    /// The chunk's snapshot is gone from the store of this leader.
    void snapshot_unavailable(NodeId to);
    /// The transport could not deliver to it.
    void unreachable(NodeId to);
    /// A batch is durable.
    void persisted(const Durable& durable);
    /// The store has failed: the core stops and promises nothing more.
    void storage_failed();

    // Output.

    [[nodiscard]] bool has_output() const noexcept;
    /// Replaces the content of `reuse` by what is to be done.
    void take(Output& reuse);

    // Looking.

    [[nodiscard]] const Options& options() const noexcept { return options_; }
    [[nodiscard]] NodeId id() const noexcept { return options_.id; }
    [[nodiscard]] Role role() const noexcept { return role_; }
    [[nodiscard]] Term term() const noexcept { return term_; }
    [[nodiscard]] NodeId vote() const noexcept { return vote_; }
    [[nodiscard]] NodeId leader() const noexcept { return leader_; }
    [[nodiscard]] Index commit() const noexcept { return commit_; }
    /// Handed out to be applied.
    [[nodiscard]] Index applied() const noexcept { return applied_; }
    [[nodiscard]] const Log& log() const noexcept { return log_; }
    [[nodiscard]] const Configuration& configuration() const noexcept {
        return configurations_.latest();
    }
    [[nodiscard]] Index configuration_index() const noexcept {
        return configurations_.latest_index();
    }
    /// The last snapshot that is durable here.
    [[nodiscard]] const SnapshotMeta& snapshot() const noexcept { return snapshot_; }
    /// The oldest snapshot that is still being sent; the store keeps it and what came after.
    [[nodiscard]] Index oldest_snapshot_in_use() const noexcept;
    /// The leader's view of a follower, or nullptr.
    [[nodiscard]] const Progress* progress(NodeId follower) const noexcept;
    [[nodiscard]] NodeId transferring_to() const noexcept { return transfer_to_; }
    /// Bytes of entries in the log of this leader that are not committed, entry_cost included.
    [[nodiscard]] std::uint64_t uncommitted_bytes() const noexcept;
    /// Reads that wait for an answer.
    [[nodiscard]] std::size_t reads_waiting() const noexcept;
    [[nodiscard]] Fault fault() const noexcept { return fault_; }
    [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
    /// Equal for equal states, whatever way led there. Counters are left out; so is time, on
    /// demand: for a search in which members stand by campaign() and no tick comes.
    [[nodiscard]] Digest128 fingerprint(Timing timing = Timing::included) const;
    /// One line for people.
    [[nodiscard]] std::string describe() const;

  private:
    struct Vote {
        NodeId voter = no_node;
        bool granted = false;
    };
    struct Held {
        std::uint64_t batch = 0;
        Message message{};
    };
    struct LeaderRead {
        std::uint64_t context = 0;
        NodeId from = no_node; // no_node: of this member's owner
    };
    struct Incoming {
        NodeId from = no_node;
        SnapshotMeta meta{};
        std::uint64_t received = 0; // bytes, durable or in a batch
        std::uint64_t batch = 0;    // of the last chunk
        bool whole = false;         // the last chunk has come
        bool announced = false;     // to the owner, by Output::received
    };
    enum class Campaign : std::uint8_t { pre_vote, election, transfer };

    Core(const Options& options, const Recovered& recovered);

    // core.cpp
    void tick_leader(std::uint64_t ticks);
    void tick_other(std::uint64_t ticks);
    void fail(Fault fault);
    [[nodiscard]] Message make(MessageType type, NodeId to) const;
    void send(Message message, std::uint64_t batch = 0);
    [[nodiscard]] bool stalled() const noexcept;
    void draw_timeout();
    void follow(Term term, NodeId leader);

    // validate.cpp
    [[nodiscard]] std::optional<Drop> refuse(const Message& m) const;
    void drop(Drop why) noexcept;
    [[nodiscard]] bool hears_leader() const noexcept;
    [[nodiscard]] bool is_stranger(const Message& m) const noexcept;

    // step.cpp
    [[nodiscard]] bool settle_term(const Message& m);
    void answer_stale(const Message& m);
    [[nodiscard]] bool accept_leader(const Message& m);
    void dispatch(const Message& m);

    // election.cpp
    [[nodiscard]] bool may_campaign() const noexcept;
    void start_campaign(Campaign kind);
    void ask_for_votes(bool only_missing);
    [[nodiscard]] bool up_to_date(const Message& m) const noexcept;
    void on_pre_vote(const Message& m);
    void on_vote(const Message& m);
    void on_vote_reply(const Message& m);
    void record_vote(NodeId voter, bool granted);
    void count_votes();
    void become_leader();
    void leave_leadership(Failure why, bool superseded);
    [[nodiscard]] bool quorum_is_active() const;

    // append.cpp: the follower
    void on_append(const Message& m);
    void on_heartbeat(const Message& m);
    [[nodiscard]] bool agrees_with_committed(const Message& m);
    void reject_append(const Message& m);
    [[nodiscard]] bool take_entries(const Entries& entries, std::uint32_t skip);
    void acknowledge(Index index);
    void advance_commit(Index index);

    // replication.cpp: the leader
    void on_append_reply(Progress& follower, const Message& m);
    void on_heartbeat_reply(Progress& follower, const Message& m);
    void maybe_commit();
    void broadcast_heartbeat();
    void send_heartbeat(Progress& follower, std::uint64_t round);
    void replicate(Progress& follower);
    void send_append(Progress& follower);
    Index append_entry(EntryKind kind, std::span<const std::byte> data);
    [[nodiscard]] Progress* find(NodeId follower) noexcept;
    [[nodiscard]] Index match_of(NodeId member) const noexcept;

    // membership.cpp
    [[nodiscard]] std::optional<ProposeStatus> refuse_change(const Configuration& after) const;
    Index
    append_configuration(const Configuration& configuration, std::span<const std::byte> context);
    void sync_progress();
    void after_commit();
    [[nodiscard]] bool is_retiring() const noexcept;
    void retire();

    // transfer.cpp
    void on_timeout_now(const Message& m);
    void send_timeout_now(Progress& follower);
    void end_transfer(std::optional<Failure> failure);

    // reads.cpp
    void on_read(const Message& m);
    void on_read_reply(const Message& m);
    [[nodiscard]] bool round_due() const noexcept;
    [[nodiscard]] bool forward_due() const noexcept;
    void start_round();
    void finish_round();
    void maybe_finish_round();
    [[nodiscard]] bool lease_holds() const noexcept;
    void answer(const LeaderRead& read, Index index);
    void fail_reads(Failure why);
    void forward_reads();
    void tick_reads(std::uint64_t ticks);

    // snapshot.cpp
    void on_snapshot(const Message& m);
    void on_snapshot_reply(Progress& follower, const Message& m);
    void send_chunk(Progress& follower);
    void reply_snapshot(NodeId to, const SnapshotMeta& meta, std::uint64_t bytes, bool reject);
    [[nodiscard]] bool incoming_is(NodeId from, const SnapshotMeta& meta) const noexcept;
    [[nodiscard]] bool received_ready() const noexcept;

    // take.cpp
    void take_batch(Output& out);
    void take_apply(Output& out);
    void release_held();
    void fold_waiting(TraceHash& hash) const;

    Options options_;
    Fault fault_ = Fault::none;
    Counters counters_{};

    // What every member keeps. Source: dissertation, figure 3.1
    Term term_ = 0;
    NodeId vote_ = no_node;
    Log log_;
    ConfigurationLog configurations_{};
    SnapshotMeta snapshot_{};
    Index commit_ = 0;
    Index applied_ = 0;
    Role role_ = Role::follower;
    NodeId leader_ = no_node;
    Index verified_ = 0; // the log agrees with that of leader_ up to here

    // Time.
    std::uint64_t elapsed_ = 0; // since a leader was heard, a vote granted, a campaign begun
    std::uint64_t timeout_ = 0;
    std::uint64_t draws_ = 0;
    std::uint64_t heartbeat_elapsed_ = 0; // also for asking candidates' voters again
    std::uint64_t stall_elapsed_ = 0;     // since a batch became durable, while one is under way
    bool guarded_ = false; // just started: keeps the promise of a lease it may have forgotten

    // Elections.
    std::uint64_t round_ = 0; // of pre-votes
    bool by_transfer_ = false;
    std::vector<Vote> votes_{};

    // The leader.
    std::vector<Progress> progress_{}; // by id
    std::vector<Index> scratch_{};
    Index term_start_ = 0; // its no-op
    std::uint64_t leader_ticks_ = 0;
    std::uint64_t retiring_ticks_ = 0;
    bool due_ = false; // take() has something to send to followers
    NodeId transfer_to_ = no_node;
    std::uint64_t transfer_elapsed_ = 0;

    // Reads of the leader.
    std::vector<LeaderRead> reads_waiting_{};
    std::vector<LeaderRead> reads_asked_{}; // of the round under way
    std::uint64_t read_round_ = 0;          // the last number used in this term
    std::uint64_t asked_round_ = 0;         // 0: none under way
    Index asked_index_ = 0;
    std::uint64_t lease_round_ = 0; // a round whose quorum would renew the lease, and when it
    std::uint64_t lease_asked_ = 0; // began
    std::uint64_t lease_until_ = 0;
    bool lease_void_ = false; // somebody was told to stand for election in this term
    // Reads of a follower, asked of its leader.
    std::vector<std::uint64_t> forward_waiting_{};
    std::vector<std::uint64_t> forward_asked_{};
    std::uint64_t forward_number_ = 0;
    std::uint64_t forward_elapsed_ = 0;        // since it was asked last
    std::uint64_t forward_age_ = 0;            // since the oldest came
    std::vector<ReadyRead> reads_confirmed_{}; // wait to be applied

    // Snapshots that arrive.
    std::optional<Incoming> incoming_{};
    std::optional<ReceivedChunk> chunk_{}; // for the next batch
    std::optional<SnapshotMeta> installed_{};

    // Output.
    std::uint64_t next_batch_ = 1;
    std::uint64_t durable_batch_ = 0;
    std::uint64_t hard_batch_ = 0; // brings the present term and vote
    bool hard_dirty_ = false;
    Index released_ = 0;
    std::vector<Message> now_{};
    std::vector<Held> held_{};
    std::vector<FailedRead> failed_reads_{};
    std::vector<FailedProposals> failed_proposals_{};
    std::optional<TransferEnd> transfer_end_{};
};

} // namespace promtact::raft
