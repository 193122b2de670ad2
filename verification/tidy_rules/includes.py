# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""Layers and include style: who may include whom, and how an include is spelled."""

import posixpath
import re
from dataclasses import dataclass, field

from .tree import Finding, matches

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
PURE_BANNED_HEADERS = {
    "thread": "pure units are single-threaded", "future": "single-threaded",
    "mutex": "pure units are single-threaded", "condition_variable": "single-threaded",
    "random": "its distributions differ between libraries: base/choice.h",
    "unordered_map": "its order is not fixed: std::map or a sorted vector",
    "unordered_set": "its order is not fixed: std::set or a sorted vector",
    "fstream": "no files", "filesystem": "no files", "iostream": "no streams", "ctime": "no clock",
    "unistd.h": "no system calls", "fcntl.h": "no system calls", "time.h": "no clock",
}


# What the second engine may have in common with the first: the form of a protocol and the fold of
# the trace.
REFERENCE_MAY_SHARE = {"promtact/engine/concepts.hpp", "promtact/engine/event.hpp"}


@dataclass
class Layers:
    """cmake/layers.txt, parsed."""

    units: list = field(default_factory=list)  # (name, patterns, allowed)
    pure: set = field(default_factory=set)
    libraries: list = field(default_factory=list)  # (header, patterns)

    def unit_of(self, path):
        found = None
        for name, patterns, allowed in self.units:
            if any(matches(path, pattern) for pattern in patterns):
                found = (name, allowed)
        return found


