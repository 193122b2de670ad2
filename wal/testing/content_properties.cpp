// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Content of files: what a sync covers, what a crash leaves, sizes, holes.
#include <algorithm>
#include <array>

#include <promtact/base/error_text.hpp>

#include "suite_internal.hpp"

namespace promtact::wal_testing {
namespace {

Finding sync_covers_what_completed(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    const Bytes content = pattern(1, 3 * suite_block);
    {
        Hand hand(session.device());
        PROMTACT_TRY(hand.create(1, "ordered"));
        PROMTACT_TRY(hand.sync_dir());
        wal::AlignedBytes memory(content.size(), suite_block);
        std::copy(content.begin(), content.end(), memory.span().begin());
        std::array<IoOp, 3> ops{};
        for (std::size_t i = 0; i < ops.size(); ++i) { // not in the order of their offsets
            ops[i] = {
                .kind = IoKind::write,
                .file = 1,
                .offset = (2 - i) * suite_block,
                .data = memory.span().subspan((2 - i) * suite_block, suite_block)};
        }
        if (session.device().limits().depth >= ops.size()) {
            PROMTACT_TRY_ASSIGN(const auto answers, hand.ask_all(ops));
            for (const std::int64_t answer : answers) {
                if (answer != static_cast<std::int64_t>(suite_block))
                    return Finding::failed("a write was answered " + std::to_string(answer));
            }
        } else {
            for (IoOp& op : ops)
                PROMTACT_TRY(hand.must(op));
        }
        PROMTACT_TRY(hand.expect({.kind = IoKind::sync_data, .file = 1}, 0));
        PROMTACT_TRY(hand.write(1, 3 * suite_block, pattern(2, suite_block))); // not synced
    }
    PROMTACT_TRY(session.reopen(End::crashed));
    Hand hand(session.device());
    PROMTACT_TRY(hand.must({.kind = IoKind::open, .file = 1, .name = "ordered"}));
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, content.size()));
    if (!same(got, content)) return Finding::failed("what was synced is not there");
    return {Finding::Outcome::passed, unseen(*place)};
}

Finding crash_leaves_units_whole(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    const Bytes old = pattern(1, 4 * suite_block);
    const Bytes fresh = pattern(2, 4 * suite_block);
    {
        Hand hand(session.device());
        PROMTACT_TRY(hand.create(1, "torn"));
        PROMTACT_TRY(hand.write(1, 0, old));
        PROMTACT_TRY(hand.sync(1));
        PROMTACT_TRY(hand.write(1, 0, fresh));
    }
    PROMTACT_TRY(session.reopen(End::crashed));
    Hand hand(session.device());
    PROMTACT_TRY(hand.must({.kind = IoKind::open, .file = 1, .name = "torn"}));
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, old.size()));
    if (got.size() != old.size()) return Finding::failed("the file lost bytes that were synced");
    const std::size_t unit =
        std::min<std::size_t>(session.device().limits().atomic_bytes, suite_block);
    for (std::size_t at = 0; at < got.size(); at += unit) {
        const auto piece = std::span(got).subspan(at, unit);
        if (!same(piece, std::span(old).subspan(at, unit)) &&
            !same(piece, std::span(fresh).subspan(at, unit))) {
            return Finding::failed(
                "the " + std::to_string(unit) + " bytes at " + std::to_string(at) +
                " are neither all old nor all new");
        }
    }
    return {Finding::Outcome::passed, unseen(*place)};
}

Finding truncate_cuts(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Hand hand(session.device());
    const Bytes content = pattern(1, 4 * suite_block);
    constexpr std::size_t kept = suite_block + 100; // no multiple of anything
    PROMTACT_TRY(hand.create(1, "cut"));
    PROMTACT_TRY(hand.write(1, 0, content));
    PROMTACT_TRY(hand.expect({.kind = IoKind::truncate, .file = 1, .offset = kept}, 0));
    PROMTACT_TRY_ASSIGN(const Bytes cut, hand.read(1, 0, content.size()));
    if (!same(cut, std::span(content).first(kept))) {
        return Finding::failed(
            "cut to " + std::to_string(kept) + " bytes it holds " + std::to_string(cut.size()));
    }
    PROMTACT_TRY(hand.expect({.kind = IoKind::truncate, .file = 1, .offset = content.size()}, 0));
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, content.size()));
    if (got.size() != content.size())
        return Finding::failed("extended by truncate it has another size");
    if (!same(std::span(got).first(kept), std::span(content).first(kept)))
        return Finding::failed("cutting changed what is in front of the cut");
    if (!all_are(std::span(got).subspan(kept), std::byte{0}))
        return Finding::failed("what was cut off came back");
    return {};
}

