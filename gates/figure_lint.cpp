// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <system_error>

#include <promtact/base/error_text.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/gates/evidence.hpp>
#include <promtact/gates/figure_lint.hpp>

#include "evidence_files_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

// Longer spellings first, so that "ms" is not read as "m". Compared exactly but for the words.
constexpr std::array<std::string_view, 75> units{
    "operations per second",
    "packets per second",
    "requests per second",
    "records per second",
    "messages per second",
    "writes per second",
    "commits per second",
    "bytes per second",
    "times per second",
    "times faster",
    "times slower",
    "times as fast",
    "per second",
    "operations/s",
    "packets/s",
    "requests/s",
    "records/s",
    "messages/s",
    "writes/s",
    "commits/s",
    "nanoseconds",
    "nanosecond",
    "microseconds",
    "microsecond",
    "milliseconds",
    "millisecond",
    "seconds",
    "second",
    "minutes",
    "minute",
    "hours",
    "hour",
    "percent",
    "kilobytes",
    "megabytes",
    "gigabytes",
    "terabytes",
    "bytes",
    "byte",
    "Gbit/s",
    "Mbit/s",
    "kbit/s",
    "GiB/s",
    "MiB/s",
    "KiB/s",
    "GB/s",
    "MB/s",
    "kB/s",
    "ops/s",
    "op/s",
    "req/s",
    "kIOPS",
    "MIOPS",
    "IOPS",
    "iops",
    "TiB",
    "GiB",
    "MiB",
    "KiB",
    "TB",
    "GB",
    "MB",
    "KB",
    "kB",
    "GHz",
    "MHz",
    "kHz",
    "Hz",
    "ppm",
    "µs",
    "μs",
    "ns",
    "us",
    "ms",
    "min"};
constexpr std::array<std::string_view, 6> signs{"%", "‰", "×", "x", "h", "s"};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// The end of the number that begins at `at`: digits, with commas, points and underscores inside.
std::size_t number_end(std::string_view line, std::size_t at) {
    std::size_t end = at;
    while (end < line.size()) {
        const bool joint = (line[end] == ',' || line[end] == '.' || line[end] == '_') &&
                           end + 1 < line.size() && is_digit(line[end + 1]);
        if (!is_digit(line[end]) && !joint) break;
        ++end;
    }
    return end;
}

// Blanks or one hyphen between number and unit.
std::size_t skip_joint(std::string_view line, std::size_t at) {
    constexpr std::string_view hard_blank = "\xC2\xA0";
    constexpr std::string_view thin_blank = "\xE2\x80\xAF";
    if (at < line.size() && line[at] == '-') return at + 1;
    while (at < line.size()) {
        if (line[at] == ' ') {
            ++at;
        } else if (line.substr(at).starts_with(hard_blank)) {
            at += hard_blank.size();
        } else if (line.substr(at).starts_with(thin_blank)) {
            at += thin_blank.size();
        } else {
            break;
        }
    }
    return at;
}

bool ends_word(std::string_view line, std::size_t at) {
    return at >= line.size() || !is_word(line[at]);
}

// The end of the unit that begins at `at`, or npos. glued: no blank before it.
std::size_t unit_end(std::string_view line, std::size_t at, bool glued, bool short_number) {
    const std::string_view rest = line.substr(at);
    for (const std::string_view unit : units)
        if (rest.starts_with(unit) && ends_word(line, at + unit.size())) return at + unit.size();
    for (const std::string_view sign : signs) {
        if (!rest.starts_with(sign)) continue;
        const bool letter = sign == "x" || sign == "h" || sign == "s";
        // "the 1990s", "a 5 x 5 grid", "type s": a letter needs a short number right before it,
        // and seconds may have the blank.
        if (letter && (!short_number || (!glued && sign != "s"))) continue;
        if (letter && !ends_word(line, at + sign.size())) continue;
        return at + sign.size();
    }
    return std::string_view::npos;
}

