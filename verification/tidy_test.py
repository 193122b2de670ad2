#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
"""Every rule of tidy.py fires on a planted violation and stays silent on its clean twin."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import tidy  # noqa: E402
from tidy_rules import parity, shape, tools, tree  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent
HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Copyright the Promtact authors\n"
SHELL_HEAD = "#!/bin/bash\n" + HEAD.replace("//", "#")
HASH_HEAD = HEAD.replace("//", "#")
LAYERS = HASH_HEAD + """
unit base    base/ :
unit uring   uring/ : base
unit engine  engine/ : base
unit reference engine/reference/ : base engine
unit gates   gates/ : base
pure engine
library liburing.h : uring/
library fmt/ : *.cpp
"""
GATE = HEAD + """
const std::string_view qualifies[] = {"uring"};
const GateInfo probe_info{
    .id = "probe",
    .title = "asks",
    .qualifies = qualifies,
    .budget = std::chrono::seconds{5},
    .establishes = "a, b",
    .does_not_establish = "c",
    .control = "skip_it",
    .control_breaks = "the asking",
    .remedy = "ask again",
};
Result<GateReport> run_probe(const GateContext& context) {
    const bool broken = context.sabotaged();
    return GateReport{.verdict = broken ? Verdict::fail : Verdict::pass};
}
"""
GATE_FILES = {"gates/probe/gate.cpp": GATE, "gates/probe/README.md": "# Probe\n",
              "gates/probe/gate_test.cpp": HEAD, "gates/catalog.cpp": HEAD + "// list\n"
              "const GateEntry entries[] = {\n    {&probe_info, &run_probe},\n};\n"}
HPP = HEAD + "//\n// Words.\n#pragma once\n"
BASE_HEADER = "base/include/promtact/base/x.hpp"
MUTEX = "#include <mutex>\nclass A {\n    std::mutex mutex_;{}\n};\n"
LONG = "int f() {{\n{}    return 0;\n}}\n"


def lines(count):
    return "".join(f"    step({n});\n" for n in range(count))


# rule, files of the tree, the file to change, its bad text, a word of the finding
CASES = [
    ("layers", {"uring/ring.cpp": HEAD + "#include <promtact/base/x.hpp>\n"},
     "uring/ring.cpp", HEAD + "#include <promtact/gates/gate.hpp>\n", "may not include gates"),
    ("layers", {"uring/ring.cpp": HEAD + "#include <liburing.h>\n"},
     "base/ring.cpp", HEAD + "#include <liburing.h>\n", "use the wrapper"),
    ("layers", {"engine/e.hpp": HPP + "#include <promtact/base/x.hpp>\n",
                "base/pure_headers.txt": "x.hpp\n"},
     "engine/e.hpp", HPP + "#include <promtact/base/clock.hpp>\n", "is pure"),
    ("layers", {"engine/e.hpp": HPP + "#include <map>\n"},
     "engine/e.hpp", HPP + "#include <thread>\n", "pure unit"),
    ("layers",
     {"engine/reference/e.hpp": HPP + "#include <promtact/engine/concepts.hpp>\n"},
     "engine/reference/e.hpp", HPP + "#include <promtact/engine/fates.hpp>\n", "proves nothing"),
    ("includes", {BASE_HEADER: HPP, "base/x.cpp": HEAD + "#include <promtact/base/x.hpp>\n"},
     "base/x.cpp", HEAD + '#include "promtact/base/x.hpp"\n', "public header"),
    ("includes", {"base/y_internal.hpp": HPP, "base/x.cpp": HEAD + '#include "y_internal.hpp"\n'},
     "base/x.cpp", HEAD + '#include "../uring/y.hpp"\n', "climbs out"),
    ("includes", {"base/x.cpp": HEAD}, "base/x.cpp", HEAD + '#include "missing.hpp"\n',
     "not a file of this unit"),
    ("includes", {BASE_HEADER: HPP}, BASE_HEADER, HEAD + "int x();\n", "#pragma once"),
    ("includes", {BASE_HEADER: HPP}, "base/include/other/x.hpp", HPP, "public headers live"),
    ("includes", {BASE_HEADER: HPP}, "base/x.cpp", HEAD + "#include <promtact/base/gone.hpp>\n",
     "does not exist"),
    ("ownership", {"base/x.cpp": HEAD + MUTEX.replace("{}", " // guards count_")},
     "base/x.cpp", HEAD + MUTEX.replace("{}", ""), "names the data"),
    ("ownership", {"base/x.cpp": HEAD + "// Shared by both ends of the pipe.\n"
                   "std::shared_ptr<int> p;\n"},
     "base/x.cpp", HEAD + "std::shared_ptr<int> p;\n", "why ownership"),
    ("ownership", {"base/x.cpp": HEAD + "void f() {\n    using namespace std;\n}\n"},
     "base/x.cpp", HEAD + "using namespace std;\n", "namespace scope"),
    ("pure", {"wal/x.cpp": HEAD + "// a double check\nint x;\n"},
     "wal/x.cpp", HEAD + "double x;\n", "floating point"),
    ("pure", {"engine/x.cpp": HEAD + "std::map<int, int> x;\n"},
     "engine/x.cpp", HEAD + "std::unordered_map<int, int> x;\n", "order is not fixed"),
    ("pure", {"engine/x.cpp": HEAD + "auto x = now(input);\n"},
     "engine/x.cpp", HEAD + "auto x = std::chrono::steady_clock::now();\n", "time is passed in"),
    ("pure-list", {"base/pure_headers.txt": "x.hpp\n", BASE_HEADER: HPP},
     "base/pure_headers.txt", "gone.hpp\n", "does not exist"),
    ("length", {"base/x.cpp": HEAD + LONG.format(lines(60))},
     "base/x.cpp", HEAD + LONG.format(lines(75)), "more than 70"),
    ("length", {"base/x.cpp": HEAD + LONG.format(lines(75)),
                "verification/ratchet.txt": "function base/x.cpp f 78 a table of steps\n"},
     "base/x.cpp", HEAD + LONG.format(lines(110)), "the limit is 100"),
    ("length", {"base/x.cpp": HEAD + LONG.format(lines(75)),
                "verification/ratchet.txt": "function base/x.cpp f 78 a table of steps\n"},
     "base/x.cpp", HEAD + LONG.format(lines(80)), "may only shrink"),
    ("length", {"base/x.cpp": HEAD + LONG.format(lines(75)),
                "verification/ratchet.txt": "function base/x.cpp f 78 a table of steps\n"},
     "base/x.cpp", HEAD + LONG.format(lines(3)), "needs no entry"),
    ("length", {"base/x.cpp": HEAD + "int x;\n" * 300}, "base/x.cpp", HEAD + "int x;\n" * 401,
     "more than 400"),
    ("length", {"base/CMakeLists.txt": HASH_HEAD + "f()\n" * 20},
     "base/CMakeLists.txt", HASH_HEAD + "f()\n" * 31, "at most 30"),
    ("columns", {"base/x.cpp": HEAD + "x" * 100 + "\n"}, "base/x.cpp", HEAD + "x" * 101 + "\n",
     "limit 100"),
    ("spdx", {"base/x.cpp": HEAD}, "base/x.cpp", "int x;\n", "starts with"),
    ("spdx", {"a.sh": SHELL_HEAD}, "a.sh", "#!/bin/bash\nls\n", "starts with"),
    ("spdx", {"ebpf/x.bpf.c": HEAD.replace("Apache-2.0", "GPL-2.0-only")},
     "ebpf/x.bpf.c", HEAD, "expected GPL-2.0-only"),
    ("asserts", {"wal/x.cpp": "PROMTACT_ASSERT(x);\n" * 5 + "int x;\n" * 200},
     "wal/x.cpp", "PROMTACT_ASSERT(x);\n" * 4 + "int x;\n" * 200, "floor is 20"),
    ("registered", {"base/CMakeLists.txt": "promtact_test(base FILES x_test.cpp)\n",
                    "base/x_test.cpp": HEAD},
     "base/y_test.cpp", HEAD, "names this test"),
    ("registered", {"base/CMakeLists.txt": "promtact_library(base SOURCES sub/x.cpp)\n",
                    "base/sub/x.cpp": HEAD},
     "base/sub/ax.cpp", HEAD, "names this source"),
    ("words", {"base/x.cpp": HEAD + "// to do this, hack away\n"},
     "base/x.cpp", HEAD + "// " + "TO" + "DO: later\n", "finish it"),
    ("words", {"base/x.cpp": HEAD + "// see /etc/fstab\n"},
     "base/x.cpp", HEAD + "// see /home" + "/someone/notes\n", "path of one machine"),
    ("contracts", {BASE_HEADER: HPP + "namespace promtact {\n\n/// Adds.\nint add(int a, int b);\n"
                   "int add(int a);\n\n} // namespace promtact\n"},
     BASE_HEADER, HPP + "namespace promtact {\n\nint add(int a, int b);\n\n}\n", "add has no"),
    ("contracts", {BASE_HEADER: HPP + "struct A {\n    int x; // unit\n};\n\n/// B.\n"
                   "class B {\n};\n"},
     BASE_HEADER, HPP + "struct A {\n};\n\nclass B {\n};\n", "B has no contract"),
    ("readme", {"base/CMakeLists.txt": "", "base/README.md": "# base\n"},
     "uring/CMakeLists.txt", "", "uring/README.md is missing"),
    ("markdown", {"a.md": "# A\n\n[b](b.md) [web](https://example.org)\n", "b.md": "# B\n"},
     "a.md", "# A\n\n[c](c.md)\n", "does not exist"),
    ("markdown", {"a.md": "# A\n\n```sh\n# not a title\n```\n"}, "a.md", "# A\n\n# B\n",
     "2 titles"),
    ("gate", GATE_FILES, "gates/probe/gate.cpp", GATE.replace('"c"', '""'),
     "does_not_establish is empty"),
    ("gate", GATE_FILES, "gates/probe/gate.cpp", GATE.replace('    .control = "skip_it",\n', ""),
     "GateInfo::control is empty"),
    ("gate", GATE_FILES, "gates/probe/gate.cpp", GATE.replace("context.sabotaged()", "false"),
     "never asks"),
    ("gate", GATE_FILES, "gates/probe/gate.cpp", GATE.replace('.id = "probe"', '.id = "prob"'),
     "the folder is probe"),
    ("gate", GATE_FILES, "gates/probe/gate.cpp", GATE.replace(
        "    const bool broken = context.sabotaged();",
        "    if (context.sabotaged()) return GateReport{};\n    const bool broken = false;"),
     "before the body"),
    ("gate", GATE_FILES, "gates/probe/gate.cpp", GATE.replace("run_probe", "run_other"),
     "0 definitions"),
    ("gate", GATE_FILES, "gates/catalog.cpp", HEAD, "no line in the catalog"),
    ("format", {"base/x.cpp": HEAD + "int x = 0;\n", ".clang-format": None},
     "base/x.cpp", HEAD + "int   x = 0 ;\n", "make fmt"),
    ("shell", {"a.sh": SHELL_HEAD + 'echo "$1"\n'}, "a.sh", SHELL_HEAD + "cd $1\n", "quote"),
    ("spelling", {"a.md": "# receive\n"}, "a.md", "# " + "rec" + "ieve\n", "receive"),
    ("headers", {BASE_HEADER: HPP + "#include <string>\nstd::string f();\n"},
     BASE_HEADER, HPP + "std::string f();\n", "does not compile alone"),
    ("headers", {"base/include/promtact/base/c.h": HEAD + "typedef int promtact_x;\n"},
     "base/include/promtact/base/c.h", HEAD + "#include <string>\n", "for bpf"),
]
BANNED = [
    "x = rand();", "strcpy(a, b);", "sprintf(a, b);", "x = std::stoi(s);", "x = atoi(s);",
    "x = strtol(s, 0, 10);", "p = malloc(8);", "free(p);", "p = new int;", "delete p;",
    "goto out;", "throw 1;", "dynamic_cast<A*>(b);", "assert(x);", "x = NULL;", "typedef int T;",
    "std::format(a);", "a << std::endl;", "alloca(8);", "std::bind(f);", "setjmp(x);",
]
HARMLESS = [
    "operand();", "ring.free();", "new_name = 1;", "A(const A&) = delete;", '"goto " + place;',
    "static_assert(true);", "int x = 1; // delete and goto", "file.gets(line);", "NULLABLE;",
]


def write(root, files):
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            shutil.copy(REPOSITORY / path, target)
        else:
            target.write_text(text)


class Rules(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="promtact-tidy-"))
        self.addCleanup(shutil.rmtree, self.root)

    def findings(self, rule, files):
        shutil.rmtree(self.root)
        write(self.root, {"cmake/layers.txt": LAYERS, **files})
        return [str(found) for found in tidy.RULES[rule][0](tree.Tree(self.root, everything=True))]

    def test_every_rule_fires_and_spares_the_clean_twin(self):
        for rule, files, changed, bad, word in CASES:
            with self.subTest(rule=rule, word=word):
                self.assertEqual(self.findings(rule, files), [])
                found = self.findings(rule, {**files, changed: bad})
                self.assertTrue(any(word in text for text in found), f"{word!r} not in {found}")

    def test_banned_calls(self):
        for text in BANNED:
            with self.subTest(text=text):
                self.assertTrue(self.findings("banned", {"base/x.cpp": f"void f() {{ {text} }}\n"}))
        for text in HARMLESS:
            with self.subTest(text=text):
                self.assertEqual(
                    self.findings("banned", {"base/x.cpp": f"void f() {{ {text}\n }}\n"}), [])

    def test_programs_are_started_only_where_allowed(self):
        code = 'void f() { ::execvp(a, b); }\n'
        self.assertTrue(self.findings("banned", {"netns/x.cpp": code}))
        self.assertEqual(self.findings("banned", {"harness/x.cpp": code}), [])

    def test_clang_tidy_reads_the_configuration(self):
        shutil.rmtree(self.root)
        write(self.root, {".clang-tidy": None, "good.cpp": "int some_value() {\n    return 1;\n}\n",
                          "bad.cpp": "int SomeValue() {\n    return 1;\n}\n"})
        program = tools.need("clang-tidy-14")
        options = ["--", "-std=c++20"]
        self.assertEqual(tools.clang_tidy(program, self.root, ["good.cpp", *options]), [])
        found = tools.clang_tidy(program, self.root, ["bad.cpp", *options])
        self.assertTrue(any("SomeValue" in str(finding) for finding in found), found)

    def test_clang_tidy_believes_a_batch_only_when_it_is_clean(self):
        shutil.rmtree(self.root)
        good = "static int helper() {{\n    return {};\n}}\nint {}() {{\n    return helper();\n}}\n"
        write(self.root, {".clang-tidy": None, "a.cpp": "int some_value() {\n    return 1;\n}\n",
                          "b.cpp": "int other_value() {\n    return 1;\n}\n",
                          "c.cpp": good.format(1, "c"), "d.cpp": good.format(2, "d"),
                          "bad.cpp": "int SomeValue() {\n    return 1;\n}\n"})
        program = tools.need("clang-tidy-14")

        def read(*paths):
            found, alone = tools.tidy_batch(program, self.root, paths, ["-std=c++20"])
            return [finding.path for finding in found], alone

        self.assertEqual(read("a.cpp", "b.cpp"), ([], []))
        self.assertEqual(read("a.cpp", "bad.cpp", "b.cpp"), (["bad.cpp"], ["bad.cpp"]))
        self.assertEqual(read("c.cpp", "d.cpp", "a.cpp"), ([], ["d.cpp"]))  # helpers of one name
        self.assertEqual(read("gone.cpp"), ([".clang-tidy"], ["gone.cpp"]))  # it did not run

    def test_every_rule_has_a_case(self):
        covered = {case[0] for case in CASES} | {"banned", "parity", "clang-tidy"}
        self.assertEqual(covered, set(tidy.RULES))


class Functions(unittest.TestCase):
    def names(self, code):
        source = tree.SourceFile.__new__(tree.SourceFile)
        source.path, source.text = "x.cpp", code
        return [(function.name, function.lines) for function in source.functions]

    def test_finds_definitions_and_nothing_else(self):
        code = """namespace a {
struct S { int x = 0; };
const int table[] = {1, 2, g(3)};
S::S(int x) : a_{x}, b_(x) {
    if (x) { y(); }
}
Result<void> S::open() const noexcept { return {}; }
auto f(int x) -> std::vector<int> {
    auto l = [](int y) { return y; };
    return {x};
}
template <class T> class C {
  public:
    C() = default;
    T get() const { return t_; }
};
TEST(Suite, Case) {
}
}
"""
        self.assertEqual(self.names(code), [("S::S", 3), ("S::open", 1), ("f", 4), ("get", 1),
                                            ("TEST", 2)])


class Parity(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="promtact-tidy-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.rows = [f"{weakness} -> later raft" for weakness in parity.WEAKNESSES]

    def findings(self, extra="", rows=None):
        text = f"[weaknesses {len(parity.WEAKNESSES)}]\n" + "\n".join(rows or self.rows) + extra
        write(self.root, {parity.PARITY: text, "docs/decisions/0001-x.md": "# x\n"})
        return [str(found) for found in parity.check_parity(tree.Tree(self.root))]

    def test_accepts_a_complete_list(self):
        self.assertEqual(self.findings("\n[raft 1]\nElects -> decision 0001\n"), [])

    def test_refuses_a_missing_weakness(self):
        self.assertTrue(any("W1 is missing" in text for text in self.findings(rows=self.rows[1:])))

    def test_refuses_a_short_section(self):
        self.assertTrue(any("declares 2 rows and has 1" in text for text in
                            self.findings("\n[raft 2]\nElects -> later raft\n")))

    def test_refuses_unknown_topic_decision_and_emptiness(self):
        found = self.findings("\n[raft 3]\nA -> later someday\nB -> decision 0099\nC -> \n")
        for word in ("is no topic", "no docs/decisions/0099", "leads nowhere"):
            self.assertTrue(any(word in text for text in found), f"{word} not in {found}")

    def test_refuses_a_name_ctest_does_not_know(self):
        rows = list(parity._check_target(None, (1, "raft", "A", "Suite.Known, Suite.Gone"),
                                         {"Suite.Known"}))
        self.assertEqual(len(rows), 1)
        self.assertIn("Suite.Gone", str(rows[0]))


class Changed(unittest.TestCase):
    @staticmethod
    def git(root, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
                       cwd=root, check=True, capture_output=True)

    def repository(self, files):
        """One commit with these files, which origin/main points at too."""
        root = Path(tempfile.mkdtemp(prefix="promtact-tidy-"))
        self.addCleanup(shutil.rmtree, root)
        self.git(root, "init", "-q", "-b", "main")
        write(root, files)
        self.git(root, "add", "-A")
        self.git(root, "commit", "-qm", "one")
        self.git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
        return root

    def test_names_what_differs_from_the_base(self):
        root = self.repository({"a.txt": "a\n", "b.txt": "b\n"})
        write(root, {"b.txt": "changed\n", "c.txt": "new\n"})
        self.git(root, "commit", "-qam", "two")
        self.assertEqual(tree.Tree(root).unlanded, {"b.txt", "c.txt"})

    def test_clang_tidy_reads_what_has_not_landed_and_a_tenth(self):
        names = [f"base/s{n}.cpp" for n in range(60)]
        header = "base/include/promtact/base/s3.hpp"
        root = self.repository({**{name: HEAD for name in names}, header: HPP,
                                "base/s3.cpp": HEAD + "#include <promtact/base/s3.hpp>\n"})
        landed = tools.tidy_choice(tree.Tree(root), names)
        self.assertEqual(landed, [name for name in names if tools.in_todays_tenth(name)])
        self.assertTrue(0 < len(landed) < 20, landed)
        others = [name for name in names if name not in landed and name != "base/s3.cpp"]
        write(root, {others[0]: HEAD + "int x;\n", header: HPP + "int y();\n"})
        self.git(root, "commit", "-qam", "two")
        self.assertEqual(tools.tidy_choice(tree.Tree(root), names),
                         sorted({*landed, others[0], "base/s3.cpp"}))
        self.assertEqual(tools.tidy_choice(tree.Tree(root, everything=True), names), sorted(names))

    def test_without_an_origin_the_local_main_is_what_landed(self):
        root = self.repository({"a.txt": "a\n", "b.txt": "b\n"})
        self.git(root, "update-ref", "-d", "refs/remotes/origin/main")
        self.assertEqual(tree.Tree(root).unlanded, set())
        self.git(root, "checkout", "-qb", "topic")
        write(root, {"b.txt": "changed\n", "c.txt": "new\n"})
        self.git(root, "commit", "-qam", "two")
        self.assertEqual(tree.Tree(root).unlanded, {"b.txt", "c.txt"})

    def test_the_ratchet_only_shrinks(self):
        root = self.repository({shape.RATCHET: "function base/x.cpp f 78 a table\n",
                                "base/x.cpp": HEAD + LONG.format(lines(75))})
        self.assertEqual(list(shape.check_length(tree.Tree(root))), [])
        write(root, {shape.RATCHET: "function base/x.cpp f 83 a table\n",
                     "base/x.cpp": HEAD + LONG.format(lines(80))})
        self.git(root, "commit", "-qam", "two")
        found = [str(finding) for finding in shape.check_length(tree.Tree(root))]
        self.assertTrue(any("grew from 78 to 83" in text for text in found), found)

    def test_the_ratchet_is_read_strictly(self):
        with self.assertRaises(SystemExit):
            shape.read_ratchet("function a.cpp f eighty why\n")


if __name__ == "__main__":
    unittest.main()
