# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""Sizes, licence lines, assertion density, and files that nothing builds."""

import ast
import re
import subprocess

from .tree import Finding, TEST_SUFFIXES

FILE_LINES, FILE_LINES_MAX = 400, 700
FUNCTION_LINES, FUNCTION_LINES_MAX = 70, 100
COLUMNS, COLUMNS_SCRIPT = 100, 120
UNIT_CMAKE_LINES, ROOT_CMAKE_LINES = 30, 120
ASSERTS_PER_KLOC = 20
DENSE_UNITS = ("base", "uring", "wal", "engine", "raft")
RATCHET = "verification/ratchet.txt"
SCRIPT_SUFFIXES = (".sh", ".py", ".cmake", "CMakeLists.txt", ".cmake.in")
SPDX = "SPDX-License-Identifier:"
COPYRIGHT = "Copyright the Promtact authors"


def is_script(source):
    return source.path.endswith(SCRIPT_SUFFIXES) or source.text.startswith("#!")


def code_files(tree):
    for path in tree.paths:
        source = None
        if path.endswith((".cpp", ".hpp", ".c", ".h") + SCRIPT_SUFFIXES):
            source = tree.file(path)
        elif "." not in path.rsplit("/", 1)[-1] and not path.startswith(("results/", "docs/")):
            if "/corpus/" in path or "/testdata/" in path:
                continue
            source = tree.file(path)
            if not source.text.startswith("#!"):
                continue
        if source is not None:
            yield source