Finding allocate_extends(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Hand hand(session.device());
    const Bytes content = pattern(1, suite_block);
    PROMTACT_TRY(hand.create(1, "allocated"));
    PROMTACT_TRY(hand.write(1, 0, content));
    for (const std::uint64_t blocks : {std::uint64_t{3}, std::uint64_t{1}}) {
        PROMTACT_TRY(
            hand.expect({.kind = IoKind::allocate, .file = 1, .offset = blocks * suite_block}, 0));
    }
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, 4 * suite_block));
    if (got.size() != 3 * suite_block) {
        return Finding::failed(
            "allocated 3 blocks and then 1 it holds " + std::to_string(got.size()) + " bytes");
    }
    if (!same(std::span(got).first(suite_block), content))
        return Finding::failed("allocating changed what was there");
    if (!all_are(std::span(got).subspan(suite_block), std::byte{0}))
        return Finding::failed("new bytes are not zero");
    return {};
}

Finding write_behind_the_end(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Hand hand(session.device());
    const Bytes content = pattern(1, suite_block);
    PROMTACT_TRY(hand.create(1, "hole"));
    PROMTACT_TRY(hand.write(1, 3 * suite_block, content));
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, 8 * suite_block));
    if (got.size() != 4 * suite_block)
        return Finding::failed("it holds " + std::to_string(got.size()) + " bytes");
    if (!all_are(std::span(got).first(3 * suite_block), std::byte{0}))
        return Finding::failed("the hole is not zero");
    if (!same(std::span(got).last(suite_block), content))
        return Finding::failed("the block behind the hole is another");
    return {};
}

Finding reads_end_with_the_file(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Hand hand(session.device());
    const Bytes content = pattern(1, 2 * suite_block);
    PROMTACT_TRY(hand.create(1, "short"));
    PROMTACT_TRY(hand.write(1, 0, content));
    wal::AlignedBytes memory(4 * suite_block, suite_block);
    struct Row {
        std::uint64_t offset = 0;
        std::int64_t answer = 0;
    };
    for (const Row row : {Row{0, 8192}, Row{4096, 4096}, Row{8192, 0}, Row{16 << 20, 0}}) {
        const IoOp op{.kind = IoKind::read, .file = 1, .offset = row.offset, .data = memory.span()};
        PROMTACT_TRY(hand.expect(op, row.answer));
    }
    return {};
}

Finding second_number_sees(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Hand hand(session.device());
    PROMTACT_TRY(hand.create(1, "shared"));
    PROMTACT_TRY(hand.sync_dir());
    PROMTACT_TRY(hand.expect({.kind = IoKind::open, .file = 2, .name = "shared"}, 0));
    const Bytes content = pattern(1, 2 * suite_block);
    PROMTACT_TRY(hand.write(1, 0, content));
    PROMTACT_TRY_ASSIGN(const Bytes second, hand.read(2, 0, content.size()));
    if (!same(second, content))
        return Finding::failed("a write is not seen through another number of the same file");
    PROMTACT_TRY(hand.expect({.kind = IoKind::sync_data, .file = 1}, 0));
    PROMTACT_TRY_ASSIGN(const Bytes synced, hand.read(2, 0, content.size()));
    if (!same(synced, content)) return Finding::failed("a sync took away what was written");
    if (!place->outlives_processes()) return {};
    auto other = StorageSession::open(*place);
    if (!other && other.error().code == Errc::busy) {
        return {
            Finding::Outcome::passed, "the place lets nobody else in: " + describe(other.error())};
    }
    if (!other) return Finding(other.error());
    Hand reader(other->device());
    PROMTACT_TRY(reader.must({.kind = IoKind::open, .file = 1, .name = "shared"}));
    PROMTACT_TRY_ASSIGN(const Bytes elsewhere, reader.read(1, 0, content.size()));
    if (!same(elsewhere, content))
        return Finding::failed("what was synced is not seen by a second storage");
    return {};
}

} // namespace

void add_content_properties(std::vector<Property>& out, const StoragePlaceFactory& factory) {
    const auto add = [&](std::string_view name, std::string_view claim,
                         Finding (*property)(const StoragePlaceFactory&)) {
        out.push_back({name, claim, [factory, property] { return property(factory); }});
    };
    add("SyncCoversWhatCompletedBeforeIt",
        "whatever was answered before a sync was asked for is there after a crash",
        sync_covers_what_completed);
    add("ACrashLeavesAtomicUnitsWhole",
        "a crash leaves every unit of atomic_bytes old or new, never mixed",
        crash_leaves_units_whole);
    add("TruncateCutsAndWhatComesBackIsZero",
        "truncate cuts at the byte, and bytes that come back are zero", truncate_cuts);
    add("AllocateExtendsWithZerosAndNeverShortens",
        "allocate makes a file longer with zeros, never shorter", allocate_extends);
    add("AWriteBehindTheEndLeavesZerosBetween",
        "a write behind the end of a file leaves zeros in between", write_behind_the_end);
    add("ReadsEndWithTheFile", "a read ends where the file does", reads_end_with_the_file);
    add("ASecondNumberSeesWhatTheFirstWrote", "a file opened twice is one file",
        second_number_sees);
}

} // namespace promtact::wal_testing
