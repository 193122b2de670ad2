// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include <promtact/base/numbers.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 16;

template <class Buffer>
Result<Buffer> read_into(const std::filesystem::path& path, Bytes limit) {
    const UniqueFd file(sys().open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0));
    if (!file) return Error::from_errno(errno, "open " + path.string());
    // A pipe nobody writes to would be waited for.
    struct statx facts {};
    if (sys().statx(file.get(), "", AT_EMPTY_PATH, STATX_TYPE, &facts) != 0)
        return Error::from_errno(errno, "stat " + path.string());
    if (S_ISFIFO(facts.stx_mode) || S_ISSOCK(facts.stx_mode)) {
        return Error{Errc::invalid_argument, 0, "read " + path.string() + ", which is no file"};
    }
    Buffer content;
    std::size_t size = 0;
    for (;;) {
        // One byte beyond the limit is asked for, to tell "exactly full" from "too large".
        const std::uint64_t room = limit.value - std::min<std::uint64_t>(size, limit.value);
        const std::size_t ask =
            room >= piece_bytes ? piece_bytes : static_cast<std::size_t>(room) + 1;
        content.resize(size + ask);
        const ssize_t got = sys().read(file.get(), content.data() + size, ask);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EISDIR) {
            return Error{
                Errc::invalid_argument, EISDIR, "read " + path.string() + ", which is a directory"};
        }
        if (got < 0) return Error::from_errno(errno, "read " + path.string());
        PROMTACT_ASSERT(static_cast<std::size_t>(got) <= ask);
        size += static_cast<std::size_t>(got);
        if (size > limit.value) {
            return Error{
                Errc::out_of_range, 0,
                path.string() + " is larger than the " + format_size(limit) + " allowed here"};
        }
        if (got == 0) break;
    }
    content.resize(size);
    return content;
}

} // namespace

Result<std::string> read_text_file(const std::filesystem::path& path, Bytes limit) {
    return read_into<std::string>(path, limit);
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, Bytes limit) {
    return read_into<std::vector<std::byte>>(path, limit);
}

} // namespace promtact
