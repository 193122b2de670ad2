# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""Contracts on public names, words that do not belong, unit READMEs and links in Markdown."""

import re

from .tree import Finding

# Spelled apart so that this file does not break its own rule. Case matters for the first: 'hack'
# is also a word.
UNFINISHED = (
    re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"),
    re.compile(r"\bplace" r"holder\b|\bnot (?:yet )?imple" r"mented\b|\blorem ip" r"sum\b",
               re.IGNORECASE))
WORKPLACE = [
    (re.compile(r"(?<![\w.])/(?:home|root|Users|workspace|work)/[\w.]"), "a path of one machine"),
    (re.compile(r"\b[\w-]+\.(?:internal|corp|lan)\b(?!\.)"), "a host of one network"),
    (re.compile(r"\b[\w.+-]+@(?!example\.)[\w-]+\.(?:com|org|net|io|dev)\b"), "a mail address"),
]
TEXT_SUFFIXES = (".cpp", ".hpp", ".c", ".h", ".py", ".sh", ".cmake", ".md", ".txt", ".json",
                 ".in", "Makefile")
SELF = ("verification/tidy_rules/", "verification/tidy_test.py")
TYPE = re.compile(r"^(?:template\s*<[^;{]*>\s*)?(?:enum\s+)?(?:class|struct|union)\s+"
                  r"(?:\[\[\w+\]\]\s*)?(?:alignas\([^)]*\)\s*)?(\w+)[^;()]*$", re.DOTALL)
FUNCTION = re.compile(r"\b([a-z_]\w*)\s*\([^;{}]*\)\s*(?:const|noexcept|->[^;{]*|\s)*$", re.DOTALL)
SELF_EVIDENT = {"to_string", "to_json", "swap", "main", "hash_value"}


def check_words(tree):
    for source in tree.files(*TEXT_SUFFIXES):
        if source.path.startswith(SELF) or "/corpus/" in source.path:
            continue
        for number, line in enumerate(source.lines, 1):
            for pattern in UNFINISHED:
                found = pattern.search(line)
                if found:
                    yield Finding(source.path, number, "unfinished",
                                  f"'{found.group(0)}': finish it or file it")
            for pattern, what in WORKPLACE:
                found = pattern.search(line)
                if found:
                    yield Finding(source.path, number, "neutral",
                                  f"'{found.group(0)}' is {what}: the project speaks of itself")


def _declarations(source):
    """(line, name, text above) of each type and free function at namespace scope of a header."""
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  source.code, flags=re.MULTILINE)
    depth = start = 0
    hidden = []
    for match in re.finditer(r"[{};]", code):
        at = match.start()
        if match.group(0) == "{":
            head = code[start:at].strip()
            namespace = re.match(r"(?:inline\s+)?namespace\b\s*([\w:]*)|extern\b", head)
            if namespace and depth == len(hidden):
                hidden.append(namespace.group(1) in ("", "detail") and "namespace" in head)
                depth += 1
                start = at + 1
                continue
            if depth == len(hidden) and not any(hidden):
                yield from _declared(source, code, start, at)
            depth += 1
        elif match.group(0) == "}":
            depth -= 1
            if depth < len(hidden):
                hidden.pop()
            if depth == len(hidden):
                start = at + 1
        elif depth == len(hidden):
            if not any(hidden):
                yield from _declared(source, code, start, at)
            start = at + 1


def _closing(code, opening):
    """Offset of the brace that closes the one at `opening`."""
    depth = 0
    for match in re.finditer(r"[{}]", code[opening:]):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return opening + match.start()
    return len(code)


def _declared(source, code, start, end):
    head = code[start:end]
    text = head.strip()
    if not text or text.startswith(("using", "friend", "static_assert", "typedef")):
        return
    first = start + (len(head) - len(head.lstrip()))
    is_definition = code[end:end + 1] == "{"
    type_name = TYPE.match(text)
    if type_name and is_definition:
        body = source.text[end:_closing(code, end)]
        plain = not re.match(r"(?:template[^;]*)?class\b", text) and "//" in body
        yield source.line_of(first), type_name.group(1), "plain" if plain else "type"
    elif not type_name and "=" not in text.split("(")[0]:
        function = FUNCTION.search(text)
        if function and "operator" not in text and "::" not in text.split("(")[0].split()[-1]:
            yield source.line_of(first), function.group(1), "function"


def check_contracts(tree):
    """Each public type and free function has a comment above. One comment may cover the
    declarations that follow it without a blank line, the comment that opens a file covers the first
    type of the file, and a plain struct or enum may explain itself on its members."""
    for source in tree.files(".hpp"):
        if "/include/promtact/" not in source.path or "/testing/" in source.path:
            continue
        opened = any(line.startswith("//") and len(line) > 3 for line in source.lines[2:8])
        first_type = True
        for line, name, kind in _declarations(source):
            if name in SELF_EVIDENT or name.startswith("operator") or name.endswith("_from"):
                continue
            covered = kind == "plain" or (kind == "type" and first_type and opened)
            if kind != "function":
                first_type = False
            above = line - 2
            while above >= 0 and source.lines[above].strip() and not covered:
                covered = source.lines[above].lstrip().startswith(("//", "*", "/*"))
                above -= 1
            if not covered:
                yield Finding(source.path, line, "contracts",
                              f"{name} has no contract: a comment above that says what it does, "
                              "requires and returns")


def check_readmes(tree):
    """Every unit folder opens with a one-page README.md."""
    units = {source.path.split("/")[0] for source in tree.files("CMakeLists.txt")
             if source.path.count("/") == 1}
    for unit in sorted(units | {path.split("/")[0] for path in tree.paths
                                if path.startswith(("results/", "verification/", "docs/"))}):
        if unit in ("cmake", "docs") or tree.exists(f"{unit}/README.md"):
            continue
        yield Finding(f"{unit}/", 0, "readme",
                      f"{unit}/README.md is missing: its one job, what it refuses, how to use it")


def check_markdown(tree):
    """One title per page, and relative links that lead somewhere."""
    for source in tree.files(".md"):
        prose = re.sub(r"^(```|~~~).*?^\1", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                       source.text, flags=re.MULTILINE | re.DOTALL)
        titles = re.findall(r"^# ", prose, flags=re.MULTILINE)
        if len(titles) != 1:
            yield Finding(source.path, 1, "markdown", f"{len(titles)} titles; a page has one")
        folder = source.path.rsplit("/", 1)[0] + "/" if "/" in source.path else ""
        for match in re.finditer(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
            target = match.group(1)
            if re.match(r"[a-z]+:", target):
                continue
            where = target[1:] if target.startswith("/") else folder + target
            if not (tree.root / where).exists():
                yield Finding(source.path, source.line_of(match.start()), "markdown",
                              f"link to {target}, which does not exist")
