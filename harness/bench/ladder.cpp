// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/ladder.hpp"

#include <promtact/base/error_text.hpp>

namespace promtact::harness::bench {
namespace {

Section layouts() {
    Section section{
        .name = "layout",
        .title = "What the write finds",
        .question = "What does a growing or merely reserved file cost against blocks that were "
                    "written before?"};
    for (const Layout layout :
         {Layout::append, Layout::keep_size, Layout::unwritten, Layout::overwritten}) {
        for (const Method method : {Method::pwrite_fdatasync, Method::separate}) {
            section.jobs.push_back(
                {.name = std::string(to_string(layout)) + "_" + std::string(to_string(method)),
                 .layout = layout,
                 .method = method});
        }
    }
    section.jobs.push_back(
        {.name = "append_separate_fsync",
         .layout = Layout::append,
         .method = Method::separate_fsync});
    return section;
}

Section methods() {
    Section section{
        .name = "method",
        .title = "How it becomes durable",
        .question = "Which way of flushing is cheapest on blocks that exist?"};
    for (const Method method :
         {Method::pwrite_fdatasync, Method::pwrite_fsync, Method::pwrite_dsync, Method::separate,
          Method::separate_fsync, Method::linked, Method::inline_fdatasync, Method::dsync,
          Method::write_only}) {
        section.jobs.push_back(
            {.name = "method_" + std::string(to_string(method)), .method = method});
    }
    return section;
}

Section depths() {
    Section section{
        .name = "depth",
        .title = "How many at once",
        .question = "How far do overlapping writes, each with its own flush, carry?"};
    for (std::uint32_t depth = 1; depth <= 64; depth *= 2) {
        section.jobs.push_back(
            {.name = "depth_" + std::to_string(depth), .method = Method::linked, .depth = depth});
    }
    return section;
}

Section rings() {
    Section section{
        .name = "ring",
        .title = "How the ring is set up",
        .question = "What do deferred and cooperative task work gain, alone and at depth?"};
    for (const uring::RingMode mode :
         {uring::RingMode::plain, uring::RingMode::cooperative, uring::RingMode::deferred}) {
        const std::string name = "ring_" + std::string(uring::to_string(mode));
        section.jobs.push_back({.name = name, .ring = mode});
        section.jobs.push_back(
            {.name = name + "_depth_32", .method = Method::linked, .depth = 32, .ring = mode});
    }
    return section;
}

Section groups() {
    Section section{
        .name = "group",
        .title = "How many blocks share a flush",
        .question = "What does group commit gain, as one large write or as many small ones?"};
    for (std::uint32_t blocks = 1; blocks <= 64; blocks *= 2) {
        section.jobs.push_back(
            {.name = "group_" + std::to_string(blocks) + "_one_write", .blocks_per_flush = blocks});
    }
    for (std::uint32_t blocks = 4; blocks <= 64; blocks *= 4) {
        section.jobs.push_back(
            {.name = "group_" + std::to_string(blocks) + "_small_writes",
             .blocks_per_flush = blocks,
             .one_write = false});
    }
    return section;
}

// The file that every overwriting rung shares; the others need a fresh one each time.
Result<void>
run_rung(RungResult& rung, const ScratchFile& overwritten, const LadderOptions& options) {
    const auto keep = [&](Result<JobResult> result) {
        if (!result) {
            rung.failure = describe(result.error());
            return;
        }
        rung.ops_per_round.push_back(result->operations_per_second());
        rung.total.merge(*result);
    };
    if (rung.job.layout == Layout::overwritten) {
        keep(run_job(rung.job, overwritten, options.limits, options.watch));
        return {};
    }
    auto file = prepare_file(options.directory, rung.job.layout, options.limits.region_blocks);
    if (!file && file.error().code == Errc::no_space) return std::move(file).error();
    if (!file) {
        rung.failure = describe(file.error());
        return {};
    }
    keep(run_job(rung.job, *file, options.limits, options.watch));
    return {};
}

} // namespace

std::vector<Section> storage_ladder() {
    return {layouts(), methods(), rings(), depths(), groups()};
}

Result<std::vector<SectionResult>>
run_ladder(const std::vector<Section>& sections, const LadderOptions& options) {
    PROMTACT_TRY_ASSIGN(
        const ScratchFile overwritten,
        prepare_file(options.directory, Layout::overwritten, options.limits.region_blocks));
    std::vector<SectionResult> results;
    std::uint64_t total = 0;
    for (const Section& section : sections) {
        results.push_back({.section = section});
        for (const Job& job : section.jobs)
            results.back().rungs.push_back({.job = job});
        total += section.jobs.size() * options.rounds;
    }
    std::uint64_t done = 0;
    for (std::uint32_t round = 0; round < options.rounds; ++round) {
        for (SectionResult& result : results) {
            for (RungResult& rung : result.rungs) {
                if (options.progress) options.progress(done, total, rung.job.name);
                if (rung.failure.empty()) PROMTACT_TRY(run_rung(rung, overwritten, options));
                ++done;
            }
        }
    }
    return results;
}

} // namespace promtact::harness::bench
