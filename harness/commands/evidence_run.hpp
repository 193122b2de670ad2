// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The verb `run` of promtact evidence.
#pragma once

#include <span>
#include <string>

namespace promtact::harness {

/// words: "run" and what follows it. Returns the exit code.
int evidence_run_command(std::span<const std::string> words);

} // namespace promtact::harness