// Replaces what is not prose by blanks of the same length, so that columns stay.
class ProseReader {
  public:
    explicit ProseReader(bool has_block) : has_block_(has_block) {}

    std::string prose(std::string_view line) {
        if (fence(line)) return std::string(line.size(), ' ');
        if (has_block_ && line.find(figures_begin) != std::string_view::npos) in_block_ = true;
        const bool generated = in_block_;
        if (has_block_ && line.find(figures_end) != std::string_view::npos) in_block_ = false;
        if (generated) return std::string(line.size(), ' ');
        std::string text(line);
        blank_comments(text);
        blank_code(text);
        blank_targets(text);
        return text;
    }

  private:
    // True for the lines of a fenced block, its marks included.
    bool fence(std::string_view line) {
        const std::size_t start = line.find_first_not_of(' ');
        const std::string_view rest = start == std::string_view::npos ? "" : line.substr(start);
        const char mark = rest.empty() ? ' ' : rest.front();
        std::size_t length = 0;
        while (length < rest.size() && rest[length] == mark)
            ++length;
        const bool is_mark = (mark == '`' || mark == '~') && length >= 3;
        if (fence_length_ == 0) {
            // An info string with a backtick is inline code, not a fence.
            if (!is_mark || (mark == '`' && rest.find('`', length) != std::string_view::npos))
                return false;
            fence_mark_ = mark;
            fence_length_ = length;
            return true;
        }
        const bool closes = is_mark && mark == fence_mark_ && length >= fence_length_ &&
                            rest.find_first_not_of(' ', length) == std::string_view::npos;
        if (closes) fence_length_ = 0;
        return true;
    }

    void blank_comments(std::string& text) {
        std::size_t at = 0;
        while (at < text.size()) {
            if (!in_comment_) {
                at = text.find("<!--", at);
                if (at == std::string::npos) return;
                in_comment_ = true;
            }
            const std::size_t end = text.find("-->", at);
            const std::size_t stop = end == std::string::npos ? text.size() : end + 3;
            std::fill(
                text.begin() + static_cast<std::ptrdiff_t>(at),
                text.begin() + static_cast<std::ptrdiff_t>(stop), ' ');
            if (end != std::string::npos) in_comment_ = false;
            at = stop;
        }
    }

    // A run of backticks up to the next run of the same length.
    static void blank_code(std::string& text) {
        for (std::size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at)) {
            const std::size_t open = std::min(text.find_first_not_of('`', at), text.size());
            const std::string mark = text.substr(at, open - at);
            std::size_t close = text.find(mark, open);
            while (close != std::string::npos && close + mark.size() < text.size() &&
                   text[close + mark.size()] == '`')
                close = text.find(mark, text.find_first_not_of('`', close));
            if (close == std::string::npos) {
                at = open;
                continue;
            }
            const std::size_t stop = close + mark.size();
            std::fill(
                text.begin() + static_cast<std::ptrdiff_t>(at),
                text.begin() + static_cast<std::ptrdiff_t>(stop), ' ');
            at = stop;
        }
    }

    static void blank_targets(std::string& text) {
        for (std::size_t at = text.find("]("); at != std::string::npos;
             at = text.find("](", at + 2)) {
            const std::size_t end = std::min(text.find(')', at), text.size());
            std::fill(
                text.begin() + static_cast<std::ptrdiff_t>(at) + 2,
                text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        }
        for (std::size_t at = text.find("://"); at != std::string::npos;
             at = text.find("://", at)) {
            const std::size_t end = std::min(text.find_first_of(" )>", at), text.size());
            std::fill(
                text.begin() + static_cast<std::ptrdiff_t>(at),
                text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        }
    }

    bool has_block_;
    bool in_block_ = false;
    bool in_comment_ = false;
    char fence_mark_ = '`';
    std::size_t fence_length_ = 0;
};

bool covered(
    std::string_view line, std::size_t begin, std::size_t end,
    const std::vector<std::string>& allowed) {
    for (const std::string& phrase : allowed) {
        for (auto at = line.find(phrase); at != std::string_view::npos;
             at = line.find(phrase, at + 1))
            if (at <= begin && at + phrase.size() >= end) return true;
    }
    return false;
}

void scan_line(
    std::string_view original, std::string_view prose, std::size_t number,
    const std::vector<std::string>& allowed, std::vector<FoundFigure>& found) {
    for (std::size_t at = 0; at < prose.size();) {
        const bool starts = is_digit(prose[at]) && (at == 0 || !is_word(prose[at - 1]));
        if (!starts) {
            ++at;
            continue;
        }
        const std::size_t end = number_end(prose, at);
        const std::size_t unit = skip_joint(prose, end);
        const std::size_t stop = unit_end(
            prose, unit, unit == end,
            end - at <= 3 || prose.substr(at, end - at).find('.') != std::string_view::npos);
        if (stop != std::string_view::npos && !covered(original, at, stop, allowed))
            found.push_back({{}, number, at + 1, std::string(original.substr(at, stop - at))});
        at = std::max(end, at + 1);
    }
}

bool skipped_folder(const fs::path& path) {
    const std::string name = path.filename();
    if (name == ".ci" || name == ".github") return false;
    return name.starts_with(".") || name == "build" || name.starts_with("build-") ||
           name == "dist" || name == "node_modules";
}

} // namespace

