// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Carries a repair out. Until its last renames the log is refused exactly as before: copies come
// first, then what replaces the originals is made beside them, then newer files are set aside, then
// the cut segment and at last SUPER take their names. Each stage is durable before the next.
#include <algorithm>
#include <cstring>

#include <promtact/base/assert.hpp>
#include <promtact/wal/repair.hpp>

#include "repair_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint32_t source_file = 2;
constexpr std::uint32_t target_file = 3;

class Repairer {
  public:
    Repairer(Storage& storage, const RepairPlan& plan)
        : pump_(storage), plan_(plan),
          buffer_(copy_chunk_bytes, std::max(pump_.limits().align_memory, 64U)) {}

    /// Without room nothing is left of the attempt: copies nobody needs would take what is freed.
    Result<void> run() {
        Result<void> done = run_steps();
        if (done || done.error().code != Errc::no_space || originals_moved_) return done;
        for (auto name = made_.rbegin(); name != made_.rend(); ++name)
            static_cast<void>(pump_.unlink(*name).has_value()); // the next repair tries again
        Error error = std::move(done).error();
        error.context += "; a repair keeps copies and needs about " + std::to_string(room()) +
                         " bytes beside the log; nothing was changed: make room and repeat it";
        return error;
    }

  private:
    Result<void> run_steps() {
        PROMTACT_TRY(look());
        for (const std::string& name : plan_.debris)
            PROMTACT_TRY(pump_.unlink(name));
        PROMTACT_TRY(pump_.sync_dir());
        if (plan_.which == RepairCase::none) return {};
        if (plan_.cut) PROMTACT_TRY(keep_copy(segment_name(plan_.segment)));
        if (is_there(super_name)) PROMTACT_TRY(keep_copy(std::string(super_name)));
        if (plan_.cut) PROMTACT_TRY(make_cut());
        PROMTACT_TRY(make_super());
        PROMTACT_TRY(pump_.sync_dir());
        originals_moved_ = true;
        // From the newest down, so that what remains never has a hole.
        for (auto name = plan_.removed.rbegin(); name != plan_.removed.rend(); ++name) {
            PROMTACT_TRY(pump_.rename(*name, free_name(*name)));
            PROMTACT_TRY(pump_.sync_dir());
        }
        if (plan_.cut) {
            PROMTACT_TRY(
                pump_.rename(segment_name(plan_.segment, true), segment_name(plan_.segment)));
            PROMTACT_TRY(pump_.sync_dir());
        }
        PROMTACT_TRY(pump_.rename(super_repair_name, super_name));
        return pump_.sync_dir();
    }
    /// What the copies take, and what replaces the originals.
    [[nodiscard]] std::uint64_t room() const noexcept {
        return 2 * (std::uint64_t{super_slots} * block_bytes +
                    (plan_.cut ? plan_.super.segment_bytes : 0));
    }

    Result<void> look() {
        PROMTACT_TRY_ASSIGN(const auto entries, pump_.list());
        for (const SnapshotPump::Entry& entry : entries)
            names_.push_back(entry.name);
        return {};
    }
    [[nodiscard]] bool is_there(std::string_view name) const {
        return std::find(names_.begin(), names_.end(), name) != names_.end();
    }
    /// A name for the quarantine that nothing has: evidence is never overwritten.
    std::string free_name(const std::string& of) {
        std::string name = of + std::string(quarantine_suffix);
        for (std::uint64_t n = 2; is_there(name); ++n)
            name = of + std::string(quarantine_suffix) + "." + std::to_string(n);
        names_.push_back(name);
        return name;
    }

    /// An empty file of that name, whatever was there.
    Result<void> start(const std::string& name) {
        made_.push_back(name);
        PROMTACT_TRY(pump_.create(target_file, name));
        return pump_.truncate(target_file, 0, name);
    }

