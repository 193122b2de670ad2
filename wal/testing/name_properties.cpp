// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Names: what a sync of the directory makes durable, what open and list say, what a killed process
// leaves.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <promtact/base/error_text.hpp>

#include "suite_internal.hpp"

namespace promtact::wal_testing {
namespace {

Finding names_are_durable(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    const std::array<Bytes, 2> contents{pattern(1, suite_block), pattern(2, suite_block)};
    const auto holds = [&](Hand& hand, std::string_view name, const Bytes& content) -> Finding {
        PROMTACT_TRY(hand.must({.kind = IoKind::open, .file = 1, .name = name}));
        PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, content.size()));
        if (same(got, content)) return {};
        return Finding::failed("'" + std::string(name) + "' has another file's content");
    };
    {
        Hand hand(session.device());
        for (std::uint32_t i = 0; i < 2; ++i) {
            PROMTACT_TRY(hand.create(1 + i, i == 0 ? "moving" : "target"));
            PROMTACT_TRY(hand.write(1 + i, 0, contents[i]));
            PROMTACT_TRY(hand.sync(1 + i));
        }
    }
    PROMTACT_TRY(session.reopen(End::crashed));
    {
        Hand hand(session.device());
        if (Finding found = holds(hand, "moving", contents[0]); !found.words.empty()) return found;
        if (Finding found = holds(hand, "target", contents[1]); !found.words.empty()) return found;
        PROMTACT_TRY(
            hand.expect({.kind = IoKind::rename, .name = "moving", .new_name = "target"}, 0));
        PROMTACT_TRY(hand.sync_dir());
    }
    PROMTACT_TRY(session.reopen(End::crashed));
    {
        Hand hand(session.device());
        if (Finding found = holds(hand, "target", contents[0]); !found.words.empty()) return found;
        PROMTACT_TRY(hand.expect({.kind = IoKind::open, .file = 1, .name = "moving"}, -ENOENT));
        PROMTACT_TRY(hand.expect({.kind = IoKind::unlink, .name = "target"}, 0));
        PROMTACT_TRY(hand.sync_dir());
    }
    PROMTACT_TRY(session.reopen(End::crashed));
    Hand hand(session.device());
    PROMTACT_TRY(hand.expect({.kind = IoKind::open, .file = 1, .name = "target"}, -ENOENT));
    return {Finding::Outcome::passed, unseen(*place)};
}

Finding open_finds_only_what_is_there(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Hand hand(session.device());
    for (int i = 0; i < 2; ++i) // the first must not have made it
        PROMTACT_TRY(hand.expect({.kind = IoKind::open, .file = 1, .name = "absent"}, -ENOENT));
    const Bytes content = pattern(1, suite_block);
    const auto bytes = static_cast<std::int64_t>(content.size());
    PROMTACT_TRY(hand.expect({.kind = IoKind::create, .file = 1, .name = "present"}, 0));
    PROMTACT_TRY(hand.write(1, 0, content));
    PROMTACT_TRY(hand.expect({.kind = IoKind::open, .file = 2, .name = "present"}, bytes));
    PROMTACT_TRY(hand.expect({.kind = IoKind::create, .file = 3, .name = "present"}, bytes));
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(3, 0, content.size()));
    if (!same(got, content)) return Finding::failed("create emptied a file that was there");
    const std::string long_name(256, 'n');
    for (const std::string_view name :
         {std::string_view(""), std::string_view("."), std::string_view(".."),
          std::string_view("a/b"), std::string_view(long_name)}) {
        for (const IoKind kind : {IoKind::open, IoKind::create, IoKind::unlink})
            PROMTACT_TRY(hand.expect({.kind = kind, .file = 4, .name = name}, -EINVAL));
    }
    return {};
}

/// The entry at `at` of what list wrote; at moves behind it. Empty when it is cut off.
std::string take_entry(std::span<const std::byte> listed, std::size_t& at) {
    const auto begin = listed.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = std::find(begin, listed.end(), std::byte{0});
    if (end == listed.end()) return {};
    std::string entry;
    for (auto byte = begin; byte != end; ++byte)
        entry += static_cast<char>(*byte);
    at += entry.size() + 1;
    return entry;
}

