// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Uses every header of base/pure_headers.txt with nothing linked but promtact::base_pure: the proof
// that the pure part needs no library, no clock, no thread and no file.
#include <array>
#include <cstdio>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/choice.h>
#include <promtact/base/choice.hpp>
#include <promtact/base/crash_images.hpp>
#include <promtact/base/disk_image.hpp>
#include <promtact/base/disk_model.hpp>
#include <promtact/base/errc.hpp>
#include <promtact/base/fault.hpp>
#include <promtact/base/history.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/base/probe.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/scenario.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/base/strong_id.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/base/units.hpp>

namespace promtact {
namespace {

Result<Scenario> build_scenario() {
    Scenario scenario;
    PROMTACT_TRY_ASSIGN(scenario.seed, parse_seed("0x4A2C"));
    PROMTACT_TRY_ASSIGN(scenario.tick_ns, parse_u64("10_000_000"));
    scenario.faults.push_back(
        {.kind = FaultKind::loss, .params = LossParams{(20_permille).to_ppm()}});
    return scenario;
}

TraceHash run(const Scenario& scenario) {
    TraceHash hash;
    const ChoiceStream loss = ChoiceStream::on_link(scenario.seed, Purpose::loss, 1, 2);
    const auto& params = std::get<LossParams>(scenario.faults.front().params);
    for (std::uint64_t step = 0; step < 1000; ++step) {
        const bool lost = loss.chance(ChoicePosition::at(step, 0), params.probability);
        PROMTACT_SOMETIMES(lost, "pure headers: a message was lost");
        hash.add(std::array<std::uint64_t, 2>{step, lost ? 1U : 0U});
    }
    return hash;
}

bool uses_every_header() {
    const Result<Scenario> scenario = build_scenario();
    PROMTACT_ASSERT(scenario.has_value());
    PROMTACT_ASSERT(scenario->faults.front().active(Step(7)));
    PROMTACT_ASSERT(load_le<std::uint16_t>(bytes_of("ab"), 0) == 0x6261);
    PROMTACT_ASSERT(to_string(HistoryPhase::info) == "info");
    PROMTACT_ASSERT(IoOp{}.kind == IoKind::read);
    disk::Pool pool(512);
    const disk::DiskModel disk(pool, disk::Image{});
    PROMTACT_ASSERT(disk::crash_images(disk, {}, [](const disk::Image&) {}) == 1);
    PROMTACT_ASSERT(errc_from_errno(EIO) == Errc::io);
    PROMTACT_ASSERT(probes().size() == 1);
    PROMTACT_ASSERT(!probes().front().hit);
    const Digest128 first = run(*scenario).value();
    PROMTACT_ASSERT(probes().front().hit);
    PROMTACT_ASSERT(first == run(*scenario).value());
    // The same under both compilers and in every build, or recorded runs lose their meaning.
    std::printf("%s\n", to_hex(first).c_str());
    return to_hex(first) == "6173fb43d539a11ea2fce2b7aef174bb";
}

} // namespace
} // namespace promtact

int main() {
    return promtact::uses_every_header() ? 0 : 1;
}
