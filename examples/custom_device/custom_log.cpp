// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A write-ahead log on a device of our own: custom_log <empty directory>. Appends, closes, opens
// again and reads back.
#include <cstdio>
#include <string>
#include <string_view>

#include <promtact/base/error_text.hpp>
#include <promtact/wal/device_storage.hpp>
#include <promtact/wal/log.hpp>

#include "append_file.hpp"

namespace {

namespace wal = promtact::wal;

promtact::Result<std::unique_ptr<wal::Log>> open_log(const std::string& directory) {
    wal::LogConfig config;
    config.log.open = wal::LogOptions::Open::either;
    const auto make =
        [directory](std::span<std::byte>) -> promtact::Result<std::unique_ptr<promtact::Storage>> {
        PROMTACT_TRY_ASSIGN(auto device, AppendFile::open(directory, "log"));
        PROMTACT_TRY_ASSIGN(auto storage, wal::DeviceStorage::open(std::move(device)));
        return std::unique_ptr<promtact::Storage>(std::move(storage));
    };
    return wal::Log::open(make, config);
}

promtact::Result<int> run(const std::string& directory) {
    constexpr wal::Lsn count = 100;
    {
        PROMTACT_TRY_ASSIGN(const auto log, open_log(directory));
        for (wal::Lsn i = 1; i <= count; ++i) {
            const std::string text = "record " + std::to_string(i);
            PROMTACT_TRY(log->append_durable(std::as_bytes(std::span(text))));
        }
        PROMTACT_TRY(log->close());
    }
    PROMTACT_TRY_ASSIGN(const auto log, open_log(directory));
    int right = 0;
    PROMTACT_TRY(log->read(1, log->durable(), [&](const wal::RecordView& record) {
        const std::string_view text(
            reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
        right += text == "record " + std::to_string(record.lsn) ? 1 : 0;
    }));
    std::printf("%d of %d records read back\n", right, static_cast<int>(count));
    PROMTACT_TRY(log->close());
    return right == static_cast<int>(count) ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: custom_log <empty directory>\n", stderr);
        return 2;
    }
    const promtact::Result<int> result = run(argv[1]);
    if (result) return *result;
    std::fprintf(stderr, "%s\n", promtact::describe(result.error()).c_str());
    return 1;
}
