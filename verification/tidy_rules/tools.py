# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""Rules that run a program: clang-format, clang-tidy, compilers, shellcheck, codespell."""

import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import time

from .shape import code_files
from .tree import Finding

WARNINGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
            "-Wshadow", "-Wold-style-cast", "-Werror", "-x", "c++"]
C_WARNINGS = ["-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c"]


def need(program):
    found = shutil.which(program)
    if not found:
        raise SystemExit(f"lint needs {program}: run 'make setup'")
    return found


def parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for findings in pool.map(function, items):
            yield from findings


def run(words, root):
    return subprocess.run(words, cwd=root, capture_output=True, text=True, errors="replace")


def check_format(tree, fix=False):
    program = need("clang-format-14")
    paths = [source.path for source in tree.cpp()]
    if fix:
        for begin in range(0, len(paths), 50):
            subprocess.run([program, "-i", *paths[begin:begin + 50]], cwd=tree.root, check=True)
        return
    for begin in range(0, len(paths), 50):
        done = run([program, "--dry-run", *paths[begin:begin + 50]], tree.root)
        seen = set()
        for match in re.finditer(r"^(\S+?):(\d+):\d+: (?:warning|error):", done.stderr,
                                 re.MULTILINE):
            if match.group(1) not in seen:
                seen.add(match.group(1))
                yield Finding(match.group(1), int(match.group(2)), "format", "run 'make fmt'")


def check_shell(tree):
    program = need("shellcheck")
    scripts = [source.path for source in code_files(tree)
               if source.path.endswith(".sh") or re.match(r"#!.*\b(?:ba)?sh\b", source.text)]
    if not scripts:
        return
    done = run([program, "--format=gcc", "--external-sources", *scripts], tree.root)
    for match in re.finditer(r"^(.+?):(\d+):\d+: (?:\w+): (.*)$", done.stdout, re.MULTILINE):
        yield Finding(match.group(1), int(match.group(2)), "shell", match.group(3))


def check_spelling(tree):
    program = need("codespell")
    ignored = "verification/spelling_ignore.txt"
    words = ["--ignore-words", ignored] if tree.exists(ignored) else []
    words += ["--ignore-regex", r"\\[nt]\w+"]  # "\nText" is no word that starts with n
    paths = [path for path in tree.paths
             if not path.startswith(("results/hosts/", "LICENSE")) and "/corpus/" not in path
             and "/testdata/" not in path and path != ignored
             and not path.endswith((".png", ".bin", ".svg"))]
    for begin in range(0, len(paths), 200):
        done = run([program, *words, *paths[begin:begin + 200]], tree.root)
        for match in re.finditer(r"^(.+?):(\d+): (.*)$", done.stdout, re.MULTILINE):
            yield Finding(match.group(1).removeprefix("./"), int(match.group(2)), "spelling",
                          match.group(3))


def include_flags(tree):
    folders = sorted({path.split("/include/promtact/")[0] + "/include" for path in tree.paths
                      if "/include/promtact/" in path})
    flags = [f"-I{folder}" for folder in folders]
    system = ["libnl-3.0"]
    found = run(["pkg-config", "--cflags-only-I", *system], tree.root)
    return flags + [f.replace("-I", "-isystem") for f in found.stdout.split()]


def check_headers(tree):
    """Each public header compiles alone under both compilers; C headers as C and for BPF too."""
    flags = include_flags(tree)
    changed_units = {path.split("/")[0] for path in tree.changed}
    headers = [path for path in tree.paths
               if "/include/promtact/" in path and path.endswith((".hpp", ".h"))
               and (tree.everything or path.split("/")[0] in changed_units)]
    compilers = [need("g++"), need("clang++-14")]
    jobs = []
    for header in headers:
        name = header.split("/include/", 1)[1]
        jobs += [(header, name, [compiler, *WARNINGS, *flags, "-"]) for compiler in compilers]
        if header.endswith(".h"):
            jobs.append((header, name, [need("gcc"), *C_WARNINGS, *flags, "-"]))
            jobs.append((header, name,
                         [need("clang-14"), "-target", "bpf", *C_WARNINGS, *flags, "-"]))

    def compile_alone(job):
        header, name, words = job
        done = subprocess.run(words, cwd=tree.root, input=f"#include <{name}>\n",
                              capture_output=True, text=True, errors="replace")
        if done.returncode == 0:
            return []
        error = next((line for line in done.stderr.splitlines() if "error" in line),
                     done.stderr.strip()[:200])
        target = " for bpf" if "bpf" in words else ""
        return [Finding(header, 1, "headers", f"does not compile alone with "
                        f"{os.path.basename(words[0])}{target}: {error}")]

    tree.notes.append(f"headers: {len(headers)} headers, {len(jobs)} compilations")
    yield from parallel(compile_alone, jobs)


# Tests are read without these: names of a test are claims, and what a moved-from value or a failed
# assertion leaves behind is what a test may look at.
NOT_IN_TESTS = ("-readability-identifier-naming,-misc-unused-using-decls,-bugprone-use-after-move,"
                "-bugprone-assert-side-effect")
BATCH_MAX = 8


