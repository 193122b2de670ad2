// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The one list of error codes. A code exists only when some caller acts differently on it;
// everything else is `system`, and the detail travels in Error::context and Error::sys_errno.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string_view>

namespace promtact {

enum class Errc : std::uint8_t {
    invalid_argument, // the caller's value is wrong; retrying is pointless
    not_found,        // the named thing does not exist
    exists,           // the name is taken, and not by us
    unsupported,      // this kernel, filesystem or build lacks it; context names what
    denied,           // a privilege is missing; context names which
    refused,          // a safety rule of ours forbids it
    busy,             // try again later: locked, queue full
    timeout,          // the outcome is unknown
    no_space,         // ENOSPC, EDQUOT, size limit
    io,               // the device or filesystem reported an error
    short_write,      // fewer bytes reached the target than asked
    format,           // not ours, or a version we do not read
    corrupt,          // ours, but damaged
    poisoned,         // an earlier error fail-stopped this object
    cancelled,        // a linked operation failed first
    out_of_range,     // outside the extent of the target
    system,           // any other errno
    indeterminate,    // it was under way when something failed: done or not, nobody knows
};

constexpr std::string_view to_string(Errc code) noexcept {
    switch (code) {
    case Errc::invalid_argument:
        return "invalid argument";
    case Errc::not_found:
        return "not found";
    case Errc::exists:
        return "already exists";
    case Errc::unsupported:
        return "not supported here";
    case Errc::denied:
        return "permission denied";
    case Errc::refused:
        return "refused";
    case Errc::busy:
        return "busy";
    case Errc::timeout:
        return "timed out, outcome unknown";
    case Errc::no_space:
        return "no space left";
    case Errc::io:
        return "I/O error";
    case Errc::short_write:
        return "short write";
    case Errc::format:
        return "unknown format";
    case Errc::corrupt:
        return "corrupt";
    case Errc::poisoned:
        return "stopped by an earlier error";
    case Errc::cancelled:
        return "cancelled";
    case Errc::out_of_range:
        return "out of range";
    case Errc::system:
        return "system error";
    case Errc::indeterminate:
        return "outcome unknown";
    }
    return "unknown error";
}

/// The code a caller should see for a kernel errno (errno(3)).
constexpr Errc errc_from_errno(int sys_errno) noexcept {
    switch (sys_errno) {
    case EINVAL:
        return Errc::invalid_argument;
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ENOTDIR:
        return Errc::not_found;
    case EEXIST:
        return Errc::exists;
    case ENOSYS:
    case EOPNOTSUPP:
    case EAFNOSUPPORT:
        return Errc::unsupported;
    case EPERM:
    case EACCES:
        return Errc::denied;
    case EBUSY:
    case EAGAIN:
        return Errc::busy;
    case ETIMEDOUT:
    case ETIME:
        return Errc::timeout;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return Errc::no_space;
    case EIO:
        return Errc::io;
    case ECANCELED:
        return Errc::cancelled;
    case ERANGE:
    case EOVERFLOW:
        return Errc::out_of_range;
    default:
        return Errc::system;
    }
}

} // namespace promtact
