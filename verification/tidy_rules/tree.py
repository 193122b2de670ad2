# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""The source tree as the rules see it: files, their code without comments, their functions."""

import fnmatch
import functools
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

CPP_SUFFIXES = (".cpp", ".hpp", ".c", ".h")
TEST_SUFFIXES = ("_test.cpp", "_test_internal.hpp", "_bench.cpp", "_fuzz.cpp",
                 "_campaign.cpp")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, where, and under which rule."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Function:
    """A C++ function definition: its name and the lines it spans, both inclusive."""

    name: str
    first: int
    last: int

    @property
    def lines(self):
        return self.last - self.first + 1


def matches(path, pattern):
    """A pattern is a glob when it holds a star, a path prefix otherwise."""
    if "*" in pattern:
        return fnmatch.fnmatchcase(path, pattern)
    return path.startswith(pattern)


_TOKEN = re.compile(
    r"""
    (?P<line>//(?:\\\n|[^\n])*)
  | (?P<block>/\*.*?\*/)
  | (?P<raw>R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<char>(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')
    """,
    re.VERBOSE | re.DOTALL,
)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def strip(text, keep_strings):
    """Comments (and, unless kept, the contents of literals) replaced by spaces; positions stay."""

    def replace(match):
        token = match.group(0)
        if match.lastgroup == "line" or match.lastgroup == "block":
            return _blank(token)
        if keep_strings:
            return token
        return token[0] + _blank(token[1:-1]) + token[-1]

    return _TOKEN.sub(replace, text)


class SourceFile:
    """One text file, with the views the rules need, each computed once."""

    def __init__(self, root, path):
        self.path = path
        self.text = (root / path).read_text(encoding="utf-8", errors="replace")

    @functools.cached_property
    def lines(self):
        return self.text.split("\n")

    @functools.cached_property
    def line_count(self):
        return self.text.count("\n")

    @functools.cached_property
    def code(self):
        """Without comments and without the contents of string literals."""
        return strip(self.text, keep_strings=False)

    @functools.cached_property
    def code_with_strings(self):
        return strip(self.text, keep_strings=True)

    @functools.cached_property
    def functions(self):
        return list(_functions(self.code))

    @property
    def is_cpp(self):
        return self.path.endswith(CPP_SUFFIXES)

    @property
    def is_bpf(self):
        return self.path.endswith(".bpf.c")

    @property
    def is_test(self):
        return self.path.endswith(TEST_SUFFIXES) or "/testing/" in self.path

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1


_SCOPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:(?:inline|typedef|static|const|constexpr)\s+)*"
                    r"(?:namespace|class|struct|union|enum|extern)\b", re.DOTALL)
_LABEL = re.compile(r"^\s*(?:(?:public|private|protected)\s*:\s*)*")
_AFTER_PARAMETERS = re.compile(r"\)\s*(?:const|noexcept|override|final|mutable|try|&{1,2}|\s)*$")
_MEMBER_INIT = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)", re.DOTALL)
_NAME = re.compile(r"(operator\s*(?:\(\)|\[\]|[^\s(]+)|[\w:~]+)\s*(?:<[^<>]*>)?\s*\(")


def _classify(head):
    """What the brace after `head` opens, at namespace or class scope."""
    text = _LABEL.sub("", head).strip()
    if not text:
        return "scope"
    if text.endswith(("=", ",", "(", "[", "]", "return")):
        return "initialiser"
    if _SCOPE.match(text):
        return "function" if _AFTER_PARAMETERS.search(text) else "scope"
    if "(" not in text:
        return "initialiser"
    if _AFTER_PARAMETERS.search(text) or re.search(r"\)[^()]*->[^()]*$", text):
        return "function"
    return "function" if _MEMBER_INIT.search(text) and text.endswith("}") else "initialiser"


def _functions(code):
    """Definitions by bracket matching: exact enough for lengths, and free of a compiler."""
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", lambda m: _blank(m.group(0)), code, flags=re.MULTILINE)
    stack = []  # (kind, offset of the head)
    start = 0
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        kind = stack[-1][0] if stack else "scope"
        if match.group(0) == "{":
            if kind != "scope":
                stack.append(("block" if kind in ("function", "block") else "initialiser", start))
                continue
            opened = _classify(code[start:at])
            stack.append((opened, start))
            if opened != "initialiser":
                start = at + 1
        elif match.group(0) == "}":
            kind, begin = stack.pop() if stack else ("scope", start)
            if kind == "function":
                head = code[begin:at]
                first = begin + len(_LABEL.match(head).group(0))
                name = _NAME.search(head)
                yield Function(name.group(1).strip() if name else "lambda",
                               code.count("\n", 0, first) + 1, code.count("\n", 0, at) + 1)
            if kind in ("function", "scope"):
                start = at + 1
        elif kind == "scope":
            start = at + 1


@dataclass
class Tree:
    """The files of a repository, tracked or not yet added, without what git ignores."""

    root: Path
    everything: bool = False
    notes: list = field(default_factory=list)

    @functools.cached_property
    def paths(self):
        try:
            listing = subprocess.run(
                ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                cwd=self.root, capture_output=True, check=True).stdout.decode()
            names = [name for name in listing.split("\0") if name]
        except (subprocess.CalledProcessError, FileNotFoundError):
            names = []
            for folder, folders, files in os.walk(self.root):
                folders[:] = [f for f in folders if f not in ("build", ".git", "__pycache__")]
                names += [os.path.relpath(os.path.join(folder, f), self.root) for f in files]
        return sorted(name for name in set(names) if (self.root / name).is_file())

    @functools.cached_property
    def _cache(self):
        return {}

    def file(self, path):
        if path not in self._cache:
            self._cache[path] = SourceFile(self.root, path)
        return self._cache[path]

    def files(self, *suffixes):
        return [self.file(path) for path in self.paths if path.endswith(suffixes)]

    def cpp(self):
        return self.files(*CPP_SUFFIXES)

    def exists(self, path):
        return (self.root / path).exists()

    def _git(self, *words):
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    @functools.cached_property
    def landed_revision(self):
        """The last commit here that has landed: where this branch left origin/main, or the local
        main when there is no origin. None outside git and in a clone that has neither."""
        return (self._git("merge-base", "HEAD", "origin/main")
                or self._git("merge-base", "HEAD", "main") or None)

    @functools.cached_property
    def base_revision(self):
        """The commit that "changed" is measured from: where this branch left origin/main, or, on
        main itself, twenty commits back. None outside git or in a shallow clone."""
        base = self._git("merge-base", "HEAD", "origin/main")
        if base and base != self._git("rev-parse", "HEAD"):
            return base
        return self._git("rev-parse", "--verify", "--quiet", "HEAD~20") or None

    def _differing_from(self, revision):
        names = self._git("diff", "--name-only", "-z", revision, "--").split("\0")
        untracked = self._git("ls-files", "--others", "--exclude-standard", "-z").split("\0")
        return (set(names) | set(untracked)) & set(self.paths)

    @functools.cached_property
    def changed(self):
        """Paths that differ from base_revision, plus the untracked ones; every path when there is
        no base to compare with."""
        if self.everything or self.base_revision is None:
            return set(self.paths)
        return self._differing_from(self.base_revision)

    @functools.cached_property
    def unlanded(self):
        """Paths that differ from landed_revision, plus the untracked ones: what the slowest rule
        looks at. None of them when nothing tells what has landed."""
        if self.landed_revision is None:
            return set()
        return self._differing_from(self.landed_revision)
