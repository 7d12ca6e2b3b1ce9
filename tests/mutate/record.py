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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutate import process
from mutate.build import CPUS, ENVIRONMENT, TOP, make, output

EVENTS = "2000"  # of the tests of very many events
BUILD = "build/mutate/lines"
FLAGS = "FLAGS=-O0 -g --coverage -fprofile-update=atomic"
VARIABLES = (f"C{FLAGS}", f"FAKE_C{FLAGS}", "FAKE_SANITIZE.asan=", "FAKE_SANITIZE.tsan=")
# A run over the fake takes milliseconds. Check's limits are by the clock: there is another one here.
SETTINGS = {"FAKE_FIRST_ONLY": "1", "FAKE_LIMIT_MS": "5000", "CK_TIMEOUT_MULTIPLIER": "1000"}
LONGEST_S = 600.0


@dataclass(frozen=True)
class Test:
    """A part of a test program that can be run by itself. The program is named within the build's folder."""

    name: str
    kind: str  # what it has in common with tests of other programs
    program: str
    arguments: tuple[str, ...] = ()
    case: str = ""  # of Check

    def run(self, program: Path, limit_s: float, stop: Callable[[], bool], **more: str) -> process.End:
        """Runs it; see process.run."""
        settings = {"CK_RUN_CASE": self.case} if self.case else {}
        command, environment = [str(program), *self.arguments], ENVIRONMENT | SETTINGS | settings | more
        end = process.run(command, environment, limit_s, stop, TOP)
        # On a busy machine a test may fail by chance, but hardly twice.
        return process.run(command, environment, limit_s, stop, TOP) if end.status else end


def tests() -> list[Test]:
    """All tests. Builds and runs the unit tests once, to learn their cases."""
    found, unit = [], "tests/unit-tests"
    for line in output("tests/fakes", "--list", EVENTS).splitlines():
        program, *arguments = line.removeprefix("build/").split()
        sanitizer, stage, role = program.split("/")[-3:]
        kind = " ".join([sanitizer, role, *arguments[1:]])
        found.append(Test(f"{stage}: {kind}", kind, program, tuple(arguments)))
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
    for name in output("git", "ls-files", "*.c", "*.h", "*.mk", "Makefile", "tests/fakes").splitlines():
        digest.update(name.encode() + (TOP / name).read_bytes() if (TOP / name).exists() else b"")
    return digest.hexdigest()[:16]


def _lines(folder: Path) -> dict[str, dict[int, bool]]:
    """From what gcov's runtime has left in a folder: of each file the lines that have code, and whether they were run."""
    found: dict[str, dict[int, bool]] = {}
    data = list(folder.rglob("*.gcda"))
    for path in data:
        path.with_suffix(".gcno").symlink_to("/" / path.relative_to(folder).with_suffix(".gcno"))
    for said in output("gcov", "--json-format", "--stdout", *map(str, data)).splitlines():
        for file in json.loads(said)["files"]:
            lines = found.setdefault(file["file"], {})
            for one in file["lines"]:
                lines[one["line_number"]] = lines.get(one["line_number"], False) or one["count"] > 0
    return {file: lines for file, lines in found.items() if not file.startswith(("/", "tests/"))}


class Record:
    """What each test runs, and how many seconds it takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.code: dict[str, set[int]] = {}  # lines of each file that have code
        self.ran: dict[str, dict[str, set[int]]] = {}  # lines of each file that each test has run

    def add(self, test: str, seconds: float, lines: dict[str, dict[int, bool]]) -> None:
        """What one test has run."""
        self.seconds[test] = seconds
        for file, counts in lines.items():
            self.code.setdefault(file, set()).update(counts)
            self.ran.setdefault(file, {})[test] = {line for line, ran in counts.items() if ran}

    def alike(self, names: list[str], file: str, function: tuple[int, int] | None, most: int, kinds: dict[str, str]) -> list[str]:
        """Of tests of the same kind that run the same lines of the function, or file, at most some: quick and slow ones."""
        groups: dict[tuple[str, frozenset[int]], list[str]] = {}
        for name in names:
            lines = frozenset(n for n in self.ran[file][name] if not function or function[0] <= n <= function[1])
            groups.setdefault((kinds[name], lines), []).append(name)
        kept = {group[(len(group) - 1) * n // max(most - 1, 1)] for group in groups.values() for n in range(most)}
        return [name for name in names if name in kept]

    def reach(self, file: str, lines: tuple[int, int], function: tuple[int, int] | None) -> list[str]:
        """The tests that run one of the lines, the quickest first. If these have no code, or none of it was seen to be run:
        those that run the function. What is in no function is used by all that have the file."""
        names = list(self.ran.get(file, {}))
        for first, last in (lines, function) if function else ():
            wanted = set(range(first, last + 1)) & self.code.get(file, set())
            names = [name for name, ran in self.ran.get(file, {}).items() if not ran.isdisjoint(wanted)]
            if names:
                break
        return sorted(names, key=lambda name: self.seconds[name])


def _recorded(wanted: list[Test]) -> list[Any]:
    """Runs each test once."""

    def one(test: Test) -> tuple[str, float, dict[str, dict[int, bool]]]:
        with tempfile.TemporaryDirectory(dir=TOP / "build/mutate") as folder:
            begun = time.monotonic()
            end = test.run(TOP / BUILD / test.program, LONGEST_S, lambda: False, GCOV_PREFIX=folder)
            if end.status:
                raise RuntimeError(f"{test.name} fails without a fault: {end.said[-500:]}")
            return test.name, time.monotonic() - begun, _lines(Path(folder))

    with ThreadPoolExecutor(2 * CPUS) as pool:
        return list(pool.map(one, wanted))


def record(wanted: list[Test]) -> Record:
    """What is known of these tests and this state of the tree; recorded first if need be."""
    file = TOP / f"build/mutate/lines-{state_of_the_tree()}.json"
    rows = json.loads(file.read_text()) if file.exists() else []
    done = {name for name, _, _ in rows}
    missing = [test for test in wanted if test.name not in done]
    if missing:
        print(f"recording which lines {len(missing)} tests run, once", flush=True)
        # In the environment, LDFLAGS does not replace what the makefiles add to it.
        output("env", "LDFLAGS=--coverage", "make", "-s", f"-j{CPUS}", f"BUILD={BUILD}", *VARIABLES, *programs(missing, BUILD))
        rows += _recorded(missing)
        file.write_text(json.dumps(rows))
    known = Record()
    names = {test.name for test in wanted}
    for test, seconds, lines in (row for row in rows if row[0] in names):
        known.add(test, seconds, {name: {int(n): ran for n, ran in counts.items()} for name, counts in lines.items()})
    return known
