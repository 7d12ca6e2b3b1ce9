# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of a whole trial, in a project of one program, and of the parts of a measurement."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from mutate import lab, measure, process, score, tree
from mutate.build import TOP, Graph, make
from mutate.record import Record, Test
from mutate.trial import CAUGHT, PART, REFUSED, SAME, SURVIVED, Trial

MAKEFILE = """build/program: build/main.o build/sum.a
	$(CC) $^ \\
		-o $@
build/sum.a: build/sum.o
	rm -f $@ && $(AR) rcsT $@ $^
build/%.o: part/%.c
	$(CC) -I. -c $< -o $@
"""
SUM = '#include "sum.h"\nint sum(int n)\n{\n\tint all = 0, unused = 1;\n\n\twhile (n > 0)\n\t\tall += n--;\n\tunused++;\n\treturn all;\n}\n'
MAIN = '#include "part/sum.h"\nint main(void)\n{\n\treturn sum(3) != 6;\n}\n'
SOURCES = {"Makefile": MAKEFILE, "part/sum.h": "int sum(int n);\n", "part/sum.c": SUM, "part/main.c": MAIN}


class Trials(unittest.TestCase):
    """A project, whose sum.c is broken."""

    def setUp(self) -> None:
        """Builds it."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        for name, text in SOURCES.items():
            (self.top / name).parent.mkdir(exist_ok=True)
            (self.top / name).write_text(text)
        (self.top / "build").mkdir()
        make(top=self.top)
        self.graph = Graph("build/program", top=self.top)

    def verdict(self, old: str, new: str, limit_s: float = 20, tests: int = 1) -> tuple[str, str]:
        """What becomes of a fault."""
        self.assertEqual(SUM.count(old), 1)
        trial = Trial(self.graph, "part/sum.c", SUM.replace(old, new).encode(), self.top / "trial", lambda: False)
        return trial.judge(tests * [(Test("program", "", "program"), limit_s)])

    def test_verdicts(self) -> None:
        """Each of them; and the tree stays as it is."""
        before = {path: path.stat().st_mtime_ns for path in self.top.rglob("*") if path.is_file()}
        self.assertEqual(self.verdict("n--", "n--"), (SURVIVED, ""))
        self.assertEqual(self.verdict("+=", "-="), (CAUGHT, "program: exit status 1"))
        self.assertEqual(self.verdict("n > 0", "n != 0"), (SURVIVED, ""))
        self.assertEqual(self.verdict("+=", "-=", tests=0), (SURVIVED, "no test runs it"))
        self.assertEqual(self.verdict("unused++", ""), (SAME, ""))
        self.assertEqual(self.verdict("int all", "integer all"), (REFUSED, ""))
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.top.rglob("*") if path.is_file()}, before)

    def test_a_fault_that_does_not_end(self) -> None:
        """It is caught, but not if the program without it is late, too."""
        self.assertEqual(self.verdict("n--", "n", 1), (CAUGHT, "program: does not end"))
        (self.top / "build/program").write_text("#!/bin/sh\nsleep 60\n")
        self.assertEqual(self.verdict("n--", "n", 1)[0], PART)


    def test_a_program_that_a_fault_does_not_reach(self) -> None:
        """Its test runs the file, but make does not link it: nothing would be caught."""
        fault = tree.Site("part/sum.c", 1, "", 0, 1, (b"",), range(0)), b""
        linked, other = (Record({Test("", "", name): (1, {"part/sum.c": [1]})}) for name in ("program", "other"))
        measure.check_links(self.graph, linked, {0: fault})
        with self.assertRaises(RuntimeError):
            measure.check_links(self.graph, other, {0: fault})


class Processes(unittest.TestCase):
    """Limits, and what is left."""

    def run_script(self, script: str, limit_s: float, stop: bool = False) -> process.End:
        """Has bash run it."""
        return process.run(["bash", "-c", script], dict(os.environ), limit_s, lambda: stop, TOP)

    def test_nothing_is_left(self) -> None:
        """Not even a child that has a process group of its own."""
        end = self.run_script("set -m; sleep 1000 & echo $! $$; exit 3", 20)
        child, session = map(int, end.said.split())
        self.assertEqual((end.status, end.late), (3, False))
        self.assertEqual(process.living(session), [])
        state = Path(f"/proc/{child}/stat")
        self.assertTrue(not state.exists() or ") Z" in state.read_text())

    def test_a_failure_by_chance(self) -> None:
        """A test that fails is run once more."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            program.write_text(f"#!/bin/sh\n[ -e {folder}/twice ] || {{ touch {folder}/twice; exit 1; }}\n")
            program.chmod(0o755)
            self.assertEqual(Test("", "", "").run(program, 20, lambda: False).status, 0)

    def test_limits(self) -> None:
        """What sleeps and what computes are late in the same way; what is stopped is not late."""
        self.assertTrue(self.run_script("sleep 1000", 1).late)
        self.assertTrue(self.run_script("while :; do :; done", 1).late)
        self.assertFalse(self.run_script("sleep 1000", 1, stop=True).late)