Finding list_pages(const StoragePlaceFactory& factory) {
    const auto place = factory();
    PROMTACT_TRY_ASSIGN(auto session, StorageSession::open(*place));
    Hand hand(session.device());
    std::vector<std::string> wanted;
    for (const std::string_view name : {"page-c", "page-a", "page-e", "page-b", "page-d"}) {
        PROMTACT_TRY(hand.create(1, name));
        wanted.push_back(std::string(1, DirectoryEntry::regular) + std::string(name));
    }
    std::sort(wanted.begin(), wanted.end());
    std::vector<std::string> got;
    std::array<std::byte, 20> page{}; // two entries and a half
    for (std::uint64_t seen = 0; seen < 1000;) {
        PROMTACT_TRY_ASSIGN(
            const std::int64_t bytes,
            hand.must({.kind = IoKind::list, .offset = seen, .data = page}));
        if (bytes == 0) break;
        if (bytes > static_cast<std::int64_t>(page.size()))
            return Finding::failed("list wrote more than there is room for");
        const auto listed = std::span(page).first(static_cast<std::size_t>(bytes));
        for (std::size_t at = 0; at < listed.size(); ++seen) {
            const std::string entry = take_entry(listed, at);
            if (entry.empty()) return Finding::failed("list wrote half an entry");
            if (entry.find("page-") == 1) got.push_back(entry);
        }
    }
    if (got != wanted) {
        std::string words = "list in pages gives";
        for (const std::string& entry : got)
            words += " " + entry;
        return Finding::failed(words);
    }
    return {};
}

/// In a process of its own: writes, syncs, and is killed with a write in flight.
[[noreturn]] void write_and_die(StoragePlace& place, const Bytes& content) {
    auto session = StorageSession::open(place);
    if (!session) ::_exit(2);
    Storage& storage = session->device();
    Hand hand(storage);
    const bool good = hand.create(1, "survivor") && hand.write(1, 0, content) && hand.sync(1);
    if (!good) ::_exit(3);
    wal::AlignedBytes memory(suite_block, suite_block);
    static_cast<void>(storage.submit(
        {.id = 9, .kind = IoKind::write, .file = 1, .offset = suite_block, .data = memory.span()}));
    static_cast<void>(storage.poll({}));
    static_cast<void>(::raise(SIGKILL));
    ::_exit(4);
}

Finding reopens_after_a_kill(const StoragePlaceFactory& factory) {
    const auto place = factory();
    if (!place->outlives_processes())
        return Finding::not_applicable("this place is in the memory of one process");
    const Bytes content = pattern(1, suite_block);
    const pid_t child = ::fork();
    if (child < 0) return Error::from_errno(errno, "fork");
    if (child == 0) write_and_die(*place, content);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFSIGNALED(status)) {
        return Finding::failed(
            "a second process could not use the place: step " +
            std::to_string(WEXITSTATUS(status)));
    }
    // Requests of a killed process hold its files a while.
    std::optional<StorageSession> session;
    Error refused;
    for (int i = 0; i < 100 && !session; ++i) {
        auto opened = StorageSession::open(*place);
        if (opened) {
            session.emplace(*std::move(opened));
        } else {
            refused = opened.error();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    if (!session) return Finding::failed("after a kill: " + describe(refused));
    Hand hand(session->device());
    PROMTACT_TRY(hand.must({.kind = IoKind::open, .file = 1, .name = "survivor"}));
    PROMTACT_TRY_ASSIGN(const Bytes got, hand.read(1, 0, content.size()));
    if (!same(got, content)) return Finding::failed("what the process had synced is not there");
    return {};
}

} // namespace

void add_name_properties(std::vector<Property>& out, const StoragePlaceFactory& factory) {
    const auto add = [&](std::string_view name, std::string_view claim,
                         Finding (*property)(const StoragePlaceFactory&)) {
        out.push_back({name, claim, [factory, property] { return property(factory); }});
    };
    add("NamesAreDurableAfterTheDirectorySync",
        "a created, renamed or removed name is so after a directory sync and a crash",
        names_are_durable);
    add("OpenFindsOnlyWhatIsThere",
        "open never creates, create never empties, and bad names are EINVAL",
        open_finds_only_what_is_there);
    add("ListPagesInTheOrderOfNames", "a directory is listed in pieces, in order, without loss",
        list_pages);
    add("ReopensAfterItsProcessWasKilled", "what a killed process had synced is found by the next",
        reopens_after_a_kill);
}

} // namespace promtact::wal_testing
