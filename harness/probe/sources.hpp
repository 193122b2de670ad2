// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Where the facts of a probe come from. Each source adds its section; none needs a privilege, none
// leaves anything behind, and what it cannot see it says.
#pragma once

#include <filesystem>

#include "probe/report.hpp"
#include "probe/roots.hpp"

namespace promtact::harness::probe {

/// Release, where we run, and the settings that decide what this process may ask for.
void add_kernel(Report& report, const Roots& roots);

/// User, capabilities that gates need, seccomp, user namespaces, limits.
void add_privileges(Report& report, const Roots& roots);

/// io_uring, by attempting each feature; operations run on a nameless file in the directory.
void add_io_uring(Report& report, const std::filesystem::path& directory);

/// The directory that storage gates write to, its filesystem and its block device. The alignment
/// facts come from a nameless file in it that nothing but this process ever sees.
void add_storage(Report& report, const Roots& roots, const std::filesystem::path& directory);

/// Network namespaces, and the kernel options that packet gates need.
void add_network(Report& report);

/// BPF program, map and link types, the compiler and type information, found by loading.
void add_bpf(Report& report);

/// Control groups: version, controllers, and limits that would distort a measurement.
void add_cgroups(Report& report, const Roots& roots);

/// Device nodes that gates and campaigns open.
void add_devices(Report& report, const Roots& roots);

} // namespace promtact::harness::probe
