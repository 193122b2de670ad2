// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What verbs read: a stream in pieces, a stream as lines that know where they begin.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::harness {

/// Random bits. Errors: none; aborts where the system has none
std::uint64_t wal_entropy();

/// A file to read, or standard input for "-". Errors: by errno, naming it
struct WalInput {
    UniqueFd file{};
    std::string name{};
    [[nodiscard]] int fd() const noexcept { return file ? file.get() : STDIN_FILENO; }
};
Result<WalInput> open_wal_input(const std::string& from);

/// Reads what is there in pieces. Errors: by errno; those of the taker
template <class Take>
Result<void> read_all(const WalInput& input, Take&& take) {
    std::vector<std::byte> buffer(std::size_t{256} << 10U);
    for (;;) {
        const ssize_t count = ::read(input.fd(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return Error::from_errno(errno, "read " + input.name);
        if (count == 0) return {};
        PROMTACT_TRY(
            take(std::span<const std::byte>(buffer).first(static_cast<std::size_t>(count))));
    }
}

/// Splits a stream into lines.
class Lines {
  public:
    explicit Lines(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

    /// Errors: format (a line that is too long, naming its byte offset); those of the taker
    template <class Take>
    Result<void> feed(std::span<const std::byte> bytes, Take&& take) {
        std::string_view text = text_of(bytes);
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            rest_.append(text.substr(0, end));
            if (rest_.size() > bytes_max_) return too_long();
            if (end == std::string_view::npos) return {};
            text.remove_prefix(end + 1);
            PROMTACT_TRY(take(std::string_view(rest_)));
            begin_ += rest_.size() + 1;
            ++number_;
            rest_.clear();
        }
        return {};
    }
    /// The last line, when no newline ends it.
    template <class Take>
    Result<void> finish(Take&& take) {
        if (rest_.empty()) return {};
        return take(std::string_view(rest_));
    }
    [[nodiscard]] bool complete() const noexcept { return rest_.empty(); }
    /// Of the line that is being taken, or where one would begin.
    [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  private:
    [[nodiscard]] Error too_long() const;

    std::uint64_t bytes_max_;
    std::uint64_t begin_ = 0;
    std::uint64_t number_ = 1;
    std::string rest_{};
};

} // namespace promtact::harness