class Score(unittest.TestCase):
    """Figures and texts."""

    def test_wilson(self) -> None:
        """Examples of R. G. Newcombe, Statistics in Medicine 17 (1998), table I."""
        for caught, counted, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
            for found, wanted in zip(score.wilson(caught, counted), (low, high)):
                self.assertAlmostEqual(found, wanted, 4)

    def test_only_verdicts_count(self) -> None:
        """What was not run in full is in neither number; a folder has a row from 50 on."""
        verdicts = [CAUGHT] * 45 + [SURVIVED] * 5 + [PART] * 7 + [SAME] * 3
        mutants = [score.Mutant(0, "a/b.c", 1, "constant", "1", "2", verdict) for verdict in verdicts]
        self.assertIn("| seed 1 | 60 | 50 | 45 | 0 | 7 | 90% | 79% to 96% |", score.table("seed 1", mutants))
        self.assertIn("| a/ | 60 | 50 |", score.table("", mutants))
        self.assertNotIn("| a/ |", score.table("", mutants[1:]))

    def test_equivalents_are_sorted_out(self) -> None:
        """They are known by their lines, wherever these are, and do not count."""
        kept = [m for file in score.RESULTS.glob("*.jsonl") for m in score.kept(file)[1]]
        one = next(m for m in kept if m.why.startswith(score.REASONS))
        known = score.Mutant(0, one.file, 7, one.operator, f"\t{one.old}", f"\t{one.new}", SURVIVED)
        other = score.Mutant(1, one.file, 7, one.operator, one.old, one.old, SURVIVED)
        self.assertEqual([m.verdict for m in score.sort_out([known, other])], [score.EQUIVALENT, SURVIVED])
        self.assertIn("| s | 2 | 1 | 0 | 1 |", score.table("s", score.sort_out([known, other])))

    def test_what_a_test_in_a_vm_notices_counts(self) -> None:
        said = {f"{CAUGHT} by live": CAUGHT, SURVIVED: SURVIVED, "": SURVIVED}
        mutants = [score.Mutant(0, "a", 7, "constant", "1", "2", SURVIVED, lab=lab) for lab in said]
        self.assertEqual([m.verdict for m in score.sort_out(mutants)], list(said.values()))

    def test_each_survivor_has_a_reason(self) -> None:
        """Of those that are kept; and no other has one."""
        for mutant in (m for file in score.RESULTS.glob("*.jsonl") for m in score.kept(file)[1]):
            self.assertEqual(bool(mutant.why), mutant.verdict == SURVIVED, mutant.diff())

    def test_the_page_is_written(self) -> None:
        """README.md has what is in results/, below its text."""
        text = (score.HERE / "README.md").read_text()
        self.assertEqual(text, score.page())
        self.assertTrue(text.startswith("# ") and "make mutants" in text)


