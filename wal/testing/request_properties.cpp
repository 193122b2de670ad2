// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Requests and their answers: identity, depth, alignment, memory, the end of a storage.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <thread>

#include <poll.h>

#include <promtact/base/clock.hpp>

#include "suite_internal.hpp"

namespace promtact::wal_testing {
namespace {

constexpr std::uint64_t patience_ns = 20'000'000'000;

/// Memory for several requests in flight.
std::span<std::byte> part(wal::AlignedBytes& memory, std::size_t index) {
    return memory.span().subspan(index * suite_block, suite_block);
}

/// Takes answers until `wanted` came or patience ends, counting them by id.
std::map<std::uint64_t, std::size_t> collect(Storage& storage, std::size_t wanted) {
    std::map<std::uint64_t, std::size_t> counts;
    const MonotonicClock clock;
    const std::uint64_t end = clock.now_ns() + patience_ns;
    for (std::size_t seen = 0; seen < wanted && clock.now_ns() < end;) {
        std::array<IoDone, 8> done{};
        const std::size_t count = storage.wait(done, 50'000'000);
        for (std::size_t i = 0; i < count; ++i)
            ++counts[done[i].id];
        seen += count;
    }
    return counts;
}

Finding answers_carry_their_ids(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Storage& storage = session.device();
    Hand hand(storage);
    PROMTACT_TRY(hand.create(1, "ids"));
    PROMTACT_TRY(hand.write(1, 0, pattern(1, suite_block)));
    const std::array<std::uint64_t, 4> ids{0, 0xffffffff, 0x700000007, 0xfffffffffffffff0};
    wal::AlignedBytes memory(ids.size() * suite_block, suite_block);
    const std::size_t count = std::min<std::size_t>(ids.size(), storage.limits().depth);
    for (std::size_t i = 0; i < count; ++i) {
        if (!storage.submit(
                {.id = ids[i], .kind = IoKind::read, .file = 1, .data = part(memory, i)}))
            return Finding::failed("request " + std::to_string(i + 1) + " was not taken");
    }
    auto counts = collect(storage, count);
    for (std::size_t i = 0; i < count; ++i) {
        if (counts[ids[i]] != 1) {
            return Finding::failed(
                "request " + std::to_string(ids[i]) + " was answered " +
                std::to_string(counts[ids[i]]) + " times by its id");
        }
    }
    return {};
}

Finding every_request_is_answered_once(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Storage& storage = session.device();
    Hand hand(storage);
    PROMTACT_TRY(hand.create(1, "once"));
    PROMTACT_TRY(hand.write(1, 0, pattern(1, 16 * suite_block)));
    const std::size_t count = std::min<std::size_t>(storage.limits().depth, 16);
    wal::AlignedBytes memory(count * suite_block, suite_block);
    std::uint64_t id = 1000;
    for (int round = 0; round < 20; ++round) {
        const std::uint64_t first = id;
        for (std::size_t i = 0; i < count; ++i) {
            IoOp op{.id = id, .file = 1, .offset = i * suite_block, .data = part(memory, i)};
            op.kind = i % 3 == 0 ? IoKind::write : IoKind::read;
            if (i + 1 == count) op = {.id = id, .kind = IoKind::sync_all, .file = 1};
            if (!storage.submit(op)) return Finding::failed("a request was not taken");
            ++id;
        }
        auto counts = collect(storage, count);
        for (std::uint64_t asked = first; asked < id; ++asked) {
            if (counts[asked] != 1) {
                return Finding::failed(
                    "request " + std::to_string(asked - 999) + " was answered " +
                    std::to_string(counts[asked]) + " times");
            }
        }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::array<IoDone, 4> done{};
    if (storage.poll(done) != 0 || storage.wait(done, 1'000'000) != 0)
        return Finding::failed("an answer came although nothing was in flight");
    return {};
}

Finding depth_is_what_limits_say(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Storage& storage = session.device();
    Hand hand(storage);
    PROMTACT_TRY(hand.create(1, "depth"));
    PROMTACT_TRY(hand.write(1, 0, pattern(1, suite_block)));
    const std::size_t depth = storage.limits().depth;
    if (depth == 0 || depth > 65536)
        return Finding::failed("limits say a depth of " + std::to_string(depth));
    wal::AlignedBytes memory((depth + 1) * suite_block, suite_block);
    std::size_t taken = 0;
    const auto read = [&](std::size_t i) {
        return IoOp{.id = i, .kind = IoKind::read, .file = 1, .data = part(memory, i)};
    };
    while (taken <= depth && storage.submit(read(taken)))
        ++taken;
    if (taken != depth) {
        return Finding::failed(
            "limits say " + std::to_string(depth) + " requests in flight, and " +
            (taken > depth ? "more" : "only " + std::to_string(taken)) + " were taken");
    }
    if (collect(storage, depth).size() != depth)
        return Finding::failed("not every request of a full storage was answered");
    if (!storage.submit(read(0))) return Finding::failed("the storage stays full");
    collect(storage, 1);
    return {};
}

struct Crooked {
    std::string_view what{};
    std::size_t address = 0;
    std::size_t offset = 0;
    std::size_t length = suite_block;
};

Finding unaligned_is_refused(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Hand hand(session.device());
    const StorageLimits limits = session.device().limits();
    std::vector<Crooked> cases;
    if (limits.align_memory > 1) cases.push_back({"memory", limits.align_memory / 2});
    if (limits.align_offset > 1) {
        cases.push_back({"an offset", 0, suite_block + limits.align_offset / 2});
        cases.push_back({"a length", 0, 0, suite_block - limits.align_offset / 2});
    }
    if (cases.empty())
        return Finding::not_applicable("limits() demand no alignment: nothing can be refused");
    const Bytes content = pattern(1, 4 * suite_block);
    PROMTACT_TRY(hand.create(1, "crooked"));
    PROMTACT_TRY(hand.write(1, 0, content));
    wal::AlignedBytes memory(2 * suite_block, suite_block);
    for (const IoKind kind : {IoKind::write, IoKind::read}) {
        for (const Crooked& crooked : cases) {
            const IoOp op{
                .kind = kind,
                .file = 1,
                .offset = crooked.offset,
                .data = memory.span().subspan(crooked.address, crooked.length)};
            PROMTACT_TRY_ASSIGN(const std::int64_t answer, hand.ask(op));
            if (answer != -EINVAL) {
                return Finding::failed(
                    "a " + std::string(to_string(kind)) + " with " + std::string(crooked.what) +
                    " out of line was answered " + std::to_string(answer) + ", not EINVAL");
            }
        }
    }
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, 5 * suite_block));
    if (!same(got, content)) return Finding::failed("a refused request changed the file");
    return {};
}

Finding smallest_request_is_taken(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Hand hand(session.device());
    const StorageLimits limits = session.device().limits();
    for (const std::uint32_t value :
         {limits.align_memory, limits.align_offset, limits.atomic_bytes}) {
        if (value == 0 || (value & (value - 1)) != 0)
            return Finding::failed("limits() say " + std::to_string(value) + ", no power of two");
    }
    if (suite_block % limits.align_offset != 0)
        return Finding::failed("a log writes blocks of 4096 bytes, which limits() do not allow");
    PROMTACT_TRY(hand.create(1, "smallest"));
    PROMTACT_TRY(hand.write(1, 0, pattern(1, 2 * suite_block)));
    wal::AlignedBytes memory(4 * suite_block, 2 * suite_block);
    // No better aligned than it must be.
    const auto data = memory.span().subspan(limits.align_memory, limits.align_offset);
    const Bytes small = pattern(2, data.size());
    std::copy(small.begin(), small.end(), data.begin());
    IoOp op{.kind = IoKind::write, .file = 1, .offset = limits.align_offset, .data = data};
    const auto bytes = static_cast<std::int64_t>(data.size());
    PROMTACT_TRY(hand.expect(op, bytes));
    std::fill(data.begin(), data.end(), std::byte{0});
    op.kind = IoKind::read;
    PROMTACT_TRY(hand.expect(op, bytes));
    if (!same(data, small)) return Finding::failed("it reads back other bytes");
    return {};
}

Finding buffers_belong_to_the_caller(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    wal::AlignedBytes written(3 * suite_block, suite_block);
    wal::AlignedBytes filled(3 * suite_block, suite_block);
    const Bytes content = pattern(1, 3 * suite_block);
    {
        Hand hand(session.device());
        PROMTACT_TRY(hand.create(1, "buffers"));
        PROMTACT_TRY(hand.sync_dir());
        std::copy(content.begin(), content.end(), written.span().begin());
        const auto bytes = static_cast<std::int64_t>(content.size());
        PROMTACT_TRY(
            hand.expect({.kind = IoKind::write, .file = 1, .data = written.span()}, bytes));
        std::fill(written.span().begin(), written.span().end(), std::byte{0xee});
        PROMTACT_TRY(hand.expect({.kind = IoKind::sync_data, .file = 1}, 0));
        PROMTACT_TRY(hand.expect({.kind = IoKind::read, .file = 1, .data = filled.span()}, bytes));
        std::fill(filled.span().begin(), filled.span().end(), std::byte{0x55});
        PROMTACT_TRY(hand.read(1, 0, suite_block));
    }
    PROMTACT_TRY(session.reopen(End::closed));
    Hand hand(session.device());
    PROMTACT_TRY(hand.must({.kind = IoKind::open, .file = 1, .name = "buffers"}));
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, content.size()));
    if (!same(got, content))
        return Finding::failed("what the caller put into the memory after the answer was written");
    if (!all_are(filled.span(), std::byte{0x55}))
        return Finding::failed("memory of an answered read was changed again");
    return {};
}

