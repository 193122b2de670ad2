# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""verification/parity.txt: what the reference system tests, and where it is weak, mapped to us."""

import fnmatch
import json
import re
import subprocess

from .tree import Finding

PARITY = "verification/parity.txt"
TOPICS = ("engine", "wal", "raft", "service", "chaos", "verification")
WEAKNESSES = [f"W{n}" for n in range(1, 90)] + [f"SD{n:02}" for n in range(1, 20)]


def read_parity(tree):
    """Rows (row number, section, id, what follows the arrow), and what each section declares."""
    rows, declared, section = [], {}, ""
    for number, line in enumerate(tree.file(PARITY).lines, 1):
        text = line.split("#", 1)[0].strip()
        header = re.fullmatch(r"\[(.+?) (\d+)\]", text)
        if header:
            section = header.group(1)
            declared[section] = (int(header.group(2)), number)
        elif text:
            name, _, target = text.partition(" -> ")
            rows.append((number, section, name.strip(), target.strip()))
    return rows, declared


def registered_tests(tree):
    """The names ctest knows in build/dev; None when there is no build to ask."""
    if not tree.exists("build/dev/CTestTestfile.cmake"):
        return None
    done = subprocess.run(["ctest", "--test-dir", "build/dev", "--show-only=json-v1"],
                          cwd=tree.root, capture_output=True, text=True)
    if done.returncode != 0:
        return None
    names = {test["name"] for test in json.loads(done.stdout)["tests"]}
    return None if any(name.endswith("_NOT_BUILT") for name in names) else names


def _check_target(tree, row, tests):
    number, _, name, target = row
    later = re.fullmatch(r"later (\w+)", target)
    decision = re.fullmatch(r"decision (\d{4})", target)
    if later:
        if later.group(1) not in TOPICS:
            yield Finding(PARITY, number, "parity",
                          f"{name}: '{later.group(1)}' is no topic ({', '.join(TOPICS)})")
    elif decision:
        if not any(path.startswith(f"docs/decisions/{decision.group(1)}-") for path in tree.paths):
            yield Finding(PARITY, number, "parity",
                          f"{name}: no docs/decisions/{decision.group(1)}-*")
    elif not target:
        yield Finding(PARITY, number, "parity", f"{name} leads nowhere: tests, 'decision NNNN' or "
                      "'later TOPIC'")
    elif tests is not None:
        for test in re.split(r"[,\s]+", target):
            if test not in tests and not fnmatch.filter(tests, test):
                yield Finding(PARITY, number, "parity", f"{name}: ctest knows no test '{test}'")


def check_parity(tree):
    if not tree.exists(PARITY):
        yield Finding(PARITY, 1, "parity", "is missing")
        return
    rows, declared = read_parity(tree)
    tests = registered_tests(tree)
    if tests is None:
        tree.notes.append("parity: build/dev is not built, so mapped names were not compared with "
                          "ctest")
    seen = {}
    for row in rows:
        number, section, name, _ = row
        if (section, name) in seen:
            yield Finding(PARITY, number, "parity",
                          f"{name} is also in line {seen[section, name]}")
        seen[section, name] = number
        yield from _check_target(tree, row, tests)
    for weakness in WEAKNESSES:
        if ("weaknesses", weakness) not in seen:
            yield Finding(PARITY, 1, "parity", f"{weakness} is missing from [weaknesses]")
    for section, (count, number) in declared.items():
        found = sum(1 for row in rows if row[1] == section)
        if found != count:
            yield Finding(PARITY, number, "parity",
                          f"[{section}] declares {count} rows and has {found}")
