// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include <promtact/base/unique_fd.hpp>

#include "small_file_internal.hpp"

namespace promtact {

Result<std::string> read_small_file(const std::string& path) {
    constexpr std::size_t bytes_max = 4U << 20;
    const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) return Error::from_errno(errno, "open " + path);
    std::string text;
    char chunk[4096];
    for (;;) {
        const ssize_t got = ::read(file.get(), chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Error::from_errno(errno, "read " + path);
        if (got == 0) return text;
        text.append(chunk, static_cast<std::size_t>(got));
        if (text.size() > bytes_max) return Error{Errc::out_of_range, 0, "read " + path};
    }
}

Result<std::string> read_trimmed(const std::string& path) {
    PROMTACT_TRY_ASSIGN(std::string text, read_small_file(path));
    const std::size_t last = text.find_last_not_of(" \t\n");
    text.resize(last == std::string::npos ? 0 : last + 1);
    return text;
}

} // namespace promtact
