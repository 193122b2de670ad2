// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "commands/wal_input.hpp"

#include <random>

#include <fcntl.h>

#include <promtact/base/sys.hpp>

namespace promtact::harness {

std::uint64_t wal_entropy() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

Result<WalInput> open_wal_input(const std::string& from) {
    if (from == "-") return WalInput{.name = "standard input"};
    WalInput input{
        .file = UniqueFd{sys().open(from.c_str(), O_RDONLY | O_CLOEXEC, 0)}, .name = from};
    if (!input.file) return Error::from_errno(errno, "open " + from);
    return input;
}

Error Lines::too_long() const {
    return Error{
        Errc::format, 0,
        "line " + std::to_string(number_) + ", which begins at byte " + std::to_string(begin_) +
            ", is longer than the " + std::to_string(bytes_max_) + " bytes a line may have"};
}

} // namespace promtact::harness
