// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>

#include <unistd.h>

#include <promtact/base/sys.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {

void UniqueFd::reset() noexcept {
    if (fd_ >= 0) static_cast<void>(::close(std::exchange(fd_, -1)));
}

Result<void> UniqueFd::close() {
    if (fd_ < 0) return {};
    const int fd = std::exchange(fd_, -1);
    // close(2): after EINTR the descriptor is closed on Linux, so it is not an error and never
    // retried.
    if (sys().close(fd) != 0 && errno != EINTR)
        return Error::from_errno(errno, "close descriptor " + std::to_string(fd));
    return {};
}

} // namespace promtact