def functions_of(source):
    if source.path.endswith(".py"):
        for node in ast.walk(ast.parse(source.text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.name, node.lineno, node.end_lineno - node.lineno + 1
    elif source.is_cpp:
        for function in source.functions:
            if not function.name.startswith("INSTANTIATE_"):  # a table, however long
                yield function.name, function.first, function.lines


def read_ratchet(text):
    """{(kind, path, name): (lines, row)} of the rows `file PATH LINES why` and
    `function PATH NAME LINES why`."""
    entries = {}
    for row, line in enumerate(text.split("\n"), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        if words[0] == "file" and len(words) > 3 and words[2].isdigit():
            entries["file", words[1], ""] = (int(words[2]), row)
        elif words[0] == "function" and len(words) > 4 and words[3].isdigit():
            entries["function", words[1], words[2]] = (int(words[3]), row)
        else:
            raise SystemExit(f"{RATCHET}:{row}: expected 'file PATH LINES reason' or "
                             f"'function PATH NAME LINES reason'")
    return entries


def _over(kind, source, line, name, lines, limits, entries, used):
    soft, hard = limits
    label = f"{name} has {lines} lines" if kind == "function" else f"{lines} lines"
    if lines > hard:
        yield Finding(source.path, line, "length", f"{label}; the limit is {hard}: split it")
    elif lines > soft:
        key = (kind, source.path, name)
        recorded, row = entries.get(key, (0, 0))
        used.add(key)
        if row == 0:
            yield Finding(source.path, line, "length",
                          f"{label}, more than {soft}: split it, or give the reason in {RATCHET}")
        elif lines != recorded:
            yield Finding(RATCHET, row, "length",
                          f"{source.path} {name} is recorded with {recorded}, has {lines}: "
                          + ("lower the record" if lines < recorded else "it may only shrink"))


def check_length(tree):
    entries = read_ratchet(tree.file(RATCHET).text) if tree.exists(RATCHET) else {}
    used = set()
    for source in code_files(tree):
        yield from _over("file", source, 1, "", source.line_count, (FILE_LINES, FILE_LINES_MAX),
                         entries, used)
        for name, first, lines in functions_of(source):
            yield from _over("function", source, first, name, lines,
                             (FUNCTION_LINES, FUNCTION_LINES_MAX), entries, used)
        if source.path.endswith("CMakeLists.txt"):
            limit = ROOT_CMAKE_LINES if "/" not in source.path else UNIT_CMAKE_LINES
            body = sum(1 for text in source.lines if text.strip() and not text.startswith("#"))
            if body > limit:
                yield Finding(source.path, 1, "length",
                              f"{body} lines; a CMakeLists.txt has at most {limit}: use the "
                              "helpers of cmake/PromtactTargets.cmake")
    for key, (_, row) in entries.items():
        if key not in used:
            yield Finding(RATCHET, row, "length", f"{' '.join(key).strip()} needs no entry: remove")
    yield from _check_ratchet_shrinks(tree, entries)


def _check_ratchet_shrinks(tree, entries):
    """Against the revision this branch started from, entries only go and only get smaller."""
    if not tree.base_revision:
        return
    before = subprocess.run(["git", "show", f"{tree.base_revision}:{RATCHET}"], cwd=tree.root,
                            capture_output=True, text=True)
    if before.returncode != 0:
        return
    old = read_ratchet(before.stdout)
    for key, (lines, row) in entries.items():
        if key not in old:
            yield Finding(RATCHET, row, "length", "a new entry: the list may only shrink")
        elif lines > old[key][0]:
            yield Finding(RATCHET, row, "length", f"grew from {old[key][0]} to {lines}")


def check_columns(tree):
    for source in code_files(tree):
        wide = source.path.endswith((".cmake", "CMakeLists.txt", ".in", ".sh"))
        limit = COLUMNS_SCRIPT if wide else COLUMNS
        for number, line in enumerate(source.lines, 1):
            shown = line.split('R"(', 1)[-1]  # a raw string's first line is what a person reads
            if len(shown) > limit:
                yield Finding(source.path, number, "columns",
                              f"{len(shown)} columns, limit {limit}")


def check_spdx(tree):
    """Two lines at the top: the licence and the copyright. BPF objects carry a GPL one."""
    for source in code_files(tree):
        head = source.lines[1:3] if source.text.startswith("#!") else source.lines[:2]
        if len(head) < 2 or SPDX not in head[0] or COPYRIGHT not in head[1]:
            yield Finding(source.path, 1, "spdx",
                          f"starts with '{SPDX} Apache-2.0' and '{COPYRIGHT}'")
            continue
        licence = head[0].split(SPDX)[1].replace("*/", "").strip()
        in_kernel = source.path.endswith((".bpf.c", ".bpf.h"))
        expected = {"GPL-2.0-only"} if in_kernel else {"Apache-2.0", "Apache-2.0 OR GPL-2.0-only"}
        if licence not in expected:
            yield Finding(source.path, 1, "spdx",
                          f"licence '{licence}'; expected {' or '.join(sorted(expected))} (NOTICE)")


def assert_density(tree, unit):
    """(assertions, lines of code) of a unit, tests left out."""
    asserts = lines = 0
    for source in tree.cpp():
        if source.path.startswith(f"{unit}/") and not source.is_test and not source.is_bpf:
            asserts += len(re.findall(r"\b(?:PROMTACT_(?:DEBUG_)?ASSERT|PROMTACT_UNREACHABLE|"
                                      r"static_assert)\s*\(", source.code))
            lines += sum(1 for line in source.code.split("\n") if line.strip())
    return asserts, lines


def check_asserts(tree):
    for unit in DENSE_UNITS:
        asserts, lines = assert_density(tree, unit)
        if lines >= 200 and asserts * 1000 < ASSERTS_PER_KLOC * lines:
            yield Finding(f"{unit}/", 0, "asserts",
                          f"{asserts} assertions in {lines} lines of code, "
                          f"{asserts * 1000 // lines} per thousand; the floor is "
                          f"{ASSERTS_PER_KLOC}")


def _cmake_mentions(tree, path):
    """True when a CMakeLists.txt above the file (or a cmake/ module) names it."""
    parts = path.split("/")
    modules = [module.path for module in tree.files("CMakeLists.txt", ".cmake")]
    for depth in range(len(parts) - 1, -1, -1):
        above = "/".join(parts[:depth])
        named = rf"(?<![\w/.-]){re.escape('/'.join(parts[depth:]))}(?![\w.-])"
        for listing in modules:
            if listing.rpartition("/")[0] == above and re.search(named, tree.file(listing).text):
                return True
    gate = re.match(r"gates/([a-z0-9_]+)/(.+)$", path)
    if gate and tree.exists("gates/CMakeLists.txt") and re.search(
            rf"promtact_gate\({gate.group(1)}\b[^)]*\b{re.escape(gate.group(2))}(?![\w.-])",
            tree.file("gates/CMakeLists.txt").text):
        return True
    return any(path in module.text or f"/{parts[-1]}" in module.text
               for module in tree.files(".cmake"))


def check_registered(tree):
    """A source that no CMakeLists.txt names is never compiled, a test among them never run."""
    for source in tree.files(".cpp", ".bpf.c"):
        parts = source.path.split("/")
        if "testdata" in parts or "header_check" in parts or parts[-1] == "gate.cpp":
            continue
        if not _cmake_mentions(tree, source.path):
            kind = "test" if source.path.endswith(TEST_SUFFIXES) else "source"
            yield Finding(source.path, 1, "registered",
                          f"no CMakeLists.txt names this {kind}: it is never built")