def read_layers(tree):
    layers = Layers()
    for number, line in enumerate(tree.file("cmake/layers.txt").lines, 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        kind, rest = words[0], words[1:]
        if kind == "pure":
            layers.pure |= set(rest)
        elif kind in ("unit", "library") and ":" in rest:
            colon = rest.index(":")
            if kind == "unit":
                layers.units.append((rest[0], rest[1:colon], set(rest[colon + 1:])))
            else:
                layers.libraries.append((rest[0], rest[colon + 1:]))
        else:
            raise SystemExit(f"cmake/layers.txt:{number}: cannot read '{line}'")
    return layers


def pure_headers(tree):
    """The headers of base that a pure unit may include, as they are included."""
    if not tree.exists("base/pure_headers.txt"):
        return set()
    lines = tree.file("base/pure_headers.txt").lines
    names = {line.split("#")[0].strip() for line in lines} - {""}
    return {f"promtact/base/{name}" for name in names}


def is_generated(tree, header):
    """True for a header some CMake file says it writes."""
    name = header.rsplit("/", 1)[-1]
    return name.endswith(".skel.h") or any(
        name in source.text for source in tree.files("CMakeLists.txt", ".cmake"))


def includes(source):
    for match in INCLUDE.finditer(source.code_with_strings):
        yield source.line_of(match.start()), match.group(1), match.group(2)


def qualified_folders(tree, gate):
    """The folders a gate names in GateInfo::qualifies."""
    for path in (f"gates/{gate}/gate.cpp", f"gates/{gate}/gate.hpp"):
        if not tree.exists(path):
            continue
        found = re.search(r"qualif\w*[^;]*?\{([^}]*)\}", tree.file(path).code_with_strings)
        if found:
            return set(re.findall(r'"(\w+)"', found.group(1)))
    return set()


def _check_unit_include(tree, source, line, header, layers, pure):
    unit, allowed = layers.unit_of(source.path)
    other = header.split("/")[1]
    gate = re.match(r"gates/([a-z0-9_]+)/[^/]+$", source.path)
    if gate and tree.exists(f"gates/{gate.group(1)}/gate.cpp"):
        folders = qualified_folders(tree, gate.group(1))
        qualified = {name for name, patterns, _ in layers.units
                     if any(pattern.split("/")[0] in folders for pattern in patterns)}
        below = [more for name, _, more in layers.units if name in qualified]
        allowed = allowed.union(qualified, *below)
    owner = layers.unit_of(f"{other}/include/{header}") or (other, set())
    reachable = {unit} | allowed
    if owner[0] not in reachable:
        yield Finding(source.path, line, "layers",
                      f"{unit} may not include {owner[0]} (<{header}>); cmake/layers.txt allows "
                      f"{', '.join(sorted(reachable))}")
    here_is_pure = unit in layers.pure or source.path in {f"base/include/{name}" for name in pure}
    if here_is_pure and owner[0] == "base" and not source.is_test and header not in pure:
        yield Finding(source.path, line, "layers",
                      f"<{header}> is not in base/pure_headers.txt, and {source.path} is pure")


def check_layers(tree):
    layers = read_layers(tree)
    pure = pure_headers(tree)
    for source in tree.cpp():
        if layers.unit_of(source.path) is None:
            continue
        for line, _, header in includes(source):
            if source.path.startswith("engine/reference/") and header.startswith(
                    "promtact/engine/") and header not in REFERENCE_MAY_SHARE:
                yield Finding(source.path, line, "layers",
                              f"<{header}> in the reference engine: it shares only "
                              f"{', '.join(sorted(REFERENCE_MAY_SHARE))}, or it proves nothing")
            if header.startswith("promtact/") and header.count("/") >= 2:
                yield from _check_unit_include(tree, source, line, header, layers, pure)
            for library, patterns in layers.libraries:
                owns = header.startswith(library) if library.endswith("/") else header == library
                if owns and not any(matches(source.path, pattern) for pattern in patterns):
                    yield Finding(source.path, line, "layers",
                                  f"<{header}> is included only by {', '.join(patterns)}: use the "
                                  "wrapper there")
            here_is_pure = (layers.unit_of(source.path)[0] in layers.pure
                            or source.path in {f"base/include/{name}" for name in pure})
            if here_is_pure and not source.is_test and header in PURE_BANNED_HEADERS:
                yield Finding(source.path, line, "layers",
                              f"<{header}> in a pure unit: {PURE_BANNED_HEADERS[header]}")


def _found_by_quotes(tree, source, folder, unit, header):
    """Beside the file, at the unit's top, generated, or, for tests, in a testing folder."""
    is_test = source.is_test or "_test_" in source.path or "fixture" in source.path
    places = [folder, unit] + (
        [f"{unit}/testing", "base/testing"] if is_test else [])
    return any((tree.root / place / header).exists() for place in places) or is_generated(
        tree, header)


def _unit_folder(tree, path):
    """The folder that owns include/: the first, or the second where that has headers of its own."""
    parts = path.split("/")
    nested = "/".join(parts[:2])
    return nested if (tree.root / nested / "include").is_dir() else parts[0]


# Units inside another whose last word would name two of them.
FULL_NAMES = {"raft/sim": "raft_sim"}


def _public_header_exists(tree, header):
    """At the top of a unit, or of one that lies inside another (harness/sim)."""
    unit = header.split("/")[1]
    places = [unit, *(f"{above}/{unit}" for above in ("engine", "harness", "raft", "verification"))]
    places += [folder for folder, name in FULL_NAMES.items() if name == unit]
    return any(tree.exists(f"{place}/include/{header}") for place in places)


def check_include_style(tree):
    """Brackets cross a unit, quotes stay inside; public headers live under include/promtact/."""
    for source in tree.cpp():
        folder = source.path.rsplit("/", 1)[0] if "/" in source.path else ""
        unit = _unit_folder(tree, source.path)
        name = FULL_NAMES.get(unit, unit.rsplit("/", 1)[-1])
        if source.path.endswith((".hpp", ".h")) and not source.is_bpf:
            if source.path.endswith(".hpp") and "#pragma once" not in source.text:
                yield Finding(source.path, 1, "includes", "#pragma once is missing")
            inside = f"{unit}/include/"
            public = (f"{inside}promtact/{name}/", f"{inside}promtact/{name}.hpp")
            if source.path.startswith(inside) and not source.path.startswith(public):
                yield Finding(source.path, 1, "includes",
                              f"public headers live at {inside}promtact/{name}/")
        for line, bracket, header in includes(source):
            if bracket == '"':
                if header.startswith("promtact/"):
                    yield Finding(source.path, line, "includes",
                                  f'"{header}" is a public header: <{header}>')
                elif not posixpath.normpath(f"{folder}/{header}").startswith(f"{unit}/"):
                    yield Finding(source.path, line, "includes",
                                  f'"{header}" climbs out of its unit: quotes stay inside a unit')
                elif not _found_by_quotes(tree, source, folder, unit, header):
                    yield Finding(source.path, line, "includes",
                                  f'"{header}" is not a file of this unit: brackets cross a unit')
            elif header.startswith("promtact/"):
                part = header.split("/")
                if len(part) > 2 and not _public_header_exists(tree, header):
                    yield Finding(source.path, line, "includes",
                                  f"<{header}> does not exist at {part[1]}/include/{header}")
