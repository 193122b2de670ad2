// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Opens, recovers and shows damaged logs of format 4. The input says which log to start from, then
// how to damage it, and every checksum is mended where it says so, so that what lies behind the
// checksums is reached. Whatever it is: no crash, a verdict by one of the rules, the same verdict
// for everyone who looks, nothing written by looking, memory within bounds, and a log that opens
// opens again with the same records.
//
// Input: base, options, then changes of eight bytes: what, block, offset (2), value (4).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/wal/dump.hpp>
#include <promtact/wal/explain.hpp>
#include <promtact/wal/repair.hpp>

#include "testing/fuzz_bases.hpp"

namespace promtact::wal {
namespace {

using testing::DamagedImage;
using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t change_bytes = 8;
constexpr std::size_t changes_max = 12;

enum Options : std::uint8_t {
    strict = 1,
    mend_repair = 2, // repair what can be repaired
    shown = 8,       // dump and salvage it too
    continuous = 4,  // make the chain of frames and segments hold after the damage
};

struct Change {
    std::uint8_t what = 0;
    std::uint8_t block = 0;
    std::uint16_t offset = 0;
    std::uint32_t value = 0;
};

Change change_at(Bytes bytes) {
    return {
        .what = bytes[0],
        .block = bytes[1],
        .offset = static_cast<std::uint16_t>(bytes[2] | bytes[3] << 8),
        .value = load_le<std::uint32_t>(std::as_bytes(bytes), 4)};
}

/// The high half of `what` picks a file, the low half what is done to it.
class Damager {
  public:
    explicit Damager(DamagedImage& image) : image_(image) {
        for (const disk::Image::Link& link : image.image.links)
            names_.push_back(std::string(image.pool->name(link.name)));
        std::sort(names_.begin(), names_.end());
    }

    void apply(const Change& change) {
        if (names_.empty()) return;
        const std::string name = names_[(change.what >> 4U) % names_.size()];
        if (!image_.has(name)) return;
        const std::size_t blocks = std::max<std::size_t>(
            1, static_cast<std::size_t>(image_.file(name).size / block_bytes));
        const std::size_t block = change.block % blocks;
        switch (change.what & 15U) {
        case 0: // a field, checksums mended
            edit(name, block, change, true);
            return;
        case 1: // a field, checksums left
            edit(name, block, change, false);
            return;
        case 2:
            image_.write(name, block, DamagedImage::Block{});
            return;
        case 3: // one block over another
            image_.write(name, block, image_.read(name, change.value % blocks));
            return;
        case 4: { // a block of another file
            const std::string& from = names_[change.value % names_.size()];
            if (image_.has(from)) image_.write(name, block, image_.read(from, change.offset % 32));
            return;
        }
        case 5:
            image_.file(name).set_size(change.value % (2 * 32 * block_bytes), *image_.pool);
            return;
        case 6:
            image_.remove(name);
            return;
        case 7: { // under another name
            const std::string& to = names_[change.value % names_.size()];
            if (image_.has(to)) image_.file(to) = image_.file(name);
            return;
        }
        case 8: // a sector
            sector(name, block, change);
            return;
        case 9: // SUPER's fields by name
            edit_super(change);
            return;
        case 10:
            edit_header(name, change);
            return;
        case 11: { // an extreme value in a field of a frame, mended
            Change extreme = change;
            constexpr std::array<std::uint32_t, 6> values{0,           1,           0x7fffffffU,
                                                          0x80000000U, 0xfffffff0U, 0xffffffffU};
            extreme.value = values[change.value % values.size()];
            edit(name, block, extreme, true);
            return;
        }
        default: { // one more or less, mended
            Change step = change;
            DamagedImage::Block bytes = image_.read(name, block);
            const std::size_t at = change.offset % (block_bytes - 4);
            step.value = load_le<std::uint32_t>(bytes, at) + ((change.what & 1U) != 0 ? 1 : ~0U);
            edit(name, block, step, true);
            return;
        }
        }
    }

