// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/progress.hpp>
#include <promtact/base/terminal.hpp>

namespace promtact {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

struct FileClose {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileClose>;

/// A stream that is no terminal, and what was written to it.
class Captured {
  public:
    std::FILE* stream() { return stream_.get(); }
    std::string text() {
        std::string all;
        std::rewind(stream_.get());
        for (int c = std::fgetc(stream_.get()); c != EOF; c = std::fgetc(stream_.get()))
            all.push_back(static_cast<char>(c));
        return all;
    }

  private:
    File stream_{std::tmpfile()};
};

/// Sets a variable of the environment until the scope ends.
class Environment {
  public:
    Environment(const char* name, const char* value) : name_(name) {
        const char* before = std::getenv(name);
        if (before != nullptr) before_ = before;
        if (value == nullptr) {
            ::unsetenv(name);
        } else {
            ::setenv(name, value, 1);
        }
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() {
        if (before_) {
            ::setenv(name_, before_->c_str(), 1);
        } else {
            ::unsetenv(name_);
        }
    }

  private:
    const char* name_;
    std::optional<std::string> before_{};
};

TEST(Progress, PlainStreamsGetALinePerActivity) {
    Captured out;
    ManualClock clock;
    {
        Progress progress("gates", 8, clock, {.stream = out.stream()});
        progress.update(0, "uring_probe");
        progress.update(0, "uring_probe");
        progress.update(1, "direct_io");
        progress.update(2, "direct_io");
    }
    EXPECT_EQ(out.text(), "gates 0/8 uring_probe\ngates 1/8 direct_io\n");
}

TEST(Progress, PlainStreamsHearOfAdvanceEveryHalfMinute) {
    Captured out;
    ManualClock clock;
    Progress progress("seeds", 0, clock, {.stream = out.stream()});
    for (std::uint64_t i = 0; i < 100; ++i) {
        progress.update(i, "sweeping");
        clock.advance(1s);
    }
    EXPECT_EQ(
        out.text(), "seeds 0 sweeping\nseeds 30 sweeping\nseeds 60 sweeping\nseeds 90 sweeping\n");
}

TEST(Progress, TerminalsAreRedrawnInPlaceAndWiped) {
    Captured out;
    ManualClock clock;
    {
        Progress progress("gates", 4, clock, {.stream = out.stream(), .redraw = true});
        progress.update(1, "a");
        progress.update(2, "a");
        clock.advance(100ms);
        progress.update(3, "a");
    }
    EXPECT_EQ(
        out.text(), "\rgates [#####...............] 1/4 a\x1b[K"
                    "\rgates [###############.....] 3/4 a\x1b[K"
                    "\r\x1b[K");
}

TEST(Progress, LinesNeverWrapAndNeverMoveTheCursor) {
    Captured out;
    ManualClock clock;
    {
        Progress progress("x", 0, clock, {.stream = out.stream(), .redraw = true, .columns = 20});
        progress.update(1, "ääääääääääääääääääääääääääää\n\x1b[2J");
    }
    EXPECT_EQ(out.text(), "\rx 1 äääääääääääääää\x1b[K\r\x1b[K");
}

TEST(Progress, OverfullAndHugeTotalsStayInTheBar) {
    Captured out;
    ManualClock clock;
    {
        Progress progress(
            "x", ~std::uint64_t{0}, clock,
            {.stream = out.stream(), .redraw = true, .columns = 200});
        progress.update(~std::uint64_t{0}, "");
        progress.clear();
        progress.clear();
        progress.update(0, "");
    }
    EXPECT_NE(out.text().find("[####################]"), std::string::npos);
    EXPECT_NE(out.text().find("[....................]"), std::string::npos);
}

TEST(Terminal, AFileIsNoTerminalAndGetsNoColour) {
    Captured out;
    EXPECT_FALSE(is_terminal(out.stream()));
    EXPECT_FALSE(wants_colour(out.stream()));
    EXPECT_EQ(paint(Colour::red, "fail", false), "fail");
    EXPECT_EQ(paint(Colour::red, "fail", true), "\x1b[31mfail\x1b[0m");
}

TEST(Terminal, NoColorAndDumbTerminalsAreHonoured) {
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0) GTEST_SKIP() << "needs a pseudo-terminal (devpts)";
    const File master_file(::fdopen(master, "r+"));
    ASSERT_EQ(::grantpt(master), 0);
    ASSERT_EQ(::unlockpt(master), 0);
    std::array<char, 128> name{};
    ASSERT_EQ(::ptsname_r(master, name.data(), name.size()), 0);
    const File terminal(std::fopen(name.data(), "r+e"));
    ASSERT_NE(terminal, nullptr);

    const Environment term("TERM", "xterm");
    {
        const Environment no_color("NO_COLOR", nullptr);
        EXPECT_TRUE(is_terminal(terminal.get()));
        EXPECT_TRUE(wants_colour(terminal.get()));
    }
    {
        const Environment no_color("NO_COLOR", "1");
        EXPECT_TRUE(is_terminal(terminal.get()));
        EXPECT_FALSE(wants_colour(terminal.get()));
    }
    {
        const Environment no_color("NO_COLOR", "");
        EXPECT_TRUE(wants_colour(terminal.get())) << "an empty NO_COLOR does not count";
    }
    const Environment dumb("TERM", "dumb");
    EXPECT_FALSE(is_terminal(terminal.get()));
}

} // namespace
} // namespace promtact
