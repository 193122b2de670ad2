// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "direct_io/gate.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <promtact/uring/block_writer.hpp>
#include <promtact/uring/direct_file.hpp>

#include "storage_support/direct_target_internal.hpp"

namespace promtact::gates {
namespace {

using uring::AlignedBuffer;
using uring::block_bytes;
using uring::BlockWriter;

constexpr std::string_view qualified[] = {"uring"};
constexpr std::string_view required[] = {"uring_probe"};
constexpr std::uint64_t probe_bytes = 16 * block_bytes; // the stretch alignment is tried on

std::uint64_t blocks_of(const GateContext& context) {
    return context.quick() ? 256 : 4096;
}

// One attempt to write `length` bytes at `offset` from `shift` bytes into an aligned buffer.
struct Attempt {
    std::uint64_t offset = 0;
    std::size_t length = block_bytes;
    std::size_t shift = 0;
};

// 0 when the write was accepted in full, else the errno.
int try_write(int fd, const AlignedBuffer& buffer, const Attempt& attempt) {
    const auto from = buffer.all().subspan(attempt.shift, attempt.length);
    const ssize_t put = ::pwrite(fd, from.data(), from.size(), static_cast<off_t>(attempt.offset));
    if (put < 0) return errno;
    return static_cast<std::size_t>(put) == attempt.length ? 0 : EIO;
}

// Smallest power of two for which `make` gives an accepted attempt; 0 when even 4096 is refused.
template <class Make>
std::uint32_t smallest_accepted(int fd, const AlignedBuffer& buffer, Make make) {
    for (std::uint32_t size = 1; size <= block_bytes; size *= 2)
        if (try_write(fd, buffer, make(size)) == 0) return size;
    return 0;
}

struct Found {
    uring::DirectAlignment reported{};
    std::uint32_t offset = 0; // by attempt
    std::uint32_t length = 0;
    std::uint32_t memory = 0;
};

Result<Found> find_alignment(const GateContext& context, int fd) {
    Found found;
    context.step("ask for the alignment");
    PROMTACT_TRY_ASSIGN(found.reported, uring::direct_io_alignment(fd));
    PROMTACT_TRY_ASSIGN(AlignedBuffer buffer, AlignedBuffer::allocate(1, 2 * block_bytes));
    context.step("attempt offsets");
    found.offset = smallest_accepted(
        fd, buffer, [](std::uint32_t size) { return Attempt{.offset = size % block_bytes}; });
    context.step("attempt lengths");
    found.length =
        smallest_accepted(fd, buffer, [](std::uint32_t size) { return Attempt{.length = size}; });
    context.step("attempt memory addresses");
    found.memory = smallest_accepted(
        fd, buffer, [](std::uint32_t size) { return Attempt{.shift = size % block_bytes}; });
    return found;
}

// Empty when the alignment rules hold.
std::string alignment_fault(const Found& found) {
    const auto text = [](std::uint32_t n) { return std::to_string(n); };
    if (found.offset == 0 || found.length == 0 || found.memory == 0)
        return "a 4096-byte aligned direct write was refused";
    if (found.offset == 1 || found.length == 1) {
        return "a write at an odd offset or of an odd length was accepted: O_DIRECT falls back to "
               "the page cache";
    }
    if (!found.reported.reported) return {};
    if (std::max(found.offset, found.length) > found.reported.offset) {
        return "statx promises offset alignment " + text(found.reported.offset) +
               ", accepted were only multiples of " + text(std::max(found.offset, found.length));
    }
    if (found.memory > found.reported.memory) {
        return "statx promises memory alignment " + text(found.reported.memory) +
               ", accepted were only multiples of " + text(found.memory);
    }
    return {};
}

// Pages of the file that the page cache holds, through a mapping that touches none of them.
Result<std::uint64_t> cached_pages(int fd, std::uint64_t bytes) {
    PROMTACT_TRY_ASSIGN(const UniqueFd buffered, reopen_descriptor(fd, O_RDWR));
    void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, buffered.get(), 0);
    if (at == MAP_FAILED) return Error::from_errno(errno, "map the file");
    std::vector<unsigned char> resident(
        bytes / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    const int failed = ::mincore(at, bytes, resident.data());
    const int failure = errno;
    static_cast<void>(::munmap(at, bytes));
    if (failed != 0) return Error::from_errno(failure, "ask which pages are cached");
    return static_cast<std::uint64_t>(std::count_if(
        resident.begin(), resident.end(), [](unsigned char page) { return (page & 1U) != 0; }));
}

Result<void> write_blocks(const GateContext& context, UniqueFd file, std::uint64_t blocks) {
    context.step("open a ring with registered buffer and file");
    PROMTACT_TRY_ASSIGN(
        BlockWriter writer,
        BlockWriter::open(std::move(file), {.mode = uring::WriteMode::write_only, .depth = 16}));
    std::array<std::byte, block_bytes> block{};
    for (std::uint64_t i = 0; i < blocks; ++i) {
        if (i % (blocks / 16) == 0) context.step("write block " + std::to_string(i));
        fill_pattern(block, context.options().seed, i);
        PROMTACT_TRY(writer.durable_write(i * block_bytes, block));
    }
    context.step("flush");
    PROMTACT_TRY(writer.flush());
    return writer.close();
}

void add_parameters(
    const GateContext& context, const ScratchFile& file, const Found& found, GateReport& report) {
    report.parameters = {
        {"blocks", blocks_of(context)},
        {"block_bytes", std::uint64_t{block_bytes}},
        {"sample", std::string(to_string(context.options().sample))},
        {"filesystem", uring::filesystem_name(file.fd())}};
    const auto size = [](const char* name, const char* method, std::uint64_t value) {
        return Measurement{name, "bytes", method, Scalar{value}};
    };
    if (found.reported.reported) {
        report.measurements.push_back(
            size("offset_alignment_reported", "statx STATX_DIOALIGN", found.reported.offset));
        report.measurements.push_back(
            size("memory_alignment_reported", "statx STATX_DIOALIGN", found.reported.memory));
    } else {
        report.notes.emplace_back("this kernel does not report direct I/O alignment by statx");
    }
    report.measurements.push_back(
        size("offset_alignment", "smallest accepted offset", found.offset));
    report.measurements.push_back(
        size("length_alignment", "smallest accepted length", found.length));
    report.measurements.push_back(
        size("memory_alignment", "smallest accepted address offset", found.memory));
}

GateReport& fail(GateReport& report, std::string reason) {
    report.verdict = Verdict::fail;
    report.reason = std::move(reason);
    return report;
}

} // namespace

const GateInfo direct_io_info{
    .id = "direct_io",
    .tier = Tier::storage,
    .title = "O_DIRECT: alignment, page cache bypass, read back",
    .qualifies = qualified,
    .requires_gates = required,
    .budget = std::chrono::seconds{20},
    .establishes =
        "files here open with O_DIRECT, aligned writes through io_uring are accepted and unaligned "
        "ones refused as statx reports, the page cache keeps no copy, and a second O_DIRECT "
        "descriptor reads back every byte",
    .does_not_establish = "durability (no power is cut) and performance",
    .control = "flip_byte",
    .control_breaks =
        "one bit of one block is flipped on disk after the write; the comparison must name that "
        "block",
    .remedy = "choose a directory on ext4 or xfs on a local disk (--directory); tmpfs, some FUSE "
              "filesystems and btrfs with checksums do no direct I/O"};

Result<GateReport> run_direct_io(const GateContext& context) {
    const std::uint64_t blocks = blocks_of(context);
    context.step("create a nameless file");
    PROMTACT_TRY_ASSIGN(ScratchFile file, direct_scratch(context));
    PROMTACT_TRY(file.fill_with_zeros(probe_bytes));
    PROMTACT_TRY_ASSIGN(const Found found, find_alignment(context, file.fd()));
    PROMTACT_TRY_ASSIGN(UniqueFd written, file.reopen(O_RDWR | O_DIRECT));
    PROMTACT_TRY(write_blocks(context, std::move(written), blocks));
    if (context.sabotaged()) {
        context.step("flip one bit on disk");
        PROMTACT_TRY(flip_bit(file.fd(), blocks / 2 * block_bytes + 1234));
    }
    context.step("ask the page cache");
    PROMTACT_TRY_ASSIGN(const std::uint64_t cached, cached_pages(file.fd(), blocks * block_bytes));
    context.step("read back through a second descriptor");
    PROMTACT_TRY_ASSIGN(const UniqueFd second, file.reopen(O_RDONLY | O_DIRECT));
    PROMTACT_TRY_ASSIGN(
        const auto difference, first_difference(second.get(), 0, blocks, context.options().seed));
    context.step("judge");
    GateReport report{.verdict = Verdict::pass};
    add_parameters(context, file, found, report);
    report.measurements.push_back(
        {"cached_pages", "count", "mincore(2) after the writes", Scalar{cached}});
    if (difference) {
        return fail(
            report, "block " + std::to_string(*difference) +
                        " reads back differently through a second O_DIRECT descriptor");
    }
    if (std::string fault = alignment_fault(found); !fault.empty())
        return fail(report, std::move(fault));
    if (cached > 0) {
        return fail(
            report, "the page cache holds " + std::to_string(cached) +
                        " pages of a file written with O_DIRECT only");
    }
    report.summary = std::to_string(blocks) + " blocks written direct and read back, alignment " +
                     std::to_string(std::max(found.offset, found.length));
    return report;
}

} // namespace promtact::gates
