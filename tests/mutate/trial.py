# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Plants one fault, and runs the tests that could notice it.

Place: between the sites that tests/mutate has drawn and its score. Contract: a test that does not end within its limit
counts only if the program without the fault ends beside it.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from mutate.build import DoesNotBuild, Graph
from mutate.process import End, Stop
from mutate.record import Test

CAUGHT, SURVIVED, PART = "caught", "survived", "not run in full"
SAME, REFUSED = "same object code", "does not compile"
LONGEST_S = 1800.0  # for all tests of a mutant, by the clock


def _first_failure(end: End) -> str:
    """What the test said."""
    lines = [line for line in end.said.splitlines() if line.startswith("not ok") or ":F:" in line or ":E:" in line]
    return (lines or end.said.splitlines()[-1:] or [f"exit status {end.status}"])[0][:200]


class Trial:
    """One mutant, in a folder of its own. With the file's own text, all tests have to pass."""

    def __init__(self, graph: Graph, file: str, text: bytes, folder: Path, stop: Stop) -> None:
        self.graph, self.file, self.text, self.folder, self.stop = graph, file, text, folder, stop
        self.original = (graph.top / file).read_bytes()

    def judge(self, tests: list[tuple[Test, float]]) -> tuple[str, str]:
        """Runs the tests, each with its limit. Returns the verdict, and by what it was caught."""
        try:
            if self.text != self.original and self._object(self.text) == self._object(self.original):
                return SAME, ""
            self._write(self.text)
            return self._judge(tests)
        except DoesNotBuild:
            return REFUSED, ""
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, text: bytes) -> None:
        path = self.folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)

    def _object(self, text: bytes) -> bytes:
        self._write(text)
        return self.graph.object_code(self.file, self.folder)

    def _judge(self, tests: list[tuple[Test, float]]) -> tuple[str, str]:
        verdict, until = SURVIVED, time.monotonic() + LONGEST_S
        by = "" if tests else "no test runs it"
        for test, limit_s in tests:
            if self.stop() or time.monotonic() > until:
                return PART, ""
            end = test.run(self.graph.build(f"build/{test.program}", self.file, self.folder), limit_s, self.stop)
            if end.status:
                return CAUGHT, f"{test.name}: {_first_failure(end)}"
            if end.late:
                if not test.run(self.graph.top / f"build/{test.program}", limit_s, self.stop).late:
                    return CAUGHT, f"{test.name}: does not end"
                verdict = PART
        return verdict, by
