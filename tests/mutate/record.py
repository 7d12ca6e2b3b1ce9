# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tests that need no device, and which lines of the programs each of them runs.

Place: tests/mutate/measure.py chooses tests by it. Contract: the lines are recorded once, by gcov, in a build of its own, and
again after a change of any C file or makefile.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fake.table import rows as rows_over_fake_verbs
from mutate import process
from mutate.build import CPUS, ENVIRONMENT, TOP, make, output

EVENTS = 2000  # of the tests of very many events
BUILD = "build/mutate/lines"
FLAGS = "FLAGS=-O0 -g --coverage -fprofile-update=atomic"
VARIABLES = (f"C{FLAGS}", f"FAKE_C{FLAGS}", "FAKE_SANITIZE.asan=", "FAKE_SANITIZE.tsan=")
# A run over the fake takes milliseconds. Check's limits are by the clock: there is another one here.
SETTINGS = {
    "FAKE_FIRST_ONLY": "1",
    "FAKE_LIMIT_MS": "5000",
    "CK_TIMEOUT_MULTIPLIER": "1000",
    "TSAN_OPTIONS": "atexit_sleep_ms=100",  # a second otherwise, at the end of each run
}
LONGEST_S = 600.0
ALIKE = 4


@dataclass(frozen=True)
class Test:
    """A part of a test program that can be run by itself. The program is named within the build's folder."""

    name: str
    kind: str  # what it has in common with tests of other programs
    program: str
    arguments: tuple[str, ...] = ()
    case: str = ""  # of Check
    __test__ = False  # of pytest

    def run(self, program: Path, limit_s: float, stop: process.Stop, **more: str) -> process.End:
        """Runs it; see process.run."""
        settings = {"CK_RUN_CASE": self.case} if self.case else {}
        command, environment = [str(program), *self.arguments], ENVIRONMENT | SETTINGS | settings | more
        end = process.run(command, environment, limit_s, stop, TOP)
        # On a busy machine a test may fail or be late by chance, but hardly twice.
        return process.run(command, environment, limit_s, stop, TOP) if end.status or end.late else end


def tests() -> list[Test]:
    """All tests. Builds and runs the unit tests once, to learn their cases."""
    found, unit = [], "tests/unit-tests"
    for row in rows_over_fake_verbs():
        program, *arguments = row.command("build", EVENTS)
        stage, _, role = row.program.rpartition("/")
        kind = " ".join([row.sanitizer, role, *arguments[1:]])
        found.append(Test(f"{stage}: {kind}", kind, program.removeprefix("build/"), tuple(arguments)))
    make(f"build/{unit}")
    with tempfile.NamedTemporaryFile("r") as tap:
        output("env", f"CK_TAP_LOG_FILE_NAME={tap.name}", f"build/{unit}")
        cases = set(re.findall(r"^ok \d+ - [^:]*:([^:]*):", tap.read(), re.MULTILINE))
    return found + [Test(f"unit: {case}", case, unit, case=case) for case in sorted(cases)]


def programs(of: list[Test], build: str = "build") -> list[str]:
    """The programs, as make names them."""
    return sorted({f"{build}/{test.program}" for test in of})


def state_of_the_tree() -> str:
    """A digest of everything that is compiled."""
    digest = hashlib.sha256()
    for name in output("git", "ls-files", "*.c", "*.h", "*.mk", "Makefile", "tests/fake/table.py").splitlines():
        digest.update(name.encode() + (TOP / name).read_bytes() if (TOP / name).exists() else b"")
    return digest.hexdigest()[:16]


def append(file: Path, row: object) -> None:
    """Adds a line of JSON. It begins with the newline: one that was not written to its end spoils none after it."""
    with file.open("a") as out:
        out.write("\n" + json.dumps(row))


def rows(file: Path) -> Iterator[Any]:
    """What a file has in its lines, but for those that were not written to their ends."""
    for line in file.read_text().splitlines() if file.exists() else ():
        with suppress(ValueError):
            yield json.loads(line)