Finding destruction_drains(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    constexpr std::size_t blocks = 8;
    wal::AlignedBytes memory(blocks * suite_block, suite_block);
    const Bytes old = pattern(1, blocks * suite_block);
    std::size_t count = 0;
    {
        Storage& storage = session.device();
        Hand hand(storage);
        PROMTACT_TRY(hand.create(1, "drained"));
        PROMTACT_TRY(hand.write(1, 0, old));
        PROMTACT_TRY(hand.sync(1));
        count = std::min<std::size_t>(blocks, storage.limits().depth);
        for (std::size_t i = 0; i < count; ++i) { // the second half is written
            const bool write = i >= count / 2;
            std::fill_n(part(memory, i).begin(), suite_block, std::byte{0xcc});
            IoOp op{.id = i, .file = 1, .offset = i * suite_block, .data = part(memory, i)};
            op.kind = write ? IoKind::write : IoKind::read;
            if (!storage.submit(op)) return Finding::failed("a request was not taken");
        }
        static_cast<void>(storage.poll({})); // gives them to whoever does the work
    }
    session.end(End::closed);
    std::fill(memory.span().begin(), memory.span().end(), std::byte{0x77});
    PROMTACT_TRY(session.reopen(End::closed));
    Hand hand(session.device());
    PROMTACT_TRY(hand.must({.kind = IoKind::open, .file = 1, .name = "drained"}));
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, old.size()));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!all_are(memory.span(), std::byte{0x77}))
        return Finding::failed("memory of a request was changed after the storage was gone");
    const std::uint32_t atomic =
        std::min<std::uint32_t>(session.device().limits().atomic_bytes, suite_block);
    if (got.size() != old.size()) return Finding::failed("the file changed its size");
    for (std::size_t at = 0; at < got.size(); at += atomic) {
        const auto piece = std::span(got).subspan(at, atomic);
        const bool kept = same(piece, std::span(old).subspan(at, atomic));
        const bool may_change = at >= count / 2 * suite_block && at < count * suite_block;
        if (!kept && !(may_change && all_are(piece, std::byte{0xcc})))
            return Finding::failed("byte " + std::to_string(at) + " is neither old nor new");
    }
    return {};
}

