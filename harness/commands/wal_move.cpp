// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact wal export, import and migrate.
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/harness/flags.hpp>
#include <promtact/wal/migrate.hpp>

#include "commands/wal_directory.hpp"
#include "commands/wal_input.hpp"
#include "commands/wal_verbs.hpp"

namespace promtact::harness {
namespace {

/// The old file, which its writer must not have open.
Result<WalInput> open_old(const std::string& path) {
    UniqueFd fd{sys().open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)};
    if (!fd) return Error::from_errno(errno, "open " + path);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return Error{Errc::invalid_argument, 0, path + " is not a regular file"};
    if (sys().flock(fd.get(), LOCK_SH | LOCK_NB) != 0)
        return Error{Errc::busy, errno, path + " is open in another process; stop it first"};
    return WalInput{.file = std::move(fd), .name = path};
}

using FirstBlock = std::array<std::byte, wal::block_bytes>;

Result<std::span<const std::byte>> begin_of(const WalInput& old, FirstBlock& block) {
    const ssize_t count = ::pread(old.fd(), block.data(), block.size(), 0);
    if (count < 0) return Error::from_errno(errno, "read " + old.name);
    return std::span<const std::byte>(block).first(static_cast<std::size_t>(count));
}

Result<wal::ImportLayout>
layout_of(std::span<const std::byte> begin, const std::string& path, const std::string& wanted) {
    if (wanted == "flat") return wal::ImportLayout::flat;
    if (wanted == "blocks") return wal::ImportLayout::blocks;
    if (const auto layout = wal::guess_import_layout(begin)) return *layout;
    return Error{
        Errc::format, 0,
        path + " begins with no record of an older log (at byte 0); give -layout if it is one"};
}

struct MigrateFlags {
    std::vector<std::string> paths{};
    std::string layout = "guess";
    bool lenient = false;
    std::uint64_t batch = 1;
    std::uint64_t segment_mib = 64;
};

Result<wal::Recovery> migrate(const MigrateFlags& given, const WalInput& old, WalMaking& making) {
    FirstBlock block{};
    PROMTACT_TRY_ASSIGN(const std::span<const std::byte> begin, begin_of(old, block));
    wal::MigrateOptions options;
    PROMTACT_TRY_ASSIGN(options.layout, layout_of(begin, old.name, given.layout));
    options.decode = given.lenient ? wal::DecodeMode::reference : wal::DecodeMode::strict;
    options.window = static_cast<std::uint32_t>(given.batch);
    options.segment_bytes = given.segment_mib << 20U;
    options.entropy = wal_entropy();
    store_le<std::uint64_t>(options.uuid, 0, wal_entropy());
    store_le<std::uint64_t>(options.uuid, 8, wal_entropy());
    PROMTACT_TRY_ASSIGN(const auto migration, wal::LogMigration::create(making.storage(), options));
    PROMTACT_TRY(
        read_all(old, [&](std::span<const std::byte> bytes) { return migration->feed(bytes); }));
    PROMTACT_TRY_ASSIGN(const wal::Recovery recovery, migration->finish());
    // Of any other file all is a torn tail, and an empty log would look like a success.
    if (recovery.records == 0 && !wal::may_begin_record(begin)) {
        return Error{
            Errc::format, 0, old.name + " holds no record of an older log: byte 0 begins none"};
    }
    PROMTACT_TRY(making.publish());
    return recovery;
}

/// One line of an export; an error says where it begins, for those who open the file there.
Result<void> take_line(const Lines& lines, std::string_view text, wal::LogImport& import) {
    const std::string where = "; the line begins at byte " + std::to_string(lines.begin());
    if (text.ends_with('\r')) {
        return Error{
            Errc::format, 0,
            "line " + std::to_string(lines.number()) + " ends in CR LF at byte " +
                std::to_string(lines.begin() + text.size() - 1) +
                ", and lines of an export end in LF: something changed it as text; copy it as "
                "binary, or take the CRs out"};
    }
    Result<void> taken = import.line(text);
    if (taken) return {};
    Error error = std::move(taken).error();
    error.context += where;
    if (lines.number() == 1) error.context += ", where an export's header must be";
    return error;
}

Result<void> import(const WalInput& input, wal::LogImport& import, WalMaking& making) {
    Lines lines(wal::ExportReader::line_bytes_max);
    const auto take = [&](std::string_view text) { return take_line(lines, text, import); };
    PROMTACT_TRY(
        read_all(input, [&](std::span<const std::byte> bytes) { return lines.feed(bytes, take); }));
    if (!lines.complete()) {
        return Error{
            Errc::corrupt, 0,
            input.name + ": the last line is cut short; it begins at byte " +
                std::to_string(lines.begin())};
    }
    PROMTACT_TRY(import.finish());
    return making.publish();
}

/// A new directory needs its rights on the one it is made in.
WalAccess above(const std::string& target) {
    const std::filesystem::path directory = std::filesystem::path(target).parent_path();
    return {.directory = directory.empty() ? "." : directory, .changes = true};
}

} // namespace