std::vector<FoundFigure>
typed_figures(std::string_view markdown, const std::vector<std::string>& allowed, bool has_block) {
    std::vector<FoundFigure> found;
    ProseReader reader(has_block);
    std::size_t number = 0;
    while (!markdown.empty()) {
        const auto end = markdown.find('\n');
        const std::string_view line = markdown.substr(0, end);
        scan_line(line, reader.prose(line), ++number, allowed, found);
        markdown.remove_prefix(end == std::string_view::npos ? markdown.size() : end + 1);
    }
    return found;
}

std::vector<std::string> parse_allowed(std::string_view text) {
    std::vector<std::string> phrases;
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        while (!line.empty() && (line.back() == ' ' || line.back() == '\r'))
            line.remove_suffix(1);
        if (!line.empty() && line.front() != '#') phrases.emplace_back(line);
    }
    return phrases;
}

/// Every page below a folder, also those that cannot be read: reading says so.
void find_pages(
    const fs::path& root, const fs::path& inside, std::vector<fs::path>& files,
    std::vector<std::string>& problems) {
    const auto names = list_directory(root / inside);
    if (!names) return problems.push_back(describe(names.error()));
    for (const std::string& name : *names) {
        const fs::path path = inside / name;
        std::error_code ignored;
        const bool link = fs::is_symlink(fs::symlink_status(root / path, ignored));
        if (path.extension() == ".md") {
            files.push_back(path);
        } else if (
            !link && file_kind(root / path) == FileKind::directory &&
            !skipped_folder(root / path)) {
            find_pages(root, path, files, problems);
        }
    }
}

std::vector<FoundFigure>
find_typed_figures(const fs::path& root, FigureRules rules, std::vector<std::string>& problems) {
    const Result<std::string> allowed =
        read_text_file(root / "verification/figures_allow.txt", document_bytes_max);
    if (allowed) {
        for (std::string& phrase : parse_allowed(*allowed))
            rules.allowed.push_back(std::move(phrase));
    }
    std::vector<fs::path> files;
    find_pages(root, "", files, problems);
    std::vector<FoundFigure> found;
    for (const fs::path& file : files) {
        if (rules.generated.contains(file)) continue;
        const Result<std::string> text = read_text_file(root / file, document_bytes_max);
        if (!text) {
            problems.push_back(describe(text.error()));
            continue;
        }
        for (FoundFigure& figure : typed_figures(*text, rules.allowed, file == "README.md")) {
            figure.path = file;
            found.push_back(std::move(figure));
        }
    }
    return found;
}

} // namespace promtact::gates