  private:
    void edit(const std::string& name, std::size_t block, const Change& change, bool mend) {
        DamagedImage::Block bytes = image_.read(name, block);
        store_le<std::uint32_t>(bytes, change.offset % (block_bytes - 4), change.value);
        image_.write(name, block, bytes);
        if (!mend) return;
        if (name == super_name || block == 0) {
            testing::mend_block(bytes);
            image_.write(name, block, bytes);
        } else if (const std::uint64_t id = parse_segment_name(name); id != 0) {
            testing::mend_frame(image_, id, block);
        }
    }
    void sector(const std::string& name, std::size_t block, const Change& change) {
        DamagedImage::Block bytes = image_.read(name, block);
        const DamagedImage::Block other = image_.read(name, change.value % 32);
        const std::size_t at = change.offset % 8 * 512;
        std::copy_n(
            other.begin() + static_cast<std::ptrdiff_t>(at), 512,
            bytes.begin() + static_cast<std::ptrdiff_t>(at));
        image_.write(name, block, bytes);
    }
    static std::uint64_t wide(const Change& change, bool high) {
        return high ? ~std::uint64_t{0} - (change.value & 0xffffU) : change.value;
    }
    void edit_super(const Change& change) {
        using L = SuperLayout;
        constexpr std::array<std::size_t, 8> fields{
            L::first_live_segment, L::first_live_lsn, L::highest_opened, L::segment_bytes,
            L::end_segment,        L::end_lsn,        L::end_chain,      L::generation};
        const std::string name(super_name);
        if (!image_.has(name)) return;
        for (std::size_t slot = 0; slot < super_slots; ++slot) {
            if ((change.block >> slot & 1U) == 0) continue;
            DamagedImage::Block bytes = image_.read(name, slot);
            store_le<std::uint64_t>(
                bytes, fields[change.offset % fields.size()],
                wide(change, (change.value & 0x80000000U) != 0));
            testing::mend_block(bytes);
            image_.write(name, slot, bytes);
        }
    }
    void edit_header(const std::string& name, const Change& change) {
        using L = SegmentLayout;
        constexpr std::array<std::size_t, 7> fields{
            L::segment,      L::salt,           L::first_lsn,    L::prev_segment,
            L::prev_end_lsn, L::prev_end_chain, L::segment_bytes};
        if (parse_segment_name(name) == 0) return;
        DamagedImage::Block bytes = image_.read(name, 0);
        const std::size_t field = change.offset % fields.size();
        const std::uint64_t value = wide(change, change.block == 255);
        store_le<std::uint64_t>(bytes, fields[field], value);
        // Most often both places that state the first LSN agree.
        if (fields[field] == L::first_lsn && change.block != 254)
            store_le<std::uint64_t>(bytes, L::prev_end_lsn, value);
        testing::mend_block(bytes);
        image_.write(name, 0, bytes);
    }