int wal_export(std::span<const std::string> words) {
    std::vector<std::string> paths;
    wal::ExportOptions options;
    FlagSet flags("promtact wal export", "Writes a log's records, one JSON object a line.");
    flags.positionals("directory", paths, 1, 1, "of the log");
    flags.flag("strict", options.strict, "refuse a tail that may be torn or rotted");
    flags.flag(
        "salvage", options.salvage,
        "whatever the verdict, write every record that can be read, and gaps for the others; with "
        "gaps the exit code is 7");
    flags.footer(wal_footer("export /data/log > log.jsonl"));
    if (const auto exit = flags.parse(words)) return *exit;
    const auto log = open_wal_to_look(paths.front());
    if (!log) return wal_fail("export", log.error(), {.directory = paths.front()});
    const auto tally = wal::export_log(*log->storage, options, wal_stdout());
    if (!tally) return wal_fail("export", tally.error(), {.directory = paths.front()});
    std::fprintf(
        stderr, "promtact wal export: %llu records, LSN %llu to %llu; unread %llu\n",
        static_cast<unsigned long long>(tally->records),
        static_cast<unsigned long long>(tally->first_lsn),
        static_cast<unsigned long long>(tally->next_lsn - 1),
        static_cast<unsigned long long>(tally->unread));
    return tally->unread == 0 ? 0 : wal_exit(Errc::corrupt);
}

int wal_import(std::span<const std::string> words) {
    std::vector<std::string> paths;
    std::string from = "-";
    wal::ImportOptions options;
    FlagSet flags("promtact wal import", "Makes a log of an export: same LSNs, tags and payloads.");
    flags.positionals("directory", paths, 1, 1, "to be made");
    flags.text("from", from, "file to read the export from; - is standard input");
    flags.flag("accept-gaps", options.accept_gaps, "records an export lacks become void");
    flags.footer(wal_footer("import /data/copy --from log.jsonl"));
    if (const auto exit = flags.parse(words)) return *exit;
    const auto input = open_wal_input(from);
    if (!input) return wal_fail("import", input.error());
    auto making = WalMaking::start(paths.front());
    if (!making) return wal_fail("import", making.error(), above(paths.front()));
    options.entropy = wal_entropy();
    wal::LogImport taken(making->storage(), options);
    const auto done = import(*input, taken, *making);
    if (!done) {
        making->abandon();
        return wal_fail("import", done.error());
    }
    std::printf(
        "%llu records, next LSN %llu, %llu void for gaps\n",
        static_cast<unsigned long long>(taken.records()),
        static_cast<unsigned long long>(taken.next_lsn()),
        static_cast<unsigned long long>(taken.lost()));
    return 0;
}

int wal_migrate(std::span<const std::string> words) {
    MigrateFlags given;
    FlagSet flags(
        "promtact wal migrate", "Makes a log of a file of an older format, which stays as it is.");
    flags.positionals(
        "file directory", given.paths, 2, 2, "the old file, the directory to be made");
    flags.choice(
        "layout", given.layout, {"guess", "flat", "blocks"},
        "flat: records back to back; blocks: one record in each 4096 bytes, also format 3");
    flags.number(
        "batch", given.batch, 1, 1024, "blocks: records its writer flushed at once; see FORMAT_3");
    flags.flag("lenient", given.lenient, "accept flags and reserved bytes as the reference does");
    flags.number("segment-mib", given.segment_mib, 1, 1024, "size of the new log's segments");
    flags.footer(wal_footer("migrate old.wal /data/log --layout flat"));
    if (const auto exit = flags.parse(words)) return *exit;
    const auto old = open_old(given.paths[0]);
    if (!old) return wal_fail("migrate", old.error());
    auto making = WalMaking::start(given.paths[1]);
    if (!making) return wal_fail("migrate", making.error(), above(given.paths[1]));
    const auto done = migrate(given, *old, *making);
    if (!done) {
        making->abandon();
        return wal_fail("migrate", done.error());
    }
    std::printf(
        "%llu records of %llu bytes; the old file's tail is %s\n",
        static_cast<unsigned long long>(done->records),
        static_cast<unsigned long long>(done->file_bytes),
        std::string(to_string(done->tail)).c_str());
    return 0;
}

} // namespace promtact::harness
