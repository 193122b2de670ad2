// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// An Error as a sentence for people. Not part of the pure set: it asks libc for the errno's name.
#pragma once

#include <string>

#include <promtact/base/result.hpp>

namespace promtact {

/// "open /x: permission denied (EACCES)"; without an errno "parse seed: invalid argument".
std::string describe(const Error& error);

/// "ENOSPC" for 28; "errno 4095" for a number libc does not know.
std::string errno_name(int sys_errno);

} // namespace promtact
