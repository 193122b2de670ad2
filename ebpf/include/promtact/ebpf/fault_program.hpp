// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The two fault programs as one loaded object with one policy table: XDP ingress drop and
// partition, TC egress drop and corruption. Nothing is pinned; everything is held by descriptors,
// so that the death of the process removes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/ebpf/attach_target.hpp>
#include <promtact/ebpf/attachment.hpp>
#include <promtact/ebpf/fault_policy.hpp>

namespace promtact::ebpf {

/// What the kernel says about one loaded program.
struct ProgramFacts {
    std::string name{};
    std::uint32_t id = 0;
    std::uint32_t jited_bytes = 0; // 0: the program is interpreted
    std::uint32_t translated_bytes = 0;
    std::uint32_t verified_instructions = 0; // 0 before Linux 5.16
    std::vector<std::uint32_t> map_ids{};    // ascending
};

/// Sums over all CPUs, by promtact_fault_counter.
class FaultCounters {
  public:
    std::uint64_t operator[](promtact_fault_counter reason) const noexcept {
        PROMTACT_ASSERT(reason < PROMTACT_COUNT_ENTRIES);
        return values[reason];
    }
    std::array<std::uint64_t, PROMTACT_COUNT_ENTRIES> values{};
    friend bool operator==(const FaultCounters&, const FaultCounters&) = default;
};

/// Ids of the programs of the whole host that are called promtact*, ascending: ours, and those of
/// other runs. Errors: denied naming CAP_SYS_ADMIN.
Result<std::vector<std::uint32_t>> our_programs();

struct FrameVerdict {
    bool passed = false;
    std::vector<std::byte> frame{}; // after the program ran
};

/// Owns the loaded programs and their policy map; what is attached is detached with it.
class FaultProgram {
  public:
    struct Options {
        /// Also loads a program that reads behind the end of a packet. The verifier must refuse it,
        /// and with it the whole object: the proof that it looks.
        bool with_unsafe_program = false;
    };

    /// Opens, verifies and loads. The policy starts out as "everything passes".
    /// Errors: denied naming CAP_BPF and CAP_NET_ADMIN; refused with the verifier's reason;
    /// unsupported.
    static Result<FaultProgram> load(const Options& options);
    static Result<FaultProgram> load() { return load(Options{}); }

    FaultProgram(FaultProgram&&) noexcept;
    FaultProgram& operator=(FaultProgram&&) = delete;
    ~FaultProgram();

    const ProgramFacts& xdp_facts() const noexcept;
    const ProgramFacts& tc_facts() const noexcept;
    /// The map both programs obey; each program's map_ids must contain it.
    std::uint32_t policy_map_id() const noexcept;

    /// Puts the policy in force: once it returns, no packet is decided by an older one. Packet
    /// indexes and counters go on.
    /// Errors: invalid_argument; corrupt when the map reads back differently.
    Result<void> write(const FaultPolicy& policy);
    /// The policy in force, read through bpf(2) and not through the mapping write() stores into.
    Result<FaultPolicy> read() const;
    /// How many policies were written.
    Result<std::uint64_t> epoch() const;

    Result<FaultCounters> counters() const;
    /// Packet indexes and counters back to zero. Requires: no traffic on the attached links.
    Result<void> reset();

    /// Detached by detach() or the destructor.
    /// Errors: see Attachment; exists when this hook is attached already.
    Result<void> attach_xdp(const AttachTarget& target, XdpMode mode);
    Result<void>
    attach_tc(const AttachTarget& target, TcMechanism mechanism = TcMechanism::automatic);
    /// Requires: attach_tc succeeded
    TcMechanism tc_mechanism() const noexcept;
    Result<void> detach();

    /// Runs a program once on a frame without any interface (BPF_PROG_TEST_RUN).
    Result<FrameVerdict> run_xdp(std::span<const std::byte> frame);
    Result<FrameVerdict> run_tc(std::span<const std::byte> frame);

  private:
    class Loaded;
    explicit FaultProgram(std::unique_ptr<Loaded> loaded) noexcept;
    std::unique_ptr<Loaded> loaded_;
};

} // namespace promtact::ebpf
