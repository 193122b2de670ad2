// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The collectors of the leak audit. Each appends its lines, unsorted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/netns/leak_audit.hpp>

namespace promtact::netns {

using Lines = std::vector<std::string>;

/// links, addresses, routes, qdiscs, attachments of the calling thread's namespace.
Result<void> collect_interfaces(Parts parts, Lines& lines);
/// tcx programs on one link of the calling thread's namespace.
void collect_tcx(std::uint32_t index, const std::string& name, Lines& lines);
/// Programs, maps and links of the whole host that are called promtact*.
void collect_bpf_objects(Lines& lines);

} // namespace promtact::netns
