# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the verdicts mean: the score with its interval, and the survivors.

Place: the last step of tests/mutate. Contract: counted are mutants that were caught or have survived all tests.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from mutate import suites
from mutate.trial import CAUGHT, PART, SURVIVED

BY_FOLDER_FROM = 50
HEAD = "| | drawn | counted | caught | not run in full | score | 95 % interval |\n|---|---|---|---|---|---|---|"


@dataclass
class Mutant:
    """A fault and its verdict."""

    number: int
    file: str
    line: int
    operator: str
    old: str  # the lines that it changes,
    new: str  # and what they become
    verdict: str = ""
    by: str = ""

    def diff(self) -> str:
        """As file:line, operator and diff."""
        lines = [sign + line for sign, text in (("-", self.old), ("+", self.new)) for line in text.splitlines()]
        return "\n  ".join([f"{self.file}:{self.line}: {self.operator}", *lines])


class Results:
    """Those of one measurement, by number, in a file to which each is added as soon as it is there."""

    def __init__(self, file: Path) -> None:
        """Has those of an interrupted run."""
        self.file, self.mutants = file, {row["number"]: Mutant(**row) for row in suites.rows(file)}

    def add(self, mutant: Mutant) -> None:
        """Adds or replaces one."""
        self.mutants[mutant.number] = mutant
        suites.append(self.file, asdict(mutant))


def wilson(caught: int, counted: int, z: float = 1.96) -> tuple[float, float]:
    """The score's 95 % interval, by Wilson: shares from 0 to 1."""
    if not counted:
        return 0.0, 1.0
    share, weight = caught / counted, z * z / counted
    middle, half = share + weight / 2, z * math.sqrt(share * (1 - share) / counted + weight / counted / 4)
    return (middle - half) / (1 + weight), (middle + half) / (1 + weight)


def _row(name: str, mutants: list[Mutant], at_least: int = 0) -> list[str]:
    """A line of the table, if enough of them are counted."""
    verdicts = Counter(mutant.verdict for mutant in mutants)
    caught, counted = verdicts[CAUGHT], verdicts[CAUGHT] + verdicts[SURVIVED]
    low, high = wilson(caught, counted)
    share = f"{caught / counted:.0%}" if counted else "-"
    cells = (name, len(mutants), counted, caught, verdicts[PART], share, f"{low:.0%} to {high:.0%}")
    return [f"| {' | '.join(map(str, cells))} |"] if counted >= at_least else []


def table(name: str, mutants: list[Mutant]) -> str:
    """All of a measurement, and by folder from 50 counted mutants on."""
    lines = [HEAD, *_row(name, mutants)]
    for folder in sorted({Path(mutant.file).parent for mutant in mutants}):
        lines += _row(f"{folder}/", [mutant for mutant in mutants if Path(mutant.file).parent == folder], BY_FOLDER_FROM)
    return "\n".join(lines)

