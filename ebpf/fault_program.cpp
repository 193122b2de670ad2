// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/ebpf/fault_program.hpp>
#include <promtact/ebpf/verifier_log.hpp>

#include "fault.skel.h"

namespace promtact::ebpf {
namespace {

constexpr std::uint32_t only_key = 0;
constexpr std::string_view our_prefix = "promtact";
constexpr std::size_t programs_max = 100'000;
constexpr std::size_t maps_max = 16;
constexpr std::size_t frame_bytes_max = 64 * 1024;

struct SkeletonDeleter {
    void operator()(::fault* skeleton) const noexcept { ::fault::destroy(skeleton); }
};
using Skeleton = std::unique_ptr<::fault, SkeletonDeleter>;

Error load_error(int sys_errno, const VerifierLog& log) {
    const std::string what = "load the fault programs";
    const std::string refusal = log.refusal();
    // EACCES and EINVAL with statistics in the log are the verifier's word, not a missing right.
    if (!refusal.empty())
        return Error{Errc::refused, sys_errno, what + ": the verifier refused: " + refusal};
    if (sys_errno == EPERM || sys_errno == EACCES) {
        return Error::from_errno(
            sys_errno, what + ": needs CAP_BPF and CAP_NET_ADMIN in the initial user namespace "
                              "(run as root)");
    }
    if (sys_errno == ENOSYS)
        return Error{Errc::unsupported, sys_errno, what + ": the kernel lacks CONFIG_BPF_SYSCALL"};
    return Error::from_errno(sys_errno, what);
}

Result<ProgramFacts> read_facts(const bpf_program& program) {
    std::array<std::uint32_t, maps_max> maps{};
    bpf_prog_info info{};
    info.nr_map_ids = static_cast<std::uint32_t>(maps.size());
    info.map_ids = reinterpret_cast<std::uintptr_t>(maps.data());
    std::uint32_t size = sizeof info;
    if (const int status = bpf_obj_get_info_by_fd(bpf_program__fd(&program), &info, &size);
        status != 0)
        return Error::from_errno(-status, "read facts of a loaded program");
    ProgramFacts facts;
    facts.name = info.name;
    facts.id = info.id;
    facts.jited_bytes = info.jited_prog_len;
    facts.translated_bytes = info.xlated_prog_len;
    facts.verified_instructions = info.verified_insns;
    const std::size_t count = std::min<std::size_t>(info.nr_map_ids, maps.size());
    facts.map_ids.assign(maps.begin(), maps.begin() + static_cast<std::ptrdiff_t>(count));
    std::sort(facts.map_ids.begin(), facts.map_ids.end());
    return facts;
}

Result<std::uint32_t> read_map_id(int map_fd) {
    bpf_map_info info{};
    std::uint32_t size = sizeof info;
    if (const int status = bpf_obj_get_info_by_fd(map_fd, &info, &size); status != 0)
        return Error::from_errno(-status, "read facts of the policy map");
    return info.id;
}

/// The policy table, mapped so that a new policy takes effect by one store.
class TableMapping {
  public:
    static Result<TableMapping> map(int map_fd) {
        void* at = ::mmap(
            nullptr, sizeof(promtact_fault_table), PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
        if (at == MAP_FAILED) return Error::from_errno(errno, "map the policy table");
        return TableMapping{static_cast<promtact_fault_table*>(at)};
    }
    TableMapping(TableMapping&& other) noexcept : table_(std::exchange(other.table_, nullptr)) {}
    TableMapping& operator=(TableMapping&&) = delete;
    TableMapping(const TableMapping&) = delete;
    ~TableMapping() {
        if (table_ != nullptr) static_cast<void>(::munmap(table_, sizeof *table_));
    }
    promtact_fault_table& operator*() const noexcept { return *table_; }
    promtact_fault_table* operator->() const noexcept { return table_; }

  private:
    explicit TableMapping(promtact_fault_table* table) noexcept : table_(table) {}
    promtact_fault_table* table_;
};

/// Waits until no program that was running is still running. The kernel does that when an entry of
/// a map of maps is replaced.
/// Source: maybe_wait_bpf_programs() in kernel/bpf/syscall.c
class ProgramBarrier {
  public:
    static Result<ProgramBarrier> make(int inner_fd) {
        bpf_map_create_opts options{};
        options.sz = sizeof options;
        options.inner_map_fd = static_cast<std::uint32_t>(inner_fd);
        UniqueFd outer{bpf_map_create(
            BPF_MAP_TYPE_ARRAY_OF_MAPS, "promtact_wait", sizeof(std::uint32_t),
            sizeof(std::uint32_t), 1, &options)};
        if (!outer) return Error::from_errno(errno, "create the map that waits for programs");
        return ProgramBarrier{std::move(outer), inner_fd};
    }
    Result<void> wait() const {
        const int status = bpf_map_update_elem(outer_.get(), &only_key, &inner_fd_, BPF_ANY);
        if (status != 0) return Error::from_errno(-status, "wait for running programs");
        return {};
    }

