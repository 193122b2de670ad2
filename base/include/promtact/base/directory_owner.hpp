// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a tool makes in somebody else's directory must be theirs: root mends a service's log, and
// the service has to open every file of it afterwards.
#pragma once

#include <sys/types.h>

#include <promtact/base/result.hpp>

namespace promtact {

/// A file or directory that was just made, and the directory whose owner is to have it.
struct MadeIn {
    int made = -1;
    int directory = -1;
};

/// Gives what was made to the directory's owner and group. Not being allowed to is no error, nor is
/// a filesystem without owners: then it stays whose it is.
/// Requires: this process made it; giving away what was there before could hand out another's file
/// Errors: by errno
Result<void> give_to_directory_owner(MadeIn files);

/// How a file of a directory is opened. flags: as open(2), without O_CREAT and O_EXCL.
struct OpenOrMake {
    int flags = 0;
    mode_t mode = 0640;
};

/// Opens `name` in the directory, making it when it is absent; what is made is given to the
/// directory's owner. Returns the descriptor, or -errno of openat(2), fstat(2) or fchown(2).
int open_or_make(int directory, const char* name, const OpenOrMake& how);

} // namespace promtact
