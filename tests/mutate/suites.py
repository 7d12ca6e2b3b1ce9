# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tests that need no device, which lines of the programs each of them runs, and runs of some of them.

Place: tests/mutate/measure.py chooses tests by it. Contract: the functions that run are recorded once for each state of the tree, by gcov,
in a copy of its own, by recorder.py. A program that is killed records nothing.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from mutate.build import CPUS, ENVIRONMENT, TOP, WORK, Copy, state_of_the_tree

# What they need, and how many real seconds a test may take: those in C take some milliseconds; verbs-sim itself ends what
# loops or never ends.
SUITES = {
    "tests/unit/test_unit.py": (("build/tests/unit-tests",), 60),
    "tests/unit/test_usage.py": (("all",), 60),
    "tests/sim": (("all", "pairs-build"), 900),
}
PYTEST = ("/usr/bin/python3", "-m", "pytest", "-q")
WITH_GCOV = ("CFLAGS=-O0 -g --coverage -fprofile-update=atomic", "LDFLAGS=--coverage")
RECORD = "MUTATE_RECORD"  # where recorder.py writes to
ALIKE = 4
SLOW_S = 20.0  # of a processor: a test that takes longer is run only if no other runs these lines
WITHOUT = ("tests/sim/test_tool.py", "tests/sim/test_sanitized.py")  # verbs-sim itself, and programs of another copy
STAGE = re.compile(r"\b(?:ping|blast|count|pubsub|talk)-[a-z]+-\d\w?")
FAILED = re.compile(r"-m pytest '(tests/.*)'")  # as tests/conftest.py has it


# ---- Which tests ----------------------------------------------------------------------------------


def append(file: Path, row: object) -> None:
    """Adds a line of JSON. It begins with the newline: one that was not written to its end spoils none after it."""
    with file.open("a") as out:
        out.write("\n" + json.dumps(row))


def rows(file: Path) -> Iterator[Any]:
    """What a file has in its lines, but for those that were not written to their ends."""
    for line in file.read_text().splitlines() if file.exists() else ():
        with suppress(ValueError):
            yield json.loads(line)


def kind(test: str) -> str:
    """What it has in common with those of other stages."""
    return STAGE.sub("", test).replace("beyond/", "")


class Record:
    """What each test runs, and how many seconds of a processor it takes."""

    def __init__(self, tests: dict[str, tuple[float, dict[str, list[int]]]]) -> None:
        """Of each test: the seconds, and the lines of each file."""
        self.seconds = {test: seconds for test, (seconds, _) in tests.items()}
        self.ran: dict[str, dict[str, set[int]]] = {}  # by file
        for test, (_, files) in tests.items():
            for file, lines in files.items():
                self.ran.setdefault(file, {})[test] = set(lines)

    def _ran(self, file: str, in_function: bool) -> dict[str, set[int]]:
        """The lines that each test runs. gcov knows no tables, and no file that has nothing else: then, of all its folder."""
        if in_function and file in self.ran:
            return self.ran[file]
        found: dict[str, set[int]] = {}
        for other, tests in self.ran.items():
            for test, lines in tests.items() if Path(other).parent == Path(file).parent else ():
                found[test] = found.get(test, set()) | lines
        return found

    def reach(self, file: str, lines: range, function: range) -> list[str]:
        """The tests that run one of the lines, the quickest first; if there is none, those that run the function. What is
        in no function, a table, may be used by all that run something of its folder. Of tests of one kind that run the same
        lines of the function, the quickest ones are enough."""
        ran = self._ran(file, bool(function))
        found = [test for test in ran if not function or ran[test] & {*lines}] or [t for t in ran if ran[t] & {*function}]
        found = [test for test in found if self.seconds[test] < SLOW_S] or found
        groups: dict[tuple[str, frozenset[int]], list[str]] = {}
        for test in sorted(found, key=lambda test: self.seconds[test]):
            groups.setdefault((kind(test), frozenset(ran[test] & {*function} if function else ran[test])), []).append(test)
        kept = [test for group in groups.values() for test in group[:ALIKE]]
        return sorted(kept, key=lambda test: self.seconds[test])


def record() -> Record:
    """What is known of this state of the tree; recorded first, if it is not there. Raises RuntimeError if a test fails."""
    file = WORK / f"lines-{state_of_the_tree()}.jsonl"
    if not file.exists():
        print("recording which lines each test runs, once", flush=True)
        copy, new = Copy("lines", *WITH_GCOV), file.with_suffix(".new")
        new.unlink(missing_ok=True)
        words = [*PYTEST, "-p", "mutate.recorder", "-n", str(CPUS), *(f"--ignore={file}" for file in WITHOUT), "tests/unit", "tests/sim"]
        environment = ENVIRONMENT | {RECORD: str(new), "PYTHONPATH": str(TOP / "tests")}
        done = subprocess.run(words, cwd=copy.top, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"a test fails without a fault, and nothing counts:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
        new.rename(file)
    return Record({name: (seconds, lines) for name, seconds, lines in rows(file)})


# ---- Runs -----------------------------------------------------------------------------------------


def run(copy: Copy, tests: list[str], limit_s: float) -> tuple[str, str] | None:
    """Builds and runs tests in a copy until one fails. Returns it, and its words; None if all pass. Raises DoesNotBuild and
    TimeoutExpired."""
    for suite, (targets, seconds) in SUITES.items():
        chosen = [test for test in tests if test.startswith(suite)]
        if not chosen:
            continue
        copy.make(1, *targets)
        words = [*PYTEST, "-x", f"--timeout={seconds}", *chosen]
        done = subprocess.run(
            words, cwd=copy.top, env=ENVIRONMENT, capture_output=True, text=True, errors="replace", timeout=limit_s, check=False
        )
        if done.returncode:
            found = FAILED.search(done.stdout)
            return found[1] if found else chosen[0], _reason(done.stdout + done.stderr)  # without it, all tests fail as they begin
    return None


def _reason(said: str) -> str:
    """Of a failure: what assert has written, or the test, which is behind the line of its name."""
    words = said.partition(" to run it again ")[0].rpartition("__\n")[2]
    return " ".join(" ".join([line for line in words.splitlines() if line.startswith("E  ")] or [words.rstrip("- ")]).split())[:300]
