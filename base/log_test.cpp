// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/log.hpp>

namespace promtact {
namespace {

/// Restores level and sink.
class LogScope {
  public:
    LogScope() = default;
    LogScope(const LogScope&) = delete;
    LogScope& operator=(const LogScope&) = delete;
    ~LogScope() {
        set_log_sink({});
        set_log_level(LogLevel::info);
    }
};

TEST(Log, LinesAreKeyEqualsValue) {
    const std::vector<LogField> fields{
        {"node", 3}, {"term", std::uint64_t{9}}, {"leader", true}, {"address", "127.0.0.1:9101"}};

    EXPECT_EQ(
        format_log_line(0, LogLevel::warn, "lost the leader", fields),
        "time=1970-01-01T00:00:00Z level=warn event=\"lost the leader\" node=3 term=9 leader=true "
        "address=127.0.0.1:9101");
}

TEST(Log, UntrustedValuesCannotForgeALineOrAField) {
    const std::vector<LogField> fields{
        {"name", "a b=c\nlevel=error"},
        {"quote", "say \"x\\y\""},
        {"pair", "node=3"},
        {"empty", ""},
        {"escape", "\x1b[31m"}};

    const std::string line = format_log_line(0, LogLevel::info, "bad name", fields);

    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_NE(line.find("name=\"a b=c\\nlevel=error\""), std::string::npos);
    EXPECT_NE(line.find("quote=\"say \\\"x\\\\y\\\"\""), std::string::npos);
    EXPECT_NE(line.find("pair=\"node=3\""), std::string::npos);
    EXPECT_NE(line.find("empty=\"\""), std::string::npos);
    EXPECT_NE(line.find("escape=\"\\x1b[31m\""), std::string::npos);
}

TEST(Log, SinkReceivesEventsFromTheLevelUp) {
    const LogScope restore;
    std::vector<std::string> seen;
    set_log_sink([&seen](LogLevel level, std::string_view sentence, auto fields) {
        seen.push_back(
            std::string(to_string(level)) + ":" + std::string(sentence) + ":" +
            std::to_string(fields.size()));
    });

    log_event(LogLevel::debug, "hidden");
    log_event(LogLevel::info, "shown", {{"a", 1}});
    set_log_level(LogLevel::error);
    log_event(LogLevel::warn, "hidden too");
    log_event(LogLevel::error, "shown too");

    EXPECT_EQ(seen, (std::vector<std::string>{"info:shown:1", "error:shown too:0"}));
    EXPECT_EQ(log_level(), LogLevel::error);
}

TEST(Log, TheDefaultSinkWritesWholeLinesToStderr) {
    ::testing::internal::CaptureStderr();
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([i] {
                for (int n = 0; n < 50; ++n)
                    log_event(LogLevel::info, "tick", {{"thread", i}, {"n", n}});
            });
        }
    }
    const std::string text = ::testing::internal::GetCapturedStderr();

    std::size_t lines = 0;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        EXPECT_EQ(text.compare(at, 7, "time=20"), 0);
        ++lines;
    }
    EXPECT_EQ(lines, 200U);
}

} // namespace
} // namespace promtact
