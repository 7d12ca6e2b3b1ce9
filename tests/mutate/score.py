# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the verdicts mean: the score with its interval, the survivors, the kept results and their page.

Place: the last step of tests/mutate. Contract: counted are mutants that were caught or have survived all tests; not
those that no test could tell from the program. Why each of them has survived is in results/, beside it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mutate import suites
from mutate.trial import CAUGHT, PART, SURVIVED

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
EQUIVALENT = "equivalent"
REASONS = (  # a survivor whose reason begins with one of these is no different program
    "same object code",
    "neighbours that do not refer to each other",
    "an error of the same class to every caller",
    "code that no program of that stage calls",
    "code that nothing needed",  # and that has gone since
    "an order that this CPU does not weaken",
    "nobody can see the difference",
)
BY_FOLDER_FROM = 50
HEADING = "\n## Results\n"
HEAD = "| | drawn | counted | caught | equivalent | not run in full | score | 95 % interval |\n|---|---|---|---|---|---|---|---|"


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
    lab: str = ""  # the verdict of suites that need a VM; "caught by ..." counts as caught
    why: str = ""  # no test notices it

    def key(self) -> tuple[str, str, str, str]:
        """What stays the same when the lines above it change."""
        return self.file, self.operator, " ".join(self.old.split()), " ".join(self.new.split())

    def diff(self) -> str:
        """As file:line, operator and diff."""
        lines = [sign + line for sign, text in (("-", self.old), ("+", self.new)) for line in text.splitlines()]
        return "\n  ".join([f"{self.file}:{self.line}: {self.operator}", *lines, self.why or "no reason yet"])


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


def explained(mutants: list[Mutant]) -> list[Mutant]:
    """The same; of those that have survived, and that results/ has, with the reasons there."""
    reasons = {mutant.key(): mutant.why for file in RESULTS.glob("*.jsonl") for mutant in kept(file)[1] if mutant.why}
    return [replace(m, why=reasons.get(m.key(), "") if m.verdict == SURVIVED else "") for m in mutants]


def sort_out(mutants: list[Mutant]) -> list[Mutant]:
    """The same, with survivors marked that are equivalent, or that other suites notice."""
    mutants = [replace(m, verdict=CAUGHT) if m.lab.startswith(CAUGHT) else m for m in explained(mutants)]
    return [replace(m, verdict=EQUIVALENT) if m.why.startswith(REASONS) else m for m in mutants]


def _row(name: str, mutants: list[Mutant], at_least: int = 0) -> list[str]:
    """A line of the table, if enough of them are counted."""
    verdicts = Counter(mutant.verdict for mutant in mutants)
    caught, counted = verdicts[CAUGHT], verdicts[CAUGHT] + verdicts[SURVIVED]
    low, high = wilson(caught, counted)
    share = f"{caught / counted:.0%}" if counted else "-"
    cells = (name, len(mutants), counted, caught, verdicts[EQUIVALENT], verdicts[PART], share, f"{low:.0%} to {high:.0%}")
    return [f"| {' | '.join(map(str, cells))} |"] if counted >= at_least else []


def table(name: str, mutants: list[Mutant]) -> str:
    """All of a measurement, and by folder from 50 counted mutants on."""
    lines = [HEAD, *_row(name, mutants)]
    for folder in sorted({Path(mutant.file).parent for mutant in mutants}):
        lines += _row(f"{folder}/", [mutant for mutant in mutants if Path(mutant.file).parent == folder], BY_FOLDER_FROM)
    return "\n".join(lines)


def kept(file: Path) -> tuple[str, list[Mutant]]:
    """What a file of results/ says of its measurement, and its mutants."""
    what, *mutants = suites.rows(file)
    return what, [Mutant(**row) for row in mutants]


def page() -> str:
    """README.md: its text, and below its last heading what results/ has."""
    text = (HERE / "README.md").read_text().split(HEADING)[0] + HEADING
    for file in sorted(RESULTS.glob("*.jsonl")):
        what, mutants = kept(file)
        text += f"\n{what} (`results/{file.name}`):\n\n{table(file.stem, sort_out(mutants))}\n"
        lab = Counter(mutant.lab for mutant in mutants if mutant.lab)
        text += f"\nOf these, in VMs: {'; '.join(f'{n} {said}' for said, n in sorted(lab.items()))}.\n" if lab else ""
    return text


def keep(name: str, what: str, mutants: list[Mutant]) -> None:
    """Keeps a measurement in results/, and writes README.md anew."""
    (RESULTS / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (what, *map(asdict, explained(mutants)))))
    (HERE / "README.md").write_text(page())
