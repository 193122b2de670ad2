// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The least a device must do to carry a log: four calls. DeviceStorage makes a Storage of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::wal {

/// A sequence of bytes that grows at its end. Owned and driven by one thread.
class Device {
  public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    /// Adds bytes behind all others; none is no error. Durable: no; after a crash any prefix of
    /// what was appended since the last sync() may be there
    /// Errors: no_space, and then nothing was appended. After any other error nobody knows how much
    /// was, and only opening the device anew tells.
    virtual Result<void> append(std::span<const std::byte> bytes) = 0;

    /// Durable: everything appended before, on return. Nothing to do is no error.
    /// Errors: any; what was appended since the last success is then durable or not, and calling
    /// again proves nothing.
    virtual Result<void> sync() = 0;

    /// A copy of the content, the caller's own. It may sync first; a device that models crashes
    /// leaves out what was not synced.
    /// Errors: any. What cannot be read is never an empty device.
    virtual Result<std::vector<std::byte>> durable_bytes() = 0;

    /// Cuts everything behind the first `bytes` bytes; append() goes on there. Durable: yes
    /// Requires: nothing was appended since the last sync()
    /// Errors: out_of_range when the content is shorter, which is left as it is; any other.
    virtual Result<void> truncate_durable(std::uint64_t bytes) = 0;
};

} // namespace promtact::wal