class Drawing(unittest.TestCase):
    """Which faults, and which tests for them."""

    def test_a_seed_says_all(self) -> None:
        """More of them begin with the same; another seed draws others."""
        sites = [tree.Site("a.c", n, "constant", n, n + 1, (b"1", b"2"), range(0)) for n in range(500)]
        drawn = list(measure.draw(sites, 200, 7).values())
        self.assertEqual(list(measure.draw(sites, 300, 7).values())[:200], drawn)
        self.assertNotEqual(list(measure.draw(sites, 200, 8).values()), drawn)
        self.assertEqual(len({site.line for site, _ in drawn}), 200)

    def test_tests_that_run_the_line(self) -> None:
        """The quickest first; if no test runs it, those that run its function; of a table, all."""
        slow, quick = (Test(name, name[0], "") for name in ("slow", "quick"))
        known, function = Record({slow: (2, {"a.c": [1, 2, 3]}), quick: (1, {"a.c": [1, 3]})}), range(1, 5)
        self.assertEqual(known.reach("a.c", range(3, 4), function), [quick, slow])
        self.assertEqual(known.reach("a.c", range(2, 4), function), [quick, slow])
        self.assertEqual(known.reach("a.c", range(2, 3), function), [slow])
        self.assertEqual(known.reach("a.c", range(4, 5), function), [quick, slow])
        self.assertEqual(known.reach("a.c", range(7, 8), range(0)), [quick, slow])
        self.assertEqual(known.reach("table.c", range(1, 2), range(0)), [quick, slow])
        self.assertEqual(known.reach("b/b.c", range(1, 2), range(0)), [])
        known = Record({slow: (2, {"d/a.c": [5]}), quick: (1, {"d/b.c": [5]})})
        self.assertEqual(known.reach("d/a.c", range(1, 2), range(0)), [quick, slow])
        named = Test("named", "", "", ("d/server", "sweep"))
        self.assertEqual(Record({named: (2, {"e/a.c": [5]})}).reach("d/stage.c", range(1, 2), range(0)), [named])

    def test_stages_for_the_lab(self) -> None:
        """Two that link the file, its own first, the ladder before others; if a map knows none, its folder's name."""
        with tempfile.TemporaryDirectory() as folder:
            maps = Path(folder) / "build/maps"
            for stage, parts in (("a-1", "one"), ("a-2", "one two"), ("beyond/a-0", "one two"), ("a-3", "two one")):
                (maps / stage).mkdir(parents=True)
                (maps / stage / "client").write_text("".join(f"build/a-2/{part}.o\n" for part in parts.split()))
            top = Path(folder)
            self.assertEqual(lab.stages("a-2/one.c", top), ["a-2", "a-1"])
            self.assertEqual(lab.stages("a-2/two.c", top), ["a-2", "a-3"])
            self.assertEqual(lab.stages("beyond/a-4/alone.c", top), ["a-4"])
            self.assertEqual(lab.stages("common/a.c", top), ["common", "examples"])

    def test_command_line(self) -> None:
        """The script starts by itself, and refuses what makes no sense."""
        done = subprocess.run([TOP / "tests/mutate/run", "--count", "0"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (2, "tests/mutate/run: error: N is at least 1"))

    def test_alike(self) -> None:
        """Four of a kind, if they run the same lines of the function: quick and slow ones."""
        ten = [Test(str(n), "kind", "") for n in range(10)]
        known = Record({test: (n, {"a.c": [1, 2] if n < 9 else [1]}) for n, test in enumerate(ten)})
        self.assertEqual(known.reach("a.c", range(1, 2), range(1, 2)), [ten[n] for n in (0, 3, 6, 9)])
        self.assertEqual(known.reach("a.c", range(1, 2), range(1, 3)), [ten[n] for n in (0, 2, 5, 8, 9)])

    def test_again(self) -> None:
        """A fault is found again by what it changes, not by its line; one whose text is gone is not."""
        site = tree.Site("LICENSE", 1, "constant", 0, 3, (b"one", b"two"), range(0))
        caught = measure.described(7, (site, b"two"), CAUGHT, "")
        moved, gone = replace(caught, number=8, line=9), replace(caught, number=9, old="what nobody wrote")
        self.assertEqual(measure.find_again([site], [moved, gone]), {8: (site, b"two")})

    def test_resumed(self) -> None:
        """A line that was not written to its end is no result."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "results"
            for number in (3, 4):
                score.Results(file).add(score.Mutant(number, "a.c", 1, "", "", ""))
            file.write_text(file.read_text()[:-5])
            self.assertEqual(list(score.Results(file).mutants), [3])
            score.Results(file).add(score.Mutant(5, "a.c", 1, "", "", ""))
            self.assertEqual(list(score.Results(file).mutants), [3, 5])
