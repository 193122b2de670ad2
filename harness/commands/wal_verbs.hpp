// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The verbs of `promtact wal`, each with the words behind it, and what they share.
#pragma once

#include <cstdio>
#include <span>
#include <string>

#include <promtact/base/error_text.hpp>
#include <promtact/base/result.hpp>
#include <promtact/wal/export.hpp>

#include "commands/wal_denied.hpp"

namespace promtact::harness {

int wal_append(std::span<const std::string> words);
int wal_bench(std::span<const std::string> words);
int wal_create(std::span<const std::string> words);
int wal_dump(std::span<const std::string> words);
int wal_stat(std::span<const std::string> words);
int wal_verify(std::span<const std::string> words);
int wal_repair(std::span<const std::string> words);
int wal_export(std::span<const std::string> words);
int wal_import(std::span<const std::string> words);
int wal_migrate(std::span<const std::string> words);

/// 2 bad argument, 3 refused, 7 damage or an I/O error, 77 a privilege or feature lacks, else 1.
int wal_exit(Errc code) noexcept;
/// Prints the error and returns its exit code.
int wal_fail(const char* verb, const Error& error);
/// The same, and which right is missing where when that is the error.
int wal_fail(const char* verb, const Error& error, const WalAccess& access);
/// To standard output. Errors: those of write(2)
wal::TextSink wal_stdout();

inline constexpr std::string_view wal_exits = R"(
exit codes:
  0   done; for verify and dump: the log stands
  1   an error, or there is no log here
  2   bad flag or path
  3   refused: busy, of another version, not ours, full, or the flag of the case is missing
  7   damaged, or an I/O error; for export -salvage: records are missing in what it wrote
  77  denied: a permission is missing
)";

/// The end of a verb's help: how it is used, and its exit codes.
inline std::string wal_footer(std::string_view example) {
    return "examples:\n  promtact wal " + std::string(example) + "\n" + std::string(wal_exits);
}

} // namespace promtact::harness
