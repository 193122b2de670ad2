// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact wal create: an empty log, in a directory that is made or that holds nothing.
#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/harness/flags.hpp>
#include <promtact/wal/fill.hpp>

#include "commands/wal_directory.hpp"
#include "commands/wal_input.hpp"
#include "commands/wal_verbs.hpp"

namespace promtact::harness {
namespace {

constexpr std::string_view footer =
    R"(The directory may be absent, or there and empty: the log is made in place. What a create that was
killed left is taken over by the next one. Segments and layout are fixed for good.
)";

std::string hex(const wal::LogUuid& uuid) {
    std::string text;
    for (const std::byte byte : uuid)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return text;
}

/// Takes back what was made of a log. Requires: LOCK is held, and there was no log before
void take_back(const std::filesystem::path& path, bool made_directory) {
    std::error_code ignored;
    const auto names = list_directory(path);
    if (!names) return;
    for (const std::string& name : *names) {
        const bool ours = name == wal::super_name || wal::parse_segment_name(name) != 0 ||
                          wal::parse_segment_name(name, true) != 0;
        if (ours) std::filesystem::remove(path / name, ignored);
    }
    if (!made_directory) return;
    std::filesystem::remove(path / wal::lock_name, ignored);
    std::filesystem::remove(path, ignored); // not when somebody put something there
}

Result<void> create(const std::string& path, const wal::LogOptions& options) {
    PROMTACT_TRY_ASSIGN(const bool made_directory, make_wal_directory(path));
    PROMTACT_TRY_ASSIGN(const WalContent before, wal_content(path));
    if (before == WalContent::other)
        return Error{Errc::exists, 0, path + " holds files that are none of a log's"};
    PROMTACT_TRY_ASSIGN(const WalDirectory log, open_wal_to_change(path));
    // Again, now that nobody else can make one: what is taken back must be ours.
    PROMTACT_TRY_ASSIGN(const WalContent content, wal_content(path));
    auto filler = wal::LogFiller::create(*log.storage, options);
    Result<void> made = filler ? (*filler)->close() : Result<void>(filler.error());
    if (!made && content == WalContent::nothing) take_back(path, made_directory);
    return made;
}

void show(const std::string& path, const wal::LogOptions& options, bool json) {
    const std::string uuid = hex(options.uuid);
    const char* const layout = options.layout == wal::Layout::fixed ? "fixed" : "variable";
    if (!json) {
        std::printf(
            "made      %s\nuuid      %s\nlayout    %s\nsegments  %llu bytes each\nfirst     LSN "
            "%llu\n",
            path.c_str(), uuid.c_str(), layout,
            static_cast<unsigned long long>(options.segment_bytes),
            static_cast<unsigned long long>(options.first_lsn));
        return;
    }
    JsonWriter out;
    out.field("schema", "promtact.wal-create/1");
    out.field("directory", path);
    out.field("uuid", uuid);
    out.field("layout", layout);
    out.field("segment_bytes", options.segment_bytes);
    out.field("first_lsn", options.first_lsn);
    std::fputs(out.finish().c_str(), stdout);
}

} // namespace

int wal_create(std::span<const std::string> words) {
    std::vector<std::string> paths;
    std::string layout = "variable";
    wal::LogOptions options;
    bool json = false;
    FlagSet flags("promtact wal create", "Makes an empty log.");
    flags.positionals("directory", paths, 1, 1, "to hold the log");
    flags.number(
        "segment-bytes", options.segment_bytes, wal::segment_bytes_min, wal::segment_bytes_max,
        "size of each segment, a multiple of 4096");
    flags.choice(
        "layout", layout, {"variable", "fixed"},
        "variable: records of any length; fixed: records of 112 bytes, 36 to a block");
    flags.number("first-lsn", options.first_lsn, 1, wal::lsn_last, "LSN of the first record");
    flags.flag("json", json, "print JSON");
    flags.footer(
        std::string(footer) + "\n" + wal_footer("create /data/log --segment-bytes 16777216"));
    if (const auto exit = flags.parse(words)) return *exit;
    if (options.segment_bytes % wal::block_bytes != 0) {
        return wal_fail(
            "create", Error{Errc::invalid_argument, 0, "-segment-bytes is no multiple of 4096"});
    }
    options.layout = layout == "fixed" ? wal::Layout::fixed : wal::Layout::variable;
    options.entropy = wal_entropy();
    store_le<std::uint64_t>(options.uuid, 0, wal_entropy());
    store_le<std::uint64_t>(options.uuid, 8, wal_entropy());
    const auto made = create(paths.front(), options);
    if (!made)
        return wal_fail("create", made.error(), {.directory = paths.front(), .changes = true});
    show(paths.front(), options, json);
    return 0;
}

} // namespace promtact::harness
