// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <atomic>
#include <mutex>
#include <utility>

#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/atomic_file.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/log.hpp>

namespace promtact {
namespace {

std::atomic<LogLevel> threshold{LogLevel::info};

struct Sink {
    std::mutex mutex{}; // guards function, and keeps lines whole
    LogSink function{};
};

Sink& sink() noexcept {
    static Sink the_sink;
    return the_sink;
}

void write_to_stderr(LogLevel level, std::string_view sentence, std::span<const LogField> fields) {
    const std::string line = format_log_line(unix_seconds_now(), level, sentence, fields) + "\n";
    // One write per line, so that lines of several processes do not mix. A closed stderr is no
    // reason to stop.
    static_cast<void>(write_all(STDERR_FILENO, bytes_of(line), "stderr").has_value());
}

bool needs_quotes(std::string_view text) noexcept {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '"' || c == '=' || c == '\\')
            return true;
    }
    return text.empty();
}

void append_value(std::string& line, std::string_view text) {
    if (!needs_quotes(text)) {
        line += text;
        return;
    }
    line += '"';
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            line += '\\';
            line += c;
        } else if (c == '\n') {
            line += "\\n";
        } else if (code < 0x20 || code == 0x7f) {
            line += "\\x";
            line += "0123456789abcdef"[code >> 4];
            line += "0123456789abcdef"[code & 0xfU];
        } else {
            line += c;
        }
    }
    line += '"';
}

} // namespace

void log_event(LogLevel level, std::string_view sentence, std::initializer_list<LogField> fields) {
    if (level < threshold.load(std::memory_order_relaxed)) return;
    const std::span<const LogField> all(fields.begin(), fields.size());
    Sink& target = sink();
    const std::scoped_lock lock(target.mutex);
    if (target.function) {
        target.function(level, sentence, all);
    } else {
        write_to_stderr(level, sentence, all);
    }
}

void set_log_level(LogLevel level) noexcept {
    threshold.store(level, std::memory_order_relaxed);
}

LogLevel log_level() noexcept {
    return threshold.load(std::memory_order_relaxed);
}

void set_log_sink(LogSink function) {
    Sink& target = sink();
    const std::scoped_lock lock(target.mutex);
    target.function = std::move(function);
}

std::string format_log_line(
    std::int64_t unix_seconds, LogLevel level, std::string_view sentence,
    std::span<const LogField> fields) {
    std::string line = "time=" + format_utc(unix_seconds);
    line += " level=";
    line += to_string(level);
    line += " event=";
    append_value(line, sentence);
    for (const LogField& field : fields) {
        PROMTACT_ASSERT(!field.key.empty());
        line += ' ';
        line += field.key;
        line += '=';
        append_value(line, field.value);
    }
    return line;
}

} // namespace promtact
