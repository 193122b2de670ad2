// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Structured events for operators: one key=value line each. Never in pure units; results of a
// command are not events and go to stdout.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace promtact {

enum class LogLevel : std::uint8_t { debug, info, warn, error };

constexpr std::string_view to_string(LogLevel level) noexcept {
    switch (level) {
    case LogLevel::debug:
        return "debug";
    case LogLevel::info:
        return "info";
    case LogLevel::warn:
        return "warn";
    case LogLevel::error:
        return "error";
    }
    return "error";
}

/// One key=value of an event.
struct LogField {
    std::string_view key{}; // snake_case
    std::string value{};

    LogField(std::string_view name, std::string_view text) : key(name), value(text) {}
    LogField(std::string_view name, const char* text) : key(name), value(text) {}
    LogField(std::string_view name, const std::string& text) : key(name), value(text) {}
    LogField(std::string_view name, bool yes) : key(name), value(yes ? "true" : "false") {}
    template <class Integer>
    requires std::is_integral_v<Integer> LogField(std::string_view name, Integer number)
        : key(name), value(std::to_string(number)) {}
};

/// Receives each event that passes the level. Called by one thread at a time.
using LogSink =
    std::function<void(LogLevel, std::string_view sentence, std::span<const LogField> fields)>;

/// log_event(LogLevel::warn, "peer refused the connection", {{"peer", 3}, {"address", address}});
/// Thread-safe. The sentence is lower case, without a full stop; fields carry the particulars.
void log_event(
    LogLevel level, std::string_view sentence, std::initializer_list<LogField> fields = {});

/// Events below the level are dropped. The default is info.
void set_log_level(LogLevel level) noexcept;
LogLevel log_level() noexcept;

/// Replaces the sink; an empty function restores the one that writes to stderr.
void set_log_sink(LogSink sink);

/// The line, without newline: time=2026-11-29T20:48:20Z level=info event="…" key=value.
/// Values that hold blanks, quotes, '=' or control characters are quoted and escaped.
std::string format_log_line(
    std::int64_t unix_seconds, LogLevel level, std::string_view sentence,
    std::span<const LogField> fields);

} // namespace promtact
