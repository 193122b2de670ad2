// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Where tests find the source and the build tree. Functions and not macros: an absolute path on the
// command line of every test would keep the compiler cache from serving another checkout.
#pragma once

#include <string>
#include <string_view>

namespace promtact {

/// The absolute path of a file of the source tree, for example "base/testdata/vectors.txt".
std::string test_source_path(std::string_view relative);

/// The absolute path of a file of the build tree; the tree itself for "".
std::string test_build_path(std::string_view relative);

} // namespace promtact
