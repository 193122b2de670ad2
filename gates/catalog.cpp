// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// All gates in run order, one line each. Explicit, since static registrars inside a static library
// are dropped by the linker without a word; configure fails when a folder and this list disagree.
#include <vector>

#include <promtact/gates/gate.hpp>

#include "bpf_load/gate.hpp"
#include "crash_images/gate.hpp"
#include "determinism_twin/gate.hpp"
#include "direct_io/gate.hpp"
#include "direct_wal/gate.hpp"
#include "durable_write_block/gate.hpp"
#include "durable_write_file/gate.hpp"
#include "engine_equivalence/gate.hpp"
#include "link_delay/gate.hpp"
#include "netns_lifecycle/gate.hpp"
#include "packet_fault/gate.hpp"
#include "seed_sweep/gate.hpp"
#include "storage_faults/gate.hpp"
#include "uring_probe/gate.hpp"
#include "wal_throughput/gate.hpp"

namespace promtact::gates {

// One line per gate, so that blame tells when it arrived.
// clang-format off
std::span<const GateEntry> catalog() {
    static const std::vector<GateEntry> entries{
        // kernel and storage
        {&uring_probe_info, &run_uring_probe},
        {&direct_io_info, &run_direct_io},
        {&direct_wal_info, &run_direct_wal},
        {&storage_faults_info, &run_storage_faults},
        {&crash_images_info, &run_crash_images},
        {&wal_throughput_info, &run_wal_throughput},
        {&durable_write_file_info, &run_durable_write_file},
        {&durable_write_block_info, &run_durable_write_block},

        // network
        {&netns_lifecycle_info, &run_netns_lifecycle},
        {&bpf_load_info, &run_bpf_load},
        {&packet_fault_info, &run_packet_fault},
        {&link_delay_info, &run_link_delay},

        // protocol
        {&engine_equivalence_info, &run_engine_equivalence},
        {&determinism_twin_info, &run_determinism_twin},
        {&seed_sweep_info, &run_seed_sweep},
    };
    return entries;
}
// clang-format on

} // namespace promtact::gates
