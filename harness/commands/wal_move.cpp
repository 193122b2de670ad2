// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact wal export, import and migrate.
#include <array>
#include <cerrno>
#include <random>

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
#include "commands/wal_verbs.hpp"

namespace promtact::harness {
namespace {

constexpr std::size_t piece_bytes = 256U << 10;

std::uint64_t entropy() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

/// Reads what is behind fd in pieces. Errors: by errno; those of the taker.
template <class Take>
Result<void> read_all(int fd, const std::string& name, Take&& take) {
    std::vector<std::byte> buffer(piece_bytes);
    for (;;) {
        const ssize_t count = ::read(fd, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return Error::from_errno(errno, "read " + name);
        if (count == 0) return {};
        PROMTACT_TRY(take(std::span(buffer).first(static_cast<std::size_t>(count))));
    }
}

/// The old file, which its writer must not have open.
Result<UniqueFd> open_old(const std::string& path) {
    UniqueFd fd{sys().open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)};
    if (!fd) return Error::from_errno(errno, "open " + path);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return Error{Errc::invalid_argument, 0, path + " is not a regular file"};
    if (sys().flock(fd.get(), LOCK_SH | LOCK_NB) != 0)
        return Error{Errc::busy, errno, path + " is open in another process; stop it first"};
    return fd;
}

Result<wal::ImportLayout> layout_of(int fd, const std::string& path, const std::string& wanted) {
    if (wanted == "flat") return wal::ImportLayout::flat;
    if (wanted == "blocks") return wal::ImportLayout::blocks;
    std::array<std::byte, wal::block_bytes> block{};
    const ssize_t count = ::pread(fd, block.data(), block.size(), 0);
    if (count < 0) return Error::from_errno(errno, "read " + path);
    const auto layout =
        wal::guess_import_layout(std::span(block).first(static_cast<std::size_t>(count)));
    if (layout) return *layout;
    return Error{
        Errc::format, 0,
        path + " begins with no record of an older log; give -layout if it is one"};
}

struct MigrateFlags {
    std::vector<std::string> paths{};
    std::string layout = "guess";
    bool lenient = false;
    std::uint64_t batch = 1;
    std::uint64_t segment_mib = 64;
};

Result<wal::Recovery> migrate(const MigrateFlags& given, int fd, WalMaking& making) {
    const std::string& path = given.paths.front();
    wal::MigrateOptions options;
    PROMTACT_TRY_ASSIGN(options.layout, layout_of(fd, path, given.layout));
    options.decode = given.lenient ? wal::DecodeMode::reference : wal::DecodeMode::strict;
    options.window = static_cast<std::uint32_t>(given.batch);
    options.segment_bytes = given.segment_mib << 20U;
    options.entropy = entropy();
    store_le<std::uint64_t>(options.uuid, 0, entropy());
    store_le<std::uint64_t>(options.uuid, 8, entropy());
    PROMTACT_TRY_ASSIGN(const auto migration, wal::LogMigration::create(making.storage(), options));
    PROMTACT_TRY(read_all(
        fd, path, [&](std::span<const std::byte> bytes) { return migration->feed(bytes); }));
    PROMTACT_TRY_ASSIGN(const wal::Recovery recovery, migration->finish());
    PROMTACT_TRY(making.publish());
    return recovery;
}

/// Splits a stream into lines.
class Lines {
  public:
    template <class Take>
    Result<void> feed(std::span<const std::byte> bytes, Take&& take) {
        std::string_view text = text_of(bytes);
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            rest_.append(text.substr(0, end));
            if (rest_.size() > wal::ExportReader::line_bytes_max)
                return Error{Errc::format, 0, "a line is longer than any of an export"};
            if (end == std::string_view::npos) return {};
            text.remove_prefix(end + 1);
            PROMTACT_TRY(take(std::string_view(rest_)));
            rest_.clear();
        }
        return {};
    }
    [[nodiscard]] bool complete() const noexcept { return rest_.empty(); }

  private:
    std::string rest_{};
};

Result<void> import(int fd, const std::string& name, wal::LogImport& import, WalMaking& making) {
    Lines lines;
    PROMTACT_TRY(read_all(fd, name, [&](std::span<const std::byte> bytes) {
        return lines.feed(bytes, [&](std::string_view text) { return import.line(text); });
    }));
    if (!lines.complete()) return Error{Errc::corrupt, 0, name + ": the last line is cut short"};
    PROMTACT_TRY(import.finish());
    return making.publish();
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
        "whatever the verdict, write every record that can be read, and gaps for the others");
    flags.footer(wal_footer("export /data/log > log.jsonl"));
    if (const auto exit = flags.parse(words)) return *exit;
    const auto log = open_wal_to_look(paths.front());
    if (!log) return wal_fail("export", log.error());
    const auto tally = wal::export_log(*log->storage, options, wal_stdout());
    if (!tally) return wal_fail("export", tally.error());
    std::fprintf(
        stderr, "promtact wal export: %llu records, LSN %llu to %llu; %llu not readable\n",
        static_cast<unsigned long long>(tally->records),
        static_cast<unsigned long long>(tally->first_lsn),
        static_cast<unsigned long long>(tally->next_lsn - 1),
        static_cast<unsigned long long>(tally->lost));
    return 0;
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
    UniqueFd file;
    if (from != "-") {
        file = UniqueFd{sys().open(from.c_str(), O_RDONLY | O_CLOEXEC, 0)};
        if (!file) return wal_fail("import", Error::from_errno(errno, "open " + from));
    }
    auto making = WalMaking::start(paths.front());
    if (!making) return wal_fail("import", making.error());
    options.entropy = entropy();
    wal::LogImport taken(making->storage(), options);
    const auto done = import(file ? file.get() : STDIN_FILENO, from, taken, *making);
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
    if (!making) return wal_fail("migrate", making.error());
    const auto done = migrate(given, old->get(), *making);
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