def _lines(folder: Path) -> dict[str, list[int]]:
    """From what gcov's runtime has left in a folder: the lines that were run, of each file that has some."""
    found: dict[str, set[int]] = {}
    data = [*folder.rglob("*.gcda")]
    for path in data:
        path.with_suffix(".gcno").symlink_to("/" / path.relative_to(folder).with_suffix(".gcno"))
    for said in output("gcov", "--json-format", "--stdout", *map(str, data)).splitlines():
        for file in json.loads(said)["files"]:
            if ran := {line["line_number"] for line in file["lines"] if line["count"]}:
                found.setdefault(file["file"], set()).update(ran)
    return {file: sorted(lines) for file, lines in found.items() if not file.startswith(("/", "tests/"))}


class Record:
    """What each test runs, and how many seconds it takes."""

    def __init__(self, tests: dict[Test, tuple[float, dict[str, list[int]]]]) -> None:
        """Of each test: the seconds, and the lines of each file."""
        self.seconds = {test: seconds for test, (seconds, _) in tests.items()}
        self.ran: dict[str, dict[Test, set[int]]] = {}  # by file
        for test, (_, files) in tests.items():
            for file, lines in files.items():
                self.ran.setdefault(file, {})[test] = set(lines)

    def _ran(self, file: str, in_function: bool) -> dict[Test, set[int]]:
        """The lines that each test runs. gcov knows no tables, and no file that has nothing else: then, of all its folder,
        and those of the programs that it describes."""
        if in_function and file in self.ran:
            return self.ran[file]
        found: dict[Test, set[int]] = {}
        for other, tests in self.ran.items():
            for test, lines in tests.items() if Path(other).parent == Path(file).parent else ():
                found[test] = found.get(test, set()) | lines
        for test in self.seconds:
            if "".join(test.arguments[:1]).startswith(f"{Path(file).parent.name}/"):
                found.setdefault(test, set())
        return found

    def reach(self, file: str, lines: range, function: range) -> list[Test]:
        """The tests that run one of the lines, the quickest first; if there is none, those that run the function. What is
        in no function, a table, may be used by all that run something of its folder. Of tests of one kind that run the same
        lines of the function, some are enough: quick and slow ones."""
        ran = self._ran(file, bool(function))
        found = [test for test in ran if not function or ran[test] & {*lines}] or [t for t in ran if ran[t] & {*function}]
        groups: dict[tuple[str, frozenset[int]], list[Test]] = {}
        for test in sorted(found, key=lambda test: self.seconds[test]):
            groups.setdefault((test.kind, frozenset(ran[test] & {*function} if function else ran[test])), []).append(test)
        kept = {group[(len(group) - 1) * n // (ALIKE - 1)] for group in groups.values() for n in range(ALIKE)}
        return sorted(kept, key=lambda test: self.seconds[test])


def _recorded(test: Test, stop: process.Stop) -> tuple[Any, ...]:
    """Runs a test once."""
    with tempfile.TemporaryDirectory(dir=TOP / "build/mutate") as folder:
        begun = time.monotonic()
        end = test.run(TOP / BUILD / test.program, LONGEST_S, stop, GCOV_PREFIX=folder)
        if end.status != 0:
            raise RuntimeError(f"{test.name} fails without a fault, or does not end: {end.said[-500:]}")
        seconds, lines = time.monotonic() - begun, _lines(Path(folder))
        if not test.case and not any(file.endswith(".c") for file in lines):  # a case may be about the tests
            raise RuntimeError(f"{test.name} has run no line of the programs, says gcov")
        return test.name, seconds, lines


def record(wanted: list[Test]) -> Record:
    """What is known of these tests and this state of the tree; the rest is recorded first."""
    file = TOP / f"build/mutate/lines-{state_of_the_tree()}.jsonl"
    found = {name: rest for name, *rest in rows(file)}
    missing = [test for test in wanted if test.name not in found]
    if missing:
        print(f"recording which lines {len(missing)} tests run, once", flush=True)
        # In the environment, LDFLAGS does not replace what the makefiles add to it.
        output("env", "LDFLAGS=--coverage", "make", "-s", f"-j{CPUS}", f"BUILD={BUILD}", *VARIABLES, *programs(missing, BUILD))
        for n, (name, *rest) in enumerate(process.each(_recorded, missing, 2 * CPUS), 1):
            print(f"[{n}/{len(missing)}] {name}: {rest[0]:.0f} s", flush=True)
            found[name] = rest
            append(file, [name, *rest])
    return Record({test: found[test.name] for test in wanted})