  private:
    ProgramBarrier(UniqueFd outer, int inner_fd) noexcept
        : outer_(std::move(outer)), inner_fd_(inner_fd) {}
    UniqueFd outer_;
    int inner_fd_;
};

Result<FrameVerdict>
test_run(int program_fd, std::span<const std::byte> frame, std::uint32_t drop) {
    if (frame.empty() || frame.size() > frame_bytes_max)
        return Error{Errc::invalid_argument, 0, "a frame of a test run has 1 to 65536 bytes"};
    FrameVerdict verdict;
    verdict.frame.resize(frame_bytes_max);
    bpf_test_run_opts options{};
    options.sz = sizeof options;
    options.data_in = frame.data();
    options.data_size_in = static_cast<std::uint32_t>(frame.size());
    options.data_out = verdict.frame.data();
    options.data_size_out = static_cast<std::uint32_t>(verdict.frame.size());
    options.repeat = 1;
    if (const int status = bpf_prog_test_run_opts(program_fd, &options); status != 0)
        return Error::from_errno(-status, "run a fault program on a frame");
    PROMTACT_ASSERT(options.data_size_out <= verdict.frame.size());
    verdict.frame.resize(options.data_size_out);
    verdict.passed = options.retval != drop;
    return verdict;
}

} // namespace

Result<std::vector<std::uint32_t>> our_programs() {
    std::vector<std::uint32_t> ids;
    std::uint32_t id = 0;
    for (std::size_t seen = 0; seen < programs_max; ++seen) {
        const int status = bpf_prog_get_next_id(id, &id);
        if (status == -ENOENT) return ids;
        if (status != 0)
            return Error::from_errno(-status, "list programs: needs CAP_SYS_ADMIN (run as root)");
        const UniqueFd fd{bpf_prog_get_fd_by_id(id)};
        bpf_prog_info info{};
        std::uint32_t size = sizeof info;
        if (!fd || bpf_obj_get_info_by_fd(fd.get(), &info, &size) != 0) continue; // gone meanwhile
        if (std::string_view{info.name}.substr(0, our_prefix.size()) == our_prefix)
            ids.push_back(id);
    }
    return Error{Errc::out_of_range, 0, "list programs: there are too many"};
}

class FaultProgram::Loaded {
  public:
    Loaded(Skeleton owned, TableMapping mapped, ProgramBarrier waiting)
        : skeleton(std::move(owned)), table(std::move(mapped)), barrier(std::move(waiting)) {}

    int policy_fd() const { return bpf_map__fd(skeleton->maps.promtact_policy); }
    int state_fd() const { return bpf_map__fd(skeleton->maps.promtact_state); }
    int counts_fd() const { return bpf_map__fd(skeleton->maps.promtact_counts); }
    int xdp_fd() const { return bpf_program__fd(skeleton->progs.promtact_xdp); }
    int tc_fd() const { return bpf_program__fd(skeleton->progs.promtact_tc); }

