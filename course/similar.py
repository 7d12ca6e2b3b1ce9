# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Reports which hand-ins of a class have much of their own text in common.

Place: `make similar DIR=...` calls it. Contract: it compares the files that students write, by winnowing (Schleimer, Wilkerson
and Aiken, SIGMOD 2003): names, comments and layout do not matter, nor does the order of functions. What the starting file has
counts for nobody. The project's own solution is compared like a hand-in. Exit status: 0, or 2 if there is no class.
"""

import argparse
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from . import make, temporary
from .exercises import EXERCISES, TOP, Exercise
from .grade import Unfit, submitted
from .hand_ins import Refused, hand_ins, student
from .reasons import printable

GRAM = 12  # tokens that are compared at once
WINDOW = 6  # at least one of so many successive grams is kept, so an equal run of GRAM + WINDOW - 1 tokens is always found
LEAST_PERCENT = 60
FEWEST = 5  # kept grams of a file: a shorter solution leaves no choice, and is compared with nothing
OURS = "the project's own solution"
ALSO = {"recover": ("common/reconnect.c",)}  # other files of the project that may have been copied
TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*)|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|"""
    r"(?P<number>\d[\w.]*)|(?P<name>[A-Za-z_]\w*)|(?P<sign>->|\+\+|--|<<=?|>>=?|&&|\|\||[-+*/%&|^=!<>]=|.)",
    re.DOTALL | re.MULTILINE,
)
KEPT = set("break case char continue default do double else enum float for goto if int long return short signed sizeof static struct "
           "switch union unsigned void while".split())  # fmt: skip
GIVEN = re.compile(r"(our|ibv|rdma|OUR|IBV|RDMA)_")  # names that a student cannot change


@dataclass(frozen=True)
class Print:
    """The fingerprint of a file: each kept gram, and its first and last lines."""

    name: str
    grams: dict[int, list[tuple[int, int]]]


@dataclass(frozen=True)
class Pair:
    """Two files that have something in common."""

    one: Print
    other: Print
    shared: set[int]  # grams that both files have
    percent: int  # the share of these in the kept grams of the file that has fewer

    def __str__(self) -> str:
        of = [f"{printable(each.name)} {lines(each, self.shared)}" for each in (self.one, self.other)]
        return f"{self.percent:3d} %  {of[0]}  =  {of[1]}"


def lines(of: Print, grams: set[int]) -> str:
    """Ranges of lines in which a file has these grams."""
    found: list[list[int]] = []
    for first, last in sorted(line for gram in grams for line in of.grams[gram]):
        if not found or first > found[-1][1] + 1:
            found.append([first, last])
        found[-1][1] = max(found[-1][1], last)
    return ",".join(f"{first}-{last}" for first, last in found)


def tokens(source: str) -> list[tuple[str, int]]:
    """The tokens of a source in a form that does not depend on the names that the student chose, and their lines."""
    found, line = [], 1
    for match in TOKEN.finditer(source):
        word = match[0]
        if match.lastgroup == "name":
            found.append((word if word in KEPT or GIVEN.match(word) else "name", line))
        elif match.lastgroup != "skip":
            found.append((word if match.lastgroup == "sign" else str(match.lastgroup), line))
        line += word.count("\n")
    return found


def every_gram(source: str) -> list[tuple[int, tuple[int, int]]]:
    """All grams of a source in their order, with their lines."""
    found = tokens(source)
    parts = (found[first : first + GRAM] for first in range(len(found) - GRAM + 1))
    return [(zlib.crc32(" ".join(word for word, _ in part).encode()), (part[0][1], part[-1][1])) for part in parts]


def fingerprint(name: str, source: str, given: str) -> Print:
    """Keeps the smallest gram of each window, the last one if several are the smallest, but none that the starting file has."""
    every, known = every_gram(source), {gram for gram, _ in every_gram(given)}
    windows = [range(first, first + WINDOW) for first in range(len(every) - WINDOW + 1)]
    kept: dict[int, list[tuple[int, int]]] = {}
    for place in sorted({min(window, key=lambda number: (every[number][0], -number)) for window in windows}):
        if every[place][0] not in known:
            kept.setdefault(every[place][0], []).append(every[place][1])
    return Print(name, kept)


def pairs(prints: list[Print], least: int) -> list[Pair]:
    """The pairs of different students that have at least that much in common, those with the most first."""
    found = []
    for one, other in combinations([each for each in prints if len(each.grams) >= FEWEST], 2):
        shared = {*one.grams} & {*other.grams}
        percent = len(shared) * 100 // min(len(one.grams), len(other.grams))
        if percent >= least and student(one.name) != student(other.name):
            found.append(Pair(one, other, shared, percent))
    return sorted(found, key=lambda pair: -pair.percent)


def of_class(given: Path, scratch: Path) -> Iterator[tuple[Exercise, list[Print]]]:
    """The fingerprints of a class, for each exercise. Raises Refused."""
    sources: dict[str, dict[str, str]] = {}
    for one in hand_ins(given, scratch):
        try:
            if one.tree:
                exercise, source = submitted(one.tree)
                sources.setdefault(exercise.name, {})[one.name] = source
        except (Unfit, OSError):
            continue
    for name, of in sorted(sources.items()):
        ours = (TOP / EXERCISES[name].file).read_text()
        start = make.without_solution(EXERCISES[name], ours)
        others = [(OURS, ours), *((also, (TOP / also).read_text()) for also in ALSO.get(name, ()))]
        yield EXERCISES[name], [fingerprint(whose, source, start) for whose, source in [*of.items(), *others]]


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make similar", description="Reports which hand-ins have much in common.")
    parser.add_argument("directory", type=Path, help="or a zip")
    parser.add_argument("--least", type=int, default=LEAST_PERCENT, help="percent")
    options = parser.parse_args()
    temporary.leave_on_signals()
    try:
        with temporary.folder() as folder:
            for exercise, prints in of_class(options.directory, folder):
                own = prints[: -1 - len(ALSO.get(exercise.name, ()))]
                short = sum(1 for each in own if len(each.grams) < FEWEST)
                print(f"{exercise.name}, {exercise.file}: {len(own)} hand-ins, {short} of them too short to compare")
                print("".join(f"  {pair}\n" for pair in pairs(prints, options.least)), end="")
    except Refused as why:
        print(f"make similar: {printable(str(why))}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
