// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// raft_interaction PATH...: runs the data-driven files below each path and tells where the outputs
// differ. Exits 0 when all are equal, 1 when some differ or none was compared, 2 on a path that
// cannot be read.
#include <cstdio>

#include "directory.hpp"

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("usage: raft_interaction PATH...\n", stderr);
        return 2;
    }
    bool passed = true;
    for (int i = 1; i < argc; ++i) {
        auto report = promtact::raft::interaction::compare_directory(argv[i]);
        if (!report) {
            std::fprintf(stderr, "raft_interaction: %s\n", report.error().context.c_str());
            return 2;
        }
        std::fputs(to_string(*report).c_str(), stdout);
        passed = passed && report->passed();
    }
    return passed ? 0 : 1;
}
