// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "commands/started.hpp"

#include <promtact/base/build_info.hpp>

namespace promtact::harness {

Started::Started() : at_(unix_seconds_now()), from_(clock_.now_ns()) {}

gates::RunRecord Started::finish(
    std::string_view command, std::span<const std::string> words, std::uint64_t seed) const {
    const BuildInfo& build = build_info();
    gates::RunRecord run;
    run.started_at = format_utc(at_);
    run.duration_ns = clock_.now_ns() - from_;
    run.commit = build.commit;
    run.dirty = build.dirty;
    run.command = {"promtact", std::string(command)};
    run.command.insert(run.command.end(), words.begin(), words.end());
    run.build.preset = build.preset.empty() ? build.build_type : build.preset;
    run.build.compiler = build.compiler;
    run.build.flags = build.flags;
    run.build.assertions = build.assertions;
    run.seed = seed;
    return run;
}

} // namespace promtact::harness
