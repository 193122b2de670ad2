#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""The house rules, as a program: `make lint`.

Prints one line per finding, `path:line: rule: message`, and exits 1 when there is any. Rules that
compile something look at what differs from origin/main and at a tenth of the rest, a different one
every day; --all looks at everything. verification/tidy_test.py plants a violation for
every rule.
"""

import argparse
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
from tidy_rules import gates, includes, language, parity, prose, shape, tools  # noqa: E402
from tidy_rules.tree import Tree  # noqa: E402

RULES = {
    "layers": (includes.check_layers, "units include only what cmake/layers.txt allows"),
    "includes": (includes.check_include_style, "brackets cross a unit, quotes stay inside"),
    "banned": (language.check_banned, "calls and constructs with a better replacement"),
    "ownership": (language.check_ownership, "shared_ptr, mutex, using namespace"),
    "pure": (language.check_pure, "no clock, order, float or thread in pure units"),
    "pure-list": (language.check_pure_list, "base/pure_headers.txt names real headers"),
    "length": (shape.check_length, "files, functions and CMakeLists stay small; ratchet"),
    "columns": (shape.check_columns, "lines stay within the width"),
    "spdx": (shape.check_spdx, "licence and copyright lines"),
    "asserts": (shape.check_asserts, "assertion density of the core units"),
    "registered": (shape.check_registered, "every source and test is built"),
    "words": (prose.check_words, "nothing unfinished, no path or host of one machine"),
    "contracts": (prose.check_contracts, "public names carry contracts"),
    "readme": (prose.check_readmes, "every unit folder has its page"),
    "markdown": (prose.check_markdown, "one title, links that lead somewhere"),
    "gate": (gates.check_gates, "a gate has body, control, texts, README and test"),
    "parity": (parity.check_parity, "reference tests and weaknesses are accounted for"),
    "format": (tools.check_format, "clang-format 14"),
    "shell": (tools.check_shell, "shellcheck"),
    "spelling": (tools.check_spelling, "codespell"),
    "headers": (tools.check_headers, "public headers compile alone under both compilers"),
    "clang-tidy": (tools.check_clang_tidy, "clang-tidy 14, .clang-tidy"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("rules", nargs="*", metavar="rule", help="only these rules")
    parser.add_argument("--all", action="store_true", help="compile-like rules look at every file")
    parser.add_argument("--root", default=str(Path(__file__).resolve().parent.parent))
    parser.add_argument("--list", action="store_true", help="list the rules and exit")
    parser.add_argument("--skip", action="append", default=[], choices=list(RULES), metavar="RULE",
                        help="leave this rule out; may be repeated")
    parser.add_argument("--fix", choices=["format"], help="repair instead of reporting")
    arguments = parser.parse_args()
    if arguments.list:
        for name, (_, text) in RULES.items():
            print(f"{name:<12}{text}")
        return 0
    tree = Tree(Path(arguments.root).resolve(), everything=arguments.all)
    if arguments.fix == "format":
        list(tools.check_format(tree, fix=True))
        return 0
    unknown = set(arguments.rules) - set(RULES)
    if unknown:
        parser.error(f"unknown rule {', '.join(sorted(unknown))}; --list shows them")
    findings = 0
    began = time.monotonic()
    chosen = [name for name in arguments.rules or list(RULES) if name not in arguments.skip]
    for name in chosen:
        for finding in RULES[name][0](tree):
            print(finding, flush=True)
            findings += 1
    for note in tree.notes:
        print(f"lint: {note}")
    print(f"lint: {len(tree.paths)} files, {len(chosen)} rules, {findings} findings, "
          f"{time.monotonic() - began:.0f} s")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
