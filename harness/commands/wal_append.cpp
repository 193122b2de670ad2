// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact wal append: records from lines or a file. An LSN is printed once its record is durable.
#include <cstdio>
#include <optional>

#include <promtact/base/json_writer.hpp>
#include <promtact/harness/flags.hpp>
#include <promtact/wal/fill.hpp>

#include "commands/wal_directory.hpp"
#include "commands/wal_input.hpp"
#include "commands/wal_verbs.hpp"

namespace promtact::harness {
namespace {

constexpr std::string_view footer =
    R"(Without -file every line of standard input is a record, its bytes as they are but for the newline;
the last line needs none. What arrives together becomes durable together. When a record is refused,
those before it stay, and their LSNs were printed.
)";

struct Given {
    std::vector<std::string> paths{};
    std::string file{};
    bool hex = false;
    bool json = false;
    std::uint64_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t schema = 0;
};

std::optional<unsigned> digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

/// Errors: format, naming the byte
Result<std::vector<std::byte>> bytes_of_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        const auto high = digit(text[i]);
        const auto low = digit(text[i + 1]);
        if (!high || !low) {
            return Error{
                Errc::format, 0,
                "byte " + std::to_string(high ? i + 1 : i) + " of it is no hexadecimal digit"};
        }
        bytes.push_back(static_cast<std::byte>(*high << 4U | *low));
    }
    if (text.size() % 2 != 0) return Error{Errc::format, 0, "an odd number of hexadecimal digits"};
    return bytes;
}

/// Appends, and says what became durable.
class Appender {
  public:
    Appender(wal::LogFiller& log, const Given& given)
        : log_(log), given_(given),
          tag_{
              .type = static_cast<std::uint16_t>(given.type),
              .flags = static_cast<std::uint16_t>(given.flags),
              .schema = static_cast<std::uint32_t>(given.schema)},
          next_(log.next_lsn()), first_(next_) {}

    /// Errors: refused (a record no segment holds), format (no hexadecimal); those of the log
    Result<void> record(std::string_view text) {
        std::vector<std::byte> decoded;
        if (given_.hex) {
            PROMTACT_TRY_ASSIGN(decoded, bytes_of_hex(text));
        }
        const auto payload = given_.hex ? std::span<const std::byte>(decoded) : bytes_of(text);
        const Result<wal::Lsn> lsn = log_.append(payload, tag_);
        if (lsn) return {};
        Error error = lsn.error();
        // Of the flags nothing is wrong.
        if (error.code == Errc::invalid_argument) error.code = Errc::refused;
        return error;
    }
    /// Durable, then printed. Errors: those of the log and of standard output
    Result<void> settle() {
        PROMTACT_TRY(log_.flush());
        std::string text;
        for (; next_ < log_.next_lsn(); ++next_)
            if (!given_.json) text += std::to_string(next_) + "\n";
        if (text.empty()) return {};
        PROMTACT_TRY(wal_stdout()(text));
        return std::fflush(stdout) == 0 ? Result<void>{}
                                        : Error::from_errno(errno, "write to standard output");
    }
    [[nodiscard]] std::string summary() const {
        JsonWriter out;
        out.field("schema", "promtact.wal-append/1");
        out.field("records", next_ - first_);
        out.field("first_lsn", first_);
        out.field("next_lsn", next_);
        return out.finish();
    }

  private:
    wal::LogFiller& log_;
    const Given& given_;
    wal::RecordTag tag_;
    wal::Lsn next_; // first that is not known to be durable
    wal::Lsn first_;
};

/// What was taken before an error is settled all the same.
Result<void> settled(Appender& appender, Result<void> taken) {
    PROMTACT_TRY(appender.settle());
    return taken;
}

Result<void> append_lines(const WalInput& input, std::uint64_t bytes_max, Appender& appender) {
    Lines lines(bytes_max);
    const auto take = [&](std::string_view text) -> Result<void> {
        Result<void> taken = appender.record(text);
        if (taken) return {};
        Error error = std::move(taken).error();
        error.context = "line " + std::to_string(lines.number()) + ": " + error.context;
        return error;
    };
    PROMTACT_TRY(read_all(input, [&](std::span<const std::byte> bytes) {
        return settled(appender, lines.feed(bytes, take));
    }));
    return settled(appender, lines.finish(take));
}

Result<void> append_file(const WalInput& input, std::uint64_t bytes_max, Appender& appender) {
    std::string all;
    PROMTACT_TRY(read_all(input, [&](std::span<const std::byte> bytes) -> Result<void> {
        all += text_of(bytes);
        if (all.size() <= bytes_max) return {};
        return Error{
            Errc::refused, 0,
            input.name + " is longer than the " + std::to_string(bytes_max) +
                " bytes one record of this log may have"};
    }));
    return settled(appender, appender.record(all));
}

Result<void> append(const Given& given) {
    const std::string& path = given.paths.front();
    PROMTACT_TRY_ASSIGN(const WalContent content, wal_content(path));
    if (content != WalContent::log) return no_wal(path, content);
    PROMTACT_TRY_ASSIGN(
        const WalInput input, open_wal_input(given.file.empty() ? "-" : given.file));
    PROMTACT_TRY_ASSIGN(const WalDirectory log, open_wal_to_change(path));
    PROMTACT_TRY_ASSIGN(
        const auto filler, wal::LogFiller::open(*log.storage, {.entropy = wal_entropy()}));
    Appender appender(*filler, given);
    const std::uint64_t bytes_max = filler->record_bytes_max() * (given.hex ? 2 : 1);
    Result<void> taken = given.file.empty() ? append_lines(input, bytes_max, appender)
                                            : append_file(input, bytes_max, appender);
    Result<void> closed = filler->close();
    if (given.json) PROMTACT_TRY(wal_stdout()(appender.summary()));
    PROMTACT_TRY(std::move(taken));
    return closed;
}

} // namespace

int wal_append(std::span<const std::string> words) {
    Given given;
    FlagSet flags("promtact wal append", "Adds records to a log and prints their LSNs.");
    flags.positionals("directory", given.paths, 1, 1, "of the log");
    flags.text("file", given.file, "one record: the content of this file");
    flags.flag("hex", given.hex, "records are given in hexadecimal");
    flags.number("type", given.type, 0, UINT16_MAX, "type of each record");
    flags.number("flags", given.flags, 0, UINT16_MAX, "flags of each record");
    flags.number("schema", given.schema, 0, UINT32_MAX, "schema of each record");
    flags.flag("json", given.json, "print JSON, at the end");
    flags.footer(std::string(footer) + "\n" + wal_footer("append /data/log < lines.txt"));
    if (const auto exit = flags.parse(words)) return *exit;
    const auto done = append(given);
    if (done) return 0;
    return wal_fail("append", done.error(), {.directory = given.paths.front(), .changes = true});
}

} // namespace promtact::harness
