// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// new: a project to begin with.
#include <filesystem>

#include <fmt/format.h>

#include <promtact/sim/skeleton.hpp>

#include "command_common_internal.hpp"

namespace promtact::sim {

int run_new(const Tool& tool, std::span<const std::string> arguments) {
    std::vector<std::string> directories;
    std::string name;
    harness::FlagSet set(
        tool.program + " new", "Writes a project that tests a protocol of your own.");
    set.positionals("directory", directories, 1, 1, "not there yet, or empty");
    set.text("name", name, "of the project; default: the directory's");
    set.footer(footer(
        tool, {"new my_protocol", "new ../quorum-test --name quorum"},
        "  0  written\n  1  it could not be written\n"
        "  2  usage, a bad name, or a directory that is not empty\n"));
    if (const auto exit = set.parse(arguments)) return *exit;
    const std::filesystem::path directory = directories.front();
    if (name.empty()) {
        const std::filesystem::path whole = std::filesystem::absolute(directory).lexically_normal();
        name = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
    }
    const auto written = write_skeleton(directory, name);
    if (!written) {
        const Errc code = written.error().code;
        static_cast<void>(refuse(tool, written.error()));
        return code == Errc::invalid_argument || code == Errc::exists ? exit_usage : 1;
    }
    std::string text;
    for (const std::filesystem::path& path : *written)
        text += "wrote " + path.string() + "\n";
    text += fmt::format(
        "\nnext:\n  cd {}\n  cmake -B build -DCMAKE_PREFIX_PATH=<where Promtact is installed>, or\n"
        "  cmake -B build -DPROMTACT_SOURCE=<its source tree>\n"
        "  cmake --build build && ctest --test-dir build\n",
        for_shell(directory.string()));
    std::fputs(text.c_str(), stdout);
    return 0;
}

} // namespace promtact::sim