    Skeleton skeleton;
    TableMapping table;
    ProgramBarrier barrier;
    ProgramFacts xdp{};
    ProgramFacts tc{};
    std::uint32_t policy_map_id = 0;
    std::optional<Attachment> xdp_attachment{};
    std::optional<Attachment> tc_attachment{};
};

FaultProgram::FaultProgram(std::unique_ptr<Loaded> loaded) noexcept : loaded_(std::move(loaded)) {}
FaultProgram::FaultProgram(FaultProgram&&) noexcept = default;
FaultProgram::~FaultProgram() = default;

Result<FaultProgram> FaultProgram::load(const Options& options) {
    const VerifierLog log;
    Skeleton skeleton{::fault::open()};
    if (skeleton == nullptr) return Error::from_errno(errno, "open the fault programs");
    if (options.with_unsafe_program) {
        const int status = bpf_program__set_autoload(skeleton->progs.promtact_unsafe, true);
        PROMTACT_ASSERT(status == 0);
    }
    if (const int status = ::fault::load(skeleton.get()); status != 0)
        return load_error(-status, log);
    kill_point();
    PROMTACT_TRY_ASSIGN(
        TableMapping table, TableMapping::map(bpf_map__fd(skeleton->maps.promtact_policy)));
    PROMTACT_TRY_ASSIGN(
        ProgramBarrier barrier, ProgramBarrier::make(bpf_map__fd(skeleton->maps.promtact_state)));
    auto loaded =
        std::make_unique<Loaded>(std::move(skeleton), std::move(table), std::move(barrier));
    PROMTACT_TRY_ASSIGN(loaded->xdp, read_facts(*loaded->skeleton->progs.promtact_xdp));
    PROMTACT_TRY_ASSIGN(loaded->tc, read_facts(*loaded->skeleton->progs.promtact_tc));
    PROMTACT_TRY_ASSIGN(loaded->policy_map_id, read_map_id(loaded->policy_fd()));
    return FaultProgram{std::move(loaded)};
}

const ProgramFacts& FaultProgram::xdp_facts() const noexcept {
    return loaded_->xdp;
}
const ProgramFacts& FaultProgram::tc_facts() const noexcept {
    return loaded_->tc;
}
std::uint32_t FaultProgram::policy_map_id() const noexcept {
    return loaded_->policy_map_id;
}

Result<void> FaultProgram::write(const FaultPolicy& policy) {
    PROMTACT_TRY(check(policy));
    promtact_fault_table& table = *loaded_->table;
    PROMTACT_ASSERT(table.active <= 1);
    const std::uint32_t next = 1 - table.active;
    table.banks[next] = to_shared(policy);
    ++table.epoch;
    // Release: whoever sees the new index sees the whole bank.
    std::atomic_ref<promtact_u32>{table.active}.store(next, std::memory_order_release);
    PROMTACT_TRY(loaded_->barrier.wait());
    PROMTACT_TRY_ASSIGN(const FaultPolicy found, read());
    if (found != policy)
        return Error{Errc::corrupt, 0, "the policy map reads back another policy than written"};
    return {};
}

Result<FaultPolicy> FaultProgram::read() const {
    promtact_fault_table table{};
    const int status = bpf_map_lookup_elem(loaded_->policy_fd(), &only_key, &table);
    if (status != 0) return Error::from_errno(-status, "read the policy map");
    if (table.active > 1) return Error{Errc::corrupt, 0, "the policy map names a third bank"};
    return from_shared(table.banks[table.active]);
}

Result<std::uint64_t> FaultProgram::epoch() const {
    promtact_fault_table table{};
    const int status = bpf_map_lookup_elem(loaded_->policy_fd(), &only_key, &table);
    if (status != 0) return Error::from_errno(-status, "read the policy map");
    return std::uint64_t{table.epoch};
}

Result<FaultCounters> FaultProgram::counters() const {
    const int cpus = libbpf_num_possible_cpus();
    if (cpus <= 0) return Error::from_errno(-cpus, "count the possible CPUs");
    std::vector<std::uint64_t> per_cpu(static_cast<std::size_t>(cpus));
    FaultCounters counters;
    for (std::uint32_t reason = 0; reason < PROMTACT_COUNT_ENTRIES; ++reason) {
        const int status = bpf_map_lookup_elem(loaded_->counts_fd(), &reason, per_cpu.data());
        if (status != 0) return Error::from_errno(-status, "read the packet counters");
        for (const std::uint64_t value : per_cpu)
            counters.values[reason] += value;
    }
    return counters;
}

Result<void> FaultProgram::reset() {
    const promtact_fault_state state{};
    int status = bpf_map_update_elem(loaded_->state_fd(), &only_key, &state, BPF_ANY);
    const int cpus = libbpf_num_possible_cpus();
    if (cpus <= 0) return Error::from_errno(-cpus, "count the possible CPUs");
    const std::vector<std::uint64_t> zeros(static_cast<std::size_t>(cpus));
    for (std::uint32_t reason = 0; reason < PROMTACT_COUNT_ENTRIES && status == 0; ++reason)
        status = bpf_map_update_elem(loaded_->counts_fd(), &reason, zeros.data(), BPF_ANY);
    if (status != 0) return Error::from_errno(-status, "reset the packet counters");
    return {};
}

Result<void> FaultProgram::attach_xdp(const AttachTarget& target, XdpMode mode) {
    if (loaded_->xdp_attachment)
        return Error{Errc::exists, 0, "the XDP program is attached already"};
    PROMTACT_TRY_ASSIGN(Attachment attachment, Attachment::xdp(loaded_->xdp_fd(), target, mode));
    loaded_->xdp_attachment.emplace(std::move(attachment));
    return {};
}

Result<void> FaultProgram::attach_tc(const AttachTarget& target, TcMechanism mechanism) {
    if (loaded_->tc_attachment) return Error{Errc::exists, 0, "the TC program is attached already"};
    PROMTACT_TRY_ASSIGN(
        Attachment attachment, Attachment::tc_egress(loaded_->tc_fd(), target, mechanism));
    loaded_->tc_attachment.emplace(std::move(attachment));
    return {};
}

TcMechanism FaultProgram::tc_mechanism() const noexcept {
    PROMTACT_ASSERT(loaded_->tc_attachment.has_value());
    return loaded_->tc_attachment->mechanism();
}

Result<void> FaultProgram::detach() {
    Result<void> first{};
    for (std::optional<Attachment>* attachment :
         {&loaded_->xdp_attachment, &loaded_->tc_attachment}) {
        if (!attachment->has_value()) continue;
        Result<void> detached = (*attachment)->detach();
        attachment->reset();
        if (first && !detached) first = std::move(detached);
    }
    return first;
}

Result<FrameVerdict> FaultProgram::run_xdp(std::span<const std::byte> frame) {
    return test_run(loaded_->xdp_fd(), frame, XDP_DROP);
}

Result<FrameVerdict> FaultProgram::run_tc(std::span<const std::byte> frame) {
    return test_run(loaded_->tc_fd(), frame, TC_ACT_SHOT);
}

} // namespace promtact::ebpf
