# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""A gate is complete: one body that is also its control, its texts, its README, its test."""

import re

from .tree import Finding

FIELDS = ("id", "title", "qualifies", "budget", "establishes", "does_not_establish", "control",
          "control_breaks", "remedy")
BODY = re.compile(r"\bResult<GateReport>\s+(\w+)\s*\(\s*const\s+GateContext\s*&\s*\w*\s*\)\s*\{")


def _code_of(tree, gate, source):
    """The gate's own sources, and those of the shared folders it includes from."""
    folders = {f"gates/{gate}/"} | {f"gates/{name}/" for name in re.findall(
        r'#include "\.\./(\w+_support)/', source.code_with_strings)}
    return "\n".join(tree.file(path).code for path in tree.paths
                     if path.startswith(tuple(folders)) and path.endswith(".cpp")
                     and not path.endswith("_test.cpp"))


def gate_ids(tree):
    return sorted(path.split("/")[1] for path in tree.paths
                  if re.fullmatch(r"gates/[a-z0-9_]+/gate\.cpp", path))


def _check_info(source, gate, code):
    info = re.search(r"GateInfo\s+\w+\s*(?:=\s*GateInfo\s*)?(?:=\s*)?\{", code)
    if not info:
        yield Finding(source.path, 1, "gate", "no GateInfo in this file")
        return
    text = code[info.end():]
    line = source.line_of(info.start())
    for name in FIELDS:
        value = re.search(rf"\.{name}\s*=\s*(.*?)(?=,\s*\.\w+\s*=|,?\s*\}}\s*;)", text, re.DOTALL)
        if not value or re.fullmatch(r'(?:""|\{\}|\s)*', value.group(1)):
            yield Finding(source.path, line, "gate", f"GateInfo::{name} is empty")
        elif name == "id" and value.group(1).strip() != f'"{gate}"':
            yield Finding(source.path, line, "gate",
                          f"GateInfo::id is {value.group(1).strip()}, the folder is {gate}")
        elif name == "control" and not re.fullmatch(r'"[a-z0-9_]+"', value.group(1).strip()):
            yield Finding(source.path, line, "gate", "GateInfo::control is one snake_case name")


def check_gates(tree):
    catalog = tree.file("gates/catalog.cpp").code if tree.exists("gates/catalog.cpp") else ""
    for gate in gate_ids(tree):
        source = tree.file(f"gates/{gate}/gate.cpp")
        yield from _check_info(source, gate, source.code_with_strings)
        bodies = BODY.findall(source.code)
        if bodies.count(f"run_{gate}") != 1:
            yield Finding(source.path, 1, "gate",
                          f"{bodies.count(f'run_{gate}')} definitions of Result<GateReport> "
                          f"run_{gate}(const GateContext&): one body, which is also the control")
        if "sabotaged()" not in _code_of(tree, gate, source):
            yield Finding(source.path, 1, "gate",
                          "never asks context.sabotaged(): the control cannot differ from the body")
        for body in bodies:
            early = re.search(rf"\b{body}\s*\([^)]*\)\s*\{{\s*if\s*\(\s*\w+\.sabotaged\(\)\s*\)\s*"
                              r"(?:\{\s*)?return", source.code)
            if early:
                yield Finding(source.path, source.line_of(early.start()), "gate",
                              "the control returns before the body has done anything")
        for name in ("README.md", "gate_test.cpp"):
            if not tree.exists(f"gates/{gate}/{name}"):
                yield Finding(source.path, 1, "gate", f"gates/{gate}/{name} is missing")
        if not re.search(rf"\b{gate}_info\b", catalog):
            yield Finding("gates/catalog.cpp", 1, "gate", f"{gate} has no line in the catalog")
