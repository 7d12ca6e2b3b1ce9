# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Which tests have passed at this commit, for make check-long (--rest), which goes on where an earlier call ended.

Place: a plugin of tests/conftest.py, in the controller. Contract: a result is in build/tests/long/COMMIT.jsonl as soon as it
is known. Results of a tree with changes that are not committed are not kept. At the end the table for tests/evidence.md.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import scheduling

TOP = Path(__file__).resolve().parents[1]
KEPT = TOP / "build/tests/long"
# Seconds that a test of a folder takes on average, on two processors, until this machine knows better.
USUAL_S = {"release": 300, "graded": 60, "quotes": 60, "mine": 30, "bugs": 10, "lab": 9, "hosts": 6, "fake": 6}
OTHERWISE_S = 2


def said(*command: str) -> str:
    """The first line that a command prints, or nothing."""
    try:
        ended = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return (ended.stdout.strip().splitlines() or [""])[0].strip()


def versions(commit: str) -> dict[str, str]:
    """What the results belong to."""
    listed = subprocess.run(["lab/run", "--list"], cwd=TOP, capture_output=True, text=True, check=False)
    found = re.search(r"^kernel\s+(.*)$", listed.stdout, re.MULTILINE)
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit,
        "kernel": f"{os.uname().release}; in the lab {found[1] if found else 'none'}",
        "rdma-core": said("dpkg-query", "-W", "-f", "${Version}", "libibverbs1") or "not known",
        "compiler": said(os.environ.get("CC", "cc"), "--version"),
        "processors": str(os.cpu_count()),
    }


def lines_of(file: Path) -> Iterator[dict[str, Any]]:
    """Its results, but for a last line that was not written to its end."""
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            continue


class Record:
    """Results by test: how it ended, and after how many seconds."""

    def __init__(self, config: pytest.Config) -> None:
        """Reads those of this commit; of other commits how long the tests took."""
        self.config = config
        self.on = bool(config.option.rest)
        self.commit = said("git", "rev-parse", "--short=12", "HEAD") if self.on else ""
        changed = self.on and said("git", "status", "--porcelain", "--untracked-files=no")
        self.file = None if changed or not self.commit else KEPT / f"{self.commit}.jsonl"
        self.commit += ", with changes" if changed else ""
        self.results = {one["test"]: one for one in lines_of(self.file)} if self.file else {}
        files = sorted(KEPT.glob("*.jsonl"), key=os.path.getmtime) if self.on else []
        self.known_s = {one["test"]: float(one["seconds"]) for file in files for one in lines_of(file)}
        self.running: defaultdict[str, list[pytest.TestReport]] = defaultdict(list)
        self.told: set[str] = set()

    def done(self) -> list[str]:
        """Tests that need not be run again."""
        return [test for test, one in self.results.items() if one["outcome"] != "failed"]

    @pytest.hookimpl(optionalhook=True)  # type: ignore[misc]
    def pytest_configure_node(self, node: Any) -> None:
        """Tells a worker."""
        node.workerinput["done"] = self.done()

    @pytest.hookimpl(optionalhook=True)  # type: ignore[misc]
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """How long it will take: those that need the machine alone, then the others at the same time."""
        place = scheduling.place_of(node)
        if not self.on or place in self.told:
            return
        self.told.add(place)
        workers = sum(not place or f"TESTS_PLACE={place}" in spec for spec in self.config.option.tx)
        total_s = sum(self.known_s.get(one, USUAL_S.get(one.split("/")[0], OTHERWISE_S)) for one in ids)
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        reporter.write_line(f"{place or 'here'}: {len(ids)} tests, some {total_s / workers / 60:.0f} min")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps a result. A test whose worker died has one report, of no phase."""
        reports = self.running[report.nodeid]
        reports.append(report)
        if report.when in ("setup", "call"):
            return
        outcomes = {one.outcome for one in reports}
        outcome = next(word for word in ("failed", "skipped", "passed") if word in outcomes)
        one = {"test": report.nodeid, "outcome": outcome, "seconds": round(sum(one.duration for one in reports), 2)}
        self.results[report.nodeid] = one
        del self.running[report.nodeid]
        if self.file:
            KEPT.mkdir(parents=True, exist_ok=True)
            with self.file.open("a") as file:
                file.write("\n" + json.dumps(one))  # a line that was not written to its end spoils none after it

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """That nothing is left to do is a success."""
        if self.results and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The table, of this call and those before."""
        if self.on:
            terminalreporter.write_line(self.table())

    def table(self) -> str:
        """In Markdown: what it belongs to, a row for each folder, and the sum."""
        lines = [f"- {name}: {value}" for name, value in versions(self.commit).items()]
        lines += ["", "| tests | passed | failed | skipped | took, one after the other |", "|---|---|---|---|---|"]
        for folder in [*sorted({test.split("/")[0] for test in self.results}), ""]:
            found = [one for test, one in self.results.items() if test.startswith(folder and f"{folder}/")]
            count = Counter(one["outcome"] for one in found)
            counts = " | ".join(str(count[outcome]) for outcome in ("passed", "failed", "skipped"))
            lines.append(f"| {folder or '**all**'} | {counts} | {sum(one['seconds'] for one in found) / 60:.1f} min |")
        return "\n".join(lines)