    /// The first `keep` bytes of source into target, which ends up `size` bytes long.
    Result<void> copy(
        const std::string& source, const std::string& target, std::uint64_t keep,
        std::uint64_t size) {
        PROMTACT_ASSERT(keep <= size);
        for (std::uint64_t at = 0; at < size; at += copy_chunk_bytes) {
            const auto piece = buffer_.span().first(whole(std::min(copy_chunk_bytes, size - at)));
            std::size_t bytes = 0;
            if (at < keep) {
                PROMTACT_TRY_ASSIGN(bytes, pump_.read(source_file, at, piece, source));
            }
            bytes =
                static_cast<std::size_t>(std::min<std::uint64_t>(bytes, keep - std::min(keep, at)));
            std::fill(piece.begin() + static_cast<std::ptrdiff_t>(bytes), piece.end(), std::byte{});
            PROMTACT_TRY(pump_.write(target_file, at, piece, target));
        }
        if (size % pump_.limits().align_offset != 0)
            PROMTACT_TRY(pump_.truncate(target_file, size, target));
        return pump_.sync_data(target_file, target);
    }
    [[nodiscard]] std::size_t whole(std::uint64_t bytes) const {
        const std::uint64_t unit = pump_.limits().align_offset;
        return static_cast<std::size_t>((bytes + unit - 1) / unit * unit);
    }

    Result<void> keep_copy(const std::string& name) {
        const std::string part = name + std::string(quarantine_part_suffix);
        PROMTACT_TRY_ASSIGN(const std::uint64_t size, pump_.open(source_file, name));
        PROMTACT_TRY(start(part));
        PROMTACT_TRY(copy(name, part, size, size));
        const std::string kept = free_name(name);
        PROMTACT_TRY(pump_.rename(part, kept));
        made_.push_back(kept);
        return pump_.sync_dir();
    }

    Result<void> make_cut() {
        const std::string name = segment_name(plan_.segment);
        const std::string made = segment_name(plan_.segment, true);
        PROMTACT_TRY(pump_.open(source_file, name));
        PROMTACT_TRY(start(made));
        return copy(
            name, made, std::uint64_t{plan_.end_block} * block_bytes, plan_.super.segment_bytes);
    }

    /// All slots say the same: no older one remains that knows of what was given up.
    Result<void> make_super() {
        const std::string name(super_repair_name);
        PROMTACT_TRY(start(name));
        const auto slots = buffer_.span().first(super_slots * block_bytes);
        Super super = plan_.super;
        for (std::uint32_t i = 0; i < super_slots; ++i, ++super.generation) {
            const auto slot = static_cast<std::size_t>(super.generation % super_slots);
            encode(super, slots.subspan(slot * block_bytes).first<block_bytes>());
        }
        PROMTACT_TRY(pump_.write(target_file, 0, slots, name));
        return pump_.sync_data(target_file, name);
    }

    SnapshotPump pump_;
    const RepairPlan& plan_;
    PumpBuffer buffer_;
    std::vector<std::string> names_{};
    std::vector<std::string> made_{}; // in this run
    bool originals_moved_ = false;    // from then on the copies are the evidence
};

Error refused(std::string why) {
    return Error{Errc::refused, 0, std::move(why)};
}

} // namespace

Result<void> repair(Storage& storage, const RepairPlan& plan, const RepairConsent& consent) {
    if (!consent.any()) return refused("nothing is repaired without the flag of its case");
    if (plan.which == RepairCase::none && plan.refusal.empty())
        return Repairer(storage, plan).run(); // only the debris
    if (!plan.refusal.empty()) return refused(plan.refusal);
    const std::string flag = "-" + std::string(to_string(plan.which));
    switch (plan.which) {
    case RepairCase::drop_tail:
        if (!consent.drop_tail) return refused("this damage needs " + flag);
        break;
    case RepairCase::rebuild_super:
        if (!consent.rebuild_super) return refused("this damage needs " + flag);
        break;
    case RepairCase::truncate_at:
        if (!consent.truncate_at || *consent.truncate_at != plan.lost_first) {
            return refused(
                "this damage needs " + flag + " " + std::to_string(plan.lost_first) +
                ", the first record that is given up");
        }
        break;
    case RepairCase::none:
    case RepairCase::salvage:
        PROMTACT_UNREACHABLE();
    }
    return Repairer(storage, plan).run();
}

} // namespace promtact::wal
