// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdio>

#include <fmt/format.h>

#include <promtact/base/build_info.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/harness/command.hpp>
#include <promtact/harness/flags.hpp>

#include "platform.hpp"

namespace promtact::harness {

namespace {

constexpr std::string_view footer = R"(examples:
  promtact version
  promtact version -short
  promtact version -json

exit codes:
  0  printed
  2  bad flag; also -h, whose exit code scripts written for earlier releases rely on
)";

std::string as_text(const BuildInfo& build) {
    const std::string_view note = build.dirty ? " (modified)" : "";
    return fmt::format(
        "promtact {}\nrevision    {}{}\nbuild       {}, {}\ncompiler    {}\nplatform    {}\n",
        build.version, build.commit, note, build.build_type, build.flags, build.compiler, platform);
}

std::string as_json(const BuildInfo& build) {
    JsonWriter json;
    json.field("schema", "promtact.version/1");
    json.field("version", build.version);
    json.field("revision", build.commit);
    json.field_bool("modified", build.dirty);
    json.field("build_type", build.build_type);
    json.field("flags", build.flags);
    json.field("compiler", build.compiler);
    json.field("platform", platform);
    return json.finish();
}

} // namespace

int run_version(std::span<const std::string> arguments) {
    bool only_version = false;
    bool json = false;
    FlagSet flags("promtact version", "print what this binary was built from");
    flags.flag("short", only_version, "print the version number alone");
    flags.flag("json", json, "print one JSON object");
    flags.footer(footer);
    // The one command whose -h exits 2: the exit codes of this command are contractual.
    if (const auto exit = flags.parse(arguments)) return *exit == 0 ? 2 : *exit;
    if (json && only_version) {
        std::fputs("promtact version: give -json or -short, not both\n", stderr);
        return 2;
    }
    const BuildInfo& build = build_info();
    if (json) {
        std::fputs(as_json(build).c_str(), stdout);
    } else if (only_version) {
        std::fputs(fmt::format("{}\n", build.version).c_str(), stdout);
    } else {
        std::fputs(as_text(build).c_str(), stdout);
    }
    return 0;
}

} // namespace promtact::harness
