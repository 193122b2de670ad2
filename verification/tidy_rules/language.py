# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""What the house style forbids in C++, each with its replacement."""

import re

from .includes import pure_headers, read_layers
from .tree import Finding

# (pattern on code without comments and strings, what to write instead)
BANNED = [
    (r"(?<![\w.>:])(?:std::)?s?rand\s*\(", "rand: promtact_choose() with a purpose"),
    (r"\b(?:std::)?str(?:n?cpy|n?cat)\s*\(", "strcpy/strcat: std::string or std::copy_n"),
    (r"\bv?sprintf\s*\(", "sprintf: fmt, or snprintf with its result checked"),
    (r"(?<![\w.>:])gets\s*\(", "gets: a bounded read"),
    (r"\b(?:std::)?sto(?:i|l|ll|ul|ull|f|d|ld)\s*\(", "std::stoi and friends throw and accept "
     "trailing text: parse with std::from_chars and check the end"),
    (r"\bato(?:i|l|ll|f)\s*\(", "atoi has no error: std::from_chars"),
    (r"\bstrto(?:l|ul|ll|ull|d|f|k)?\s*\(", "strtol/strtok: std::from_chars, or split views"),
    (r"\b(?:alloca|tmpnam|tempnam|mktemp)\s*\(", "unsafe: bounded storage, O_TMPFILE or mkstemp"),
    (r"(?<![\w.>:])(?<![\w>&*] )(?:std::)?(?:malloc|calloc|realloc|free)\s*\(",
     "malloc: a container, std::unique_ptr or an owner type"),
    (r"(?<!operator )\bnew\b(?!\s*\()\s+[\w:]", "new: std::make_unique, a container or a value"),
    (r"(?<!operator )(?<!= )\bdelete\b(?!\s*;)", "delete: an owner type"),
    (r"\bgoto\b", "goto: a function with an early return"),
    (r"\b(?:setjmp|longjmp)\s*\(", "setjmp: return a Result"),
    (r"\bthrow\b", "throw: return a Result; exceptions do not cross our interfaces"),
    (r"\b(?:dynamic_cast|typeid)\b", "RTTI: std::variant with visit, or a virtual function"),
    (r"(?<![\w.])assert\s*\(", "assert vanishes in release: PROMTACT_ASSERT"),
    (r"\bNULL\b", "NULL: nullptr"),
    (r"\btypedef\b", "typedef: using"),
    (r"\bstd::(?:format|source_location|views|expected)\b", "clang 14 does not have it"),
    (r"\bstd::endl\b", "std::endl flushes: '\\n'"),
    (r"\bstd::bind\b", "std::bind: a lambda"),
]
C_ALLOWED = ("NULL:", "typedef:")
# A test may take what a C interface gave it, parse numbers it wrote itself, and throw as a user's
# code does.
TEST_ALLOWED = ("malloc", "std::stoi", "atoi", "throw:")
# What operator new is made of.
ALLOCATORS = ("engine/include/promtact/engine/arena_new.hpp",)
ALLOCATOR_ALLOWED = ("malloc:", "throw:")
PROCESS = re.compile(r"(?<![\w.>])(?:std::|::)?(?:system|popen|exec[lv]p?e?|posix_spawnp?)\s*\(")
PROCESS_FREE = ("gates/", "netns/", "ebpf/", "uring/", "wal/", "engine/", "raft/")
FLOAT_FREE = ("engine/", "raft/", "wal/")
PURE_BANNED = [
    (r"\bunordered_\w+", "its order is not fixed: std::map or a sorted vector"),
    (r"\bstd::hash\b", "not fixed across libraries: the XXH3 wrapper"),
    (r"\bstd::(?:\w+_distribution|mt19937\w*|random_device)\b", "base/choice.h"),
    (r"\b\w+_clock::now\b", "time is passed in"),
    (r"(?<![\w.>:])(?:std::)?(?:getenv|time|clock_gettime|gettimeofday)\s*\(", "passed in"),
    (r"\bstd::(?:thread|jthread|mutex)\b", "pure units are single-threaded"),
]


def check_banned(tree):
    compiled = [(re.compile(pattern), text) for pattern, text in BANNED]
    for source in tree.cpp():
        for pattern, text in compiled:
            if source.path.endswith((".c", ".h")) and text.startswith(C_ALLOWED):
                continue
            if source.is_test and text.startswith(TEST_ALLOWED):
                continue
            if source.path in ALLOCATORS and text.startswith(ALLOCATOR_ALLOWED):
                continue
            for match in pattern.finditer(source.code):
                yield Finding(source.path, source.line_of(match.start()), "banned", text)
        if source.path.startswith(PROCESS_FREE):
            for match in PROCESS.finditer(source.code):
                yield Finding(source.path, source.line_of(match.start()), "banned",
                              "starting a program: this unit talks to the kernel by its library")


def check_ownership(tree):
    """shared_ptr and mutexes say why and what, where they stand; no using at namespace scope."""
    for source in tree.cpp():
        shared = [] if source.is_test else re.finditer(
            r"\bstd::(?:shared_ptr|make_shared)\b", source.code)
        for match in shared:
            line = source.line_of(match.start())
            near = "\n".join(source.lines[max(0, line - 6):line])
            if not re.search(r"//.*\bshare", near, re.IGNORECASE):
                yield Finding(source.path, line, "ownership",
                              "std::shared_ptr needs a comment that says why ownership is shared")
        for match in re.finditer(r"\bstd::(?:\w+_)?mutex\s+\w+\s*(?:\{\})?;", source.code):
            line = source.line_of(match.start())
            if not re.search(r"//.*guards", source.lines[line - 1]):
                yield Finding(source.path, line, "ownership",
                              "a mutex names the data it guards on the same line: // guards ...")
        folder = source.path.rsplit("/", 2)[-2] if "/" in source.path else ""
        opened = [] if source.is_test else re.finditer(
            rf"^using namespace\b(?!\s+(?:[\w:]*literals|{folder or '-'})\s*;)", source.code,
            re.MULTILINE)
        for match in opened:
            line = source.line_of(match.start())
            yield Finding(source.path, line, "ownership",
                          "using namespace at namespace scope: name what is used")


def check_pure(tree):
    layers = read_layers(tree)
    pure = {f"base/include/{name}" for name in pure_headers(tree)}
    compiled = [(re.compile(pattern), text) for pattern, text in PURE_BANNED]
    for source in tree.cpp():
        unit = layers.unit_of(source.path)
        if source.is_test:
            continue
        if source.path.startswith(FLOAT_FREE):
            for match in re.finditer(r"\b(?:float|double)\b", source.code):
                yield Finding(source.path, source.line_of(match.start()), "pure",
                              "floating point in engine, raft or wal: integers in base units")
        if source.path not in pure and not (unit and unit[0] in layers.pure):
            continue
        for pattern, text in compiled:
            for match in pattern.finditer(source.code):
                yield Finding(source.path, source.line_of(match.start()), "pure",
                              f"{match.group(0).strip('( ')} in a pure unit: {text}")


def check_pure_list(tree):
    """base/pure_headers.txt names headers that exist."""
    for name in sorted(pure_headers(tree)):
        if not tree.exists(f"base/include/{name}"):
            yield Finding("base/pure_headers.txt", 1, "pure", f"{name} does not exist")
