// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Logs of tests as text, and back.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/wal/fill.hpp>

#include "damage_row.hpp"

namespace promtact::wal::testing {

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
        lines.push_back(text.substr(begin, end - begin));
    EXPECT_EQ(begin, text.size()) << "every line ends";
    return lines;
}

/// The first line of an export, without its end.
inline std::string export_header(Lsn first_lsn = 1) {
    return R"({"schema":"promtact.wal-export/1","uuid":"00000000000000000000000000000000",)"
           R"("layout":"variable","segment_bytes":65536,"first_lsn":)" +
           std::to_string(first_lsn) + "}";
}

struct Exported {
    std::string text{};
    Result<ExportTally> tally = ExportTally{};
};

inline Exported export_image(disk::Pool& pool, const disk::Image& image, bool salvage = false) {
    MemoryStorage memory(pool, image, {});
    Exported out;
    out.tally = export_log(memory, {.salvage = salvage}, [&](std::string_view text) {
        out.text += text;
        return Result<void>{};
    });
    return out;
}

inline Result<disk::Image> import_text(
    disk::Pool& pool, const std::string& text, const ImportOptions& options = {.entropy = 5}) {
    MemoryStorage memory(pool, {}, {});
    LogImport import(memory, options);
    for (const std::string& line : lines_of(text))
        PROMTACT_TRY(import.line(line));
    PROMTACT_TRY(import.finish());
    return memory.model().durable();
}

} // namespace promtact::wal::testing
