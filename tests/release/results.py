# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: the results of the suites of tests/long: read from a log, kept between runs, printed as a table.

Contract: results are kept for one commit. Those of another commit, or of a tree with changes, are dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from release.suites import Suite


@dataclass
class Result:
    """What a suite's log says, and how long the suite took."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0


def count(text: str) -> Result:
    """Reads a log: the sum of tests/run, TAP, or what unittest and the fuzzers print."""
    sums = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", text, re.MULTILINE)
    if sums:
        return Result(*map(int, sums[-1]))
    units = re.search(r"^Ran (\d+) tests? in", text, re.MULTILINE)
    if units:
        bad = sum(map(int, re.findall(r"(?:failures|errors)=(\d+)", text)))
        return Result(int(units[1]) - bad, bad)
    good = len(re.findall(r"^(?:ok \d+ - |\S+/\S+: \d+ inputs$)", text, re.MULTILINE))
    return Result(good, len(re.findall(r"^not ok ", text, re.MULTILINE)))


def judged(result: Result, status: int) -> Result:
    """A log in which nothing has passed, or that does not fit the exit status, counts as one failure."""
    if result.failed == 0 and (status or not result.passed):
        result.failed = 1
    return result


def load(file: Path, commit: str) -> dict[str, Result]:
    """The results that are kept for this commit. A file that cannot be read has none."""
    try:
        kept = json.loads(file.read_text())
        if kept["commit"] != commit:
            return {}
        return {name: Result(**values) for name, values in kept["results"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def save(file: Path, commit: str, results: Mapping[str, Result]) -> None:
    """Keeps the results. The file is replaced as a whole, so that an interruption does not damage it."""
    new = file.with_suffix(".new")
    kept = {name: asdict(result) for name, result in results.items()}
    new.write_text(json.dumps({"commit": commit, "results": kept}, indent=1) + "\n")
    new.replace(file)


def chosen(suites: Mapping[str, Suite], passed: Mapping[str, Result], minutes: float) -> list[str]:
    """The suites to run in this many minutes: those without a result, in their order, while there is time.

    The first of them is always run, so that a suite that is longer than the budget has its turn, too.
    """
    names: list[str] = []
    for name, suite in suites.items():
        if name not in passed and (not names or suite.minutes <= minutes):
            names.append(name)
            minutes -= suite.minutes
    return names


def table(suites: Mapping[str, Suite], results: Mapping[str, Result], about: Mapping[str, str]) -> str:
    """The one table in Markdown: what it belongs to, a row for each suite, and the sum."""
    lines = [f"- {name}: {value}" for name, value in about.items()]
    lines += ["", "| suite | shows | passed | failed | skipped | took |", "|---|---|---|---|---|---|"]
    for name, suite in suites.items():
        r = results.get(name)
        row = f"{r.passed} | {r.failed} | {r.skipped} | {r.seconds / 60:.1f} min" if r else "not run | | |"
        lines.append(f"| {name} | {suite.shows} | {row} |")
    every = [results[name] for name in suites if name in results]
    sums = [sum(r.passed for r in every), sum(r.failed for r in every), sum(r.skipped for r in every)]
    took = f"{sum(r.seconds for r in every) / 60:.1f} min"
    lines.append(f"| **total** | | {' | '.join(map(str, sums))} | {took} |")
    return "\n".join(lines) + "\n"