def in_todays_tenth(path):
    digest = int(hashlib.sha256(path.encode()).hexdigest()[:8], 16)
    return digest % 10 == int(time.time() // 86400) % 10


def _reader_of(tree, header, sources):
    """The source that shows clang-tidy a header: the one of its name, else the first with it."""
    if "/include/" in header:
        wanted = f"#include <{header.split('/include/')[1]}>"
        readers = [path for path in sources if wanted in tree.file(path).text]
    else:
        wanted = re.compile(rf'#include [<"](?:\S*/)?{re.escape(os.path.basename(header))}[>"]')
        unit = header.split("/")[0] + "/"
        readers = [path for path in sources if path.startswith(unit)
                   and wanted.search(tree.file(path).text)]
    stem = os.path.splitext(os.path.basename(header))[0].removesuffix("_internal")
    same = [path for path in readers if os.path.basename(path) == stem + ".cpp"]
    return (same or readers or [None])[0]


def tidy_choice(tree, sources):
    """The files clang-tidy reads: all, or those that differ from what landed, a reader of each
    header that does, and a tenth of the rest that rotates by day."""
    if tree.everything:
        return sorted(sources)
    chosen = {path for path in sources if path in tree.unlanded or in_todays_tenth(path)}
    for header in sorted(tree.unlanded):
        if header.endswith((".hpp", ".h")):
            chosen.add(_reader_of(tree, header, sorted(sources)))
    return sorted(chosen - {None})


def clang_tidy(program, root, words):
    """What clang-tidy says about the files and options in `words`."""
    done = run([program, "--quiet", *words], root)
    found = []
    for match in re.finditer(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*)$", done.stdout,
                             re.MULTILINE):
        where = os.path.relpath(os.path.join(root, match.group(1)), root)
        found.append(Finding(where, int(match.group(2)), "clang-tidy", match.group(3)))
    if done.returncode != 0 and not found:
        found.append(Finding(".clang-tidy", 1, "clang-tidy", f"did not run: {done.stderr[-300:]}"))
    return found


def _tidy_database(tree):
    """The compile database of the lint preset with every generated header in place, or why not.
    Skeletons and the like are built, nothing else is."""
    for words in (["cmake", "--preset", "lint", "--log-level=WARNING"],
                  ["cmake", "--build", "--preset", "lint", "--target", "promtact_generated"]):
        done = run(words, tree.root)
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip())[-300:]
            return None, Finding("CMakePresets.json", 1, "clang-tidy",
                                 f"'{' '.join(words)}' failed: {said}")
    database = tree.root / "build/lint/compile_commands.json"
    return json.loads(database.read_text()), None


def _options_of(entry):
    """What the compiler is told about one entry, without the file and the output."""
    words = shlex.split(entry["command"])
    return words[1:words.index("-o")]


def _batches(chosen, options):
    """Neighbours with the same options, a few at a time: the headers, which cost nearly everything,
    are then read once for all of them."""
    groups = {}
    for path in chosen:
        groups.setdefault((os.path.dirname(path), tuple(options[path])), []).append(path)
    for paths in groups.values():
        count = -(-len(paths) // BATCH_MAX)
        yield from (paths[n::count] for n in range(count))


def tidy_batch(program, root, paths, options):
    """The findings in files of one folder and one set of options, and which were read alone. What a
    batch says may come of reading files together (two have a helper of one name): the files it
    names are read alone, the rest together again."""
    less = [f"--checks={NOT_IN_TESTS}"] if paths[0].endswith("_test.cpp") else []
    named = set(paths)
    if len(paths) > 1:
        together = root / "build/lint/tidy" / paths[0].replace("/", "-")
        together.parent.mkdir(parents=True, exist_ok=True)
        together.write_text("".join(f'#include "{root / path}"\n' for path in paths))
        said = clang_tidy(program, root, [*less, r"--header-filter=\.(cpp|hpp)$", str(together),
                                          "--", *options, "-w"])
        if not said:
            return [], []
        named = {finding.path for finding in said} & named or named
    rest = [path for path in paths if path not in named]
    found, alone = tidy_batch(program, root, rest, options) if rest else ([], [])
    for path in sorted(named):
        found += clang_tidy(program, root, [*less, path, "--", *options])
    return found, [*alone, *sorted(named)]


def check_clang_tidy(tree):
    """clang-tidy on what differs from what landed and on a tenth of the rest."""
    program = need("clang-tidy-14")
    database, failure = _tidy_database(tree)
    if failure:
        yield failure
        return
    entries = {os.path.relpath(entry["file"], tree.root): entry for entry in database}
    options = {path: _options_of(entries[path]) for path in entries.keys() & set(tree.paths)
               if path.endswith(".cpp")}
    chosen = tidy_choice(tree, options.keys())
    alone = []

    def read(paths):
        found, separately = tidy_batch(program, tree.root, paths, options[paths[0]])
        alone.extend(separately)
        return found

    seen = set()
    for finding in parallel(read, list(_batches(chosen, options))):
        if finding not in seen:
            seen.add(finding)
            yield finding
    tree.notes.append(f"clang-tidy: {len(chosen)} of {len(options)} files, {len(alone)} alone")