    DamagedImage& image_;
    std::vector<std::string> names_{};
};

bool is_a_verdict(const ScanReport& report) {
    if (report.text.empty()) return false;
    switch (report.verdict) {
    case Verdict::fresh:
        return report.refusal == Refusal::none && report.segments.empty();
    case Verdict::ok:
    case Verdict::prefix:
        return report.refusal == Refusal::none && report.rule == "R5";
    case Verdict::refuse:
        return report.refusal != Refusal::none && !rule_words(report.rule).empty();
    }
    return false;
}

struct Found {
    ScanReport report{};
    std::size_t peak = 0;
};

Found look(disk::Pool& pool, const disk::Image& image, std::uint8_t options) {
    MemoryStorage memory(pool, image, testing::storage_options(pool));
    testing::AllocationPeak peak;
    LogScan scan(memory, {.strict = (options & strict) != 0});
    scan.run();
    Found found{.peak = peak.bytes()};
    found.report = scan.report();
    PROMTACT_ASSERT(memory.model().pending().empty());
    return found;
}

std::uint64_t largest_file(const disk::Image& image) {
    std::uint64_t largest = 0;
    for (const disk::Image::Link& link : image.links)
        largest = std::max(largest, image.files[link.inode].size);
    return largest;
}

/// Every open draws its salts from bits of its own, as callers promise (LogOptions::entropy):
/// damage can make a segment begin twice at one LSN.
LogOptions next_open(LogOptions log) {
    ++log.entropy;
    return log;
}

void recover(
    disk::Pool& pool, const disk::Image& image, const ScanReport& report, std::uint8_t options) {
    const auto storage = testing::storage_options(pool);
    LogOptions log = next_open(testing::small_options());
    log.open = LogOptions::Open::existing;
    log.scan.strict = (options & strict) != 0;
    testing::LogDriver first(pool, image, log, storage);
    const bool opened = first.open();
    const bool may =
        report.verdict != Verdict::refuse && report.verdict != Verdict::fresh && !report.read_only;
    PROMTACT_ASSERT(opened == may);
    if (!opened) {
        PROMTACT_ASSERT(first.memory.model().pending().empty());
        PROMTACT_ASSERT(!first.log->open_error().context.empty());
        return;
    }
    PROMTACT_ASSERT(first.log->last() + 1 == report.end.next_lsn);
    // Strict opening may refuse what a recycled file holds behind its end.
    log.scan.strict = false;
    log = next_open(log);
    testing::LogDriver second(pool, first.crash(), log, storage);
    PROMTACT_ASSERT(second.open());
    PROMTACT_ASSERT(second.log->last() == first.log->last());
    PROMTACT_ASSERT(second.log->first_live() == first.log->first_live());
    PROMTACT_ASSERT(second.log->voids() == first.log->voids());
    const Lsn next = second.log->last() + 1;
    PROMTACT_ASSERT(testing::commit_one(second) == next);
    testing::LogDriver third(pool, second.crash(), next_open(log), storage);
    PROMTACT_ASSERT(third.open());
    PROMTACT_ASSERT(third.log->last() == next);
}

void mend(disk::Pool& pool, const disk::Image& image, std::uint8_t options) {
    MemoryStorage memory(pool, image, testing::storage_options(pool));
    const auto plan = plan_repair(memory, (options & strict) != 0);
    if (!plan) return;
    RepairConsent consent{
        .drop_tail = true, .truncate_at = plan->lost_first, .rebuild_super = true};
    const auto done = repair(memory, *plan, consent);
    if (!done) {
        PROMTACT_ASSERT(!done.error().context.empty());
        return;
    }
    if (plan->which == RepairCase::none) return;
    const Found after = look(pool, memory.model().durable(), options);
    if (plan->which == RepairCase::rebuild_super) {
        PROMTACT_ASSERT(after.report.refusal != Refusal::super_lost);
        return;
    }
    PROMTACT_ASSERT(after.report.verdict != Verdict::refuse);
    PROMTACT_ASSERT(after.report.end.next_lsn == plan->lost_first);
}

void show(disk::Pool& pool, const disk::Image& image) {
    MemoryStorage memory(pool, image, {});
    std::uint64_t bytes = 0;
    const TextSink sink = [&](std::string_view text) {
        bytes += text.size();
        return Result<void>{};
    };
    const auto dumped = dump_log(memory, {.records = true, .json = true}, sink);
    PROMTACT_ASSERT(dumped.has_value());
    for (const disk::Image::Link& link : image.links) {
        if (const std::uint64_t id = parse_segment_name(pool.name(link.name)); id != 0) {
            PROMTACT_ASSERT(dump_blocks(memory, id, true, sink).has_value());
        }
    }
    const auto saved = export_log(memory, {.salvage = true}, sink);
    PROMTACT_ASSERT(saved.has_value() || !saved.error().context.empty());
}

void run(Bytes input) {
    if (input.size() < 2) return;
    testing::FuzzBase& base = testing::fuzz_base(input[0]);
    const std::uint8_t options = input[1];
    disk::Pool& pool = base.pool;
    const testing::PoolMark mark(pool);
    DamagedImage image(pool, base.image);
    {
        Damager damager(image);
        Bytes rest = input.subspan(2);
        for (std::size_t n = 0; n < changes_max && rest.size() >= change_bytes; ++n) {
            damager.apply(change_at(rest));
            rest = rest.subspan(change_bytes);
        }
    }
    if ((options & continuous) != 0) testing::rechain(image);
    const Found first = look(pool, image.image, options);
    PROMTACT_ASSERT(is_a_verdict(first.report));
    PROMTACT_ASSERT(first.peak <= largest_file(image.image) + (1U << 20));
    const Explanation words = explain(first.report);
    PROMTACT_ASSERT(!words.verdict.empty() && !words.lost.empty());
    PROMTACT_ASSERT(first.report.verdict != Verdict::refuse || !words.helps.empty());
    const Found again = look(pool, image.image, options);
    PROMTACT_ASSERT(again.report.text == first.report.text);
    PROMTACT_ASSERT(again.report.end == first.report.end);
    recover(pool, image.image, first.report, options);
    if ((options & shown) != 0) show(pool, image.image);
    if ((options & mend_repair) != 0) mend(pool, image.image, options);
}

} // namespace
} // namespace promtact::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    promtact::wal::run({data, size});
    return 0;
}
