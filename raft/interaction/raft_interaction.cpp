// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// raft_interaction [--all] PATH...: runs the data-driven files below each path and tells where they
// differ, for each file the first place or all of them. Exits 0 when all are equal or differ
// on purpose, 1 when some differ otherwise or none was compared, 2 on a path that cannot be read.
#include <cstdio>
#include <string_view>

#include "directory.hpp"

int main(int argc, char** argv) {
    const bool all = argc > 1 && std::string_view(argv[1]) == "--all";
    const int first = all ? 2 : 1;
    if (argc <= first) {
        std::fputs("usage: raft_interaction [--all] PATH...\n", stderr);
        return 2;
    }
    bool passed = true;
    for (int i = first; i < argc; ++i) {
        auto report = promtact::raft::interaction::compare_directory(argv[i]);
        if (!report) {
            std::fprintf(stderr, "raft_interaction: %s\n", report.error().context.c_str());
            return 2;
        }
        std::fputs(to_string(*report, all ? ~std::size_t{0} : 1).c_str(), stdout);
        passed = passed && report->passed();
    }
    return passed ? 0 : 1;
}