Finding event_descriptor_tells(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Storage& storage = session.device();
    if (storage.event_fd() < 0) return Finding::not_applicable("the storage offers no event_fd()");
    Hand hand(storage);
    PROMTACT_TRY(hand.create(1, "event"));
    PROMTACT_TRY(hand.write(1, 0, pattern(1, suite_block)));
    wal::AlignedBytes memory(suite_block, suite_block);
    for (std::uint64_t round = 1; round <= 3; ++round) {
        const IoOp op{.id = round, .kind = IoKind::read, .file = 1, .data = memory.span()};
        if (!storage.submit(op)) return Finding::failed("a request was not taken");
        static_cast<void>(storage.poll({})); // gives it to whoever does the work
        pollfd watched{.fd = storage.event_fd(), .events = POLLIN, .revents = 0};
        if (::poll(&watched, 1, 5000) != 1)
            return Finding::failed("an answer was ready and event_fd() did not turn readable");
        if (collect(storage, 1).count(round) != 1)
            return Finding::failed("event_fd() turned readable and no answer came");
    }
    return {};
}

} // namespace

void add_request_properties(std::vector<Property>& out, const StoragePlaceFactory& factory) {
    const auto add = [&](std::string_view name, std::string_view claim,
                         Finding (*property)(const StoragePlaceFactory&)) {
        out.push_back({name, claim, [factory, property] { return property(factory); }});
    };
    add("AnswersCarryTheIdsOfTheirRequests", "an answer carries all 64 bits of its request's id",
        answers_carry_their_ids);
    add("EveryRequestIsAnsweredOnce", "every request is answered exactly once",
        every_request_is_answered_once);
    add("DepthIsWhatLimitsSay", "as many requests are taken as limits() say, and no more",
        depth_is_what_limits_say);
    add("UnalignedIsRefusedAndChangesNothing",
        "what breaks the alignment of limits() is answered EINVAL and changes nothing",
        unaligned_is_refused);
    add("SmallestRequestOfTheLimitsIsTaken",
        "the smallest request that limits() allow is carried out", smallest_request_is_taken);
    add("AnsweredBuffersBelongToTheCaller", "memory is neither read nor written after its answer",
        buffers_belong_to_the_caller);
    add("DestructionDrainsWhatIsInFlight",
        "destroying the storage ends every request, and the file stays sound", destruction_drains);
    add("EventDescriptorTellsOfAnswers", "event_fd() turns readable when an answer is ready",
        event_descriptor_tells);
}

} // namespace promtact::wal_testing
