# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares two results: of a measurement that was repeated, before and after a change, or of two machines.

Place: below page.py. Contract: compares only conclusions that both results allow. If one of them is too noisy, or has
too few rounds for a conclusion, this is no disagreement.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .conclusions import break_even, restless, say_break_even, shown
from .statistics import Estimate, ratios, verdict
from .store import Results
from .words import FEW

DEFINITE = ("less", "more", "the same")


@dataclass
class Agreement:
    """The number of conclusions that both allow, the number of those that only one or none allows, and those that
    differ."""

    both: int = 0
    open: int = 0
    differ: list[str] = field(default_factory=list)


def apart(one: Estimate, other: Estimate) -> bool:
    """Returns whether the intervals do not overlap."""
    return one.low > other.high or other.low > one.high


def contradict(one: Estimate, other: Estimate) -> bool:
    """Returns whether two conclusions differ: 'less' and 'more' always do; 'the same' differs from them only if the intervals
    do not overlap."""
    words = {verdict(one), verdict(other)}
    return words == {"less", "more"} or (len(words) == 2 and apart(one, other))


def compare(first: Results, second: Results) -> Agreement:
    """Compares two results. Leaves out ratios of a machine that was not quiet."""
    found = Agreement()
    noisy = bool(restless(first) or restless(second))
    left, right = ratios(first), ratios(second)
    for key in left.keys() & right.keys():
        one, other = left[key], right[key]
        if noisy or verdict(one) not in DEFINITE or verdict(other) not in DEFINITE:
            found.open += 1
            continue
        found.both += 1
        if contradict(one, other):
            link, point, figure = key
            found.differ.append(f"{link}, {point.name}: {figure} is {shown(one)} times its reference's, and {shown(other)}.")
    for link in sorted({key[0] for key in left.keys() & right.keys()}):
        evens = break_even(first, link), break_even(second, link)
        kinds = [even.kind for even in evens]
        crossed = all(even.kind == "crossed" and even.load and even.load.rounds >= FEW for even in evens)
        if noisy or not (crossed or (kinds[0] != kinds[1] and kinds.count("always") == 1 and "unknown" not in kinds)):
            found.open += 1
            continue
        found.both += 1
        if not crossed or (evens[0].load and evens[1].load and apart(evens[0].load, evens[1].load)):
            found.differ.append(f"{link}: {say_break_even(evens[0])} And: {say_break_even(evens[1])}")
    found.differ.sort()
    return found


def say(one: Agreement, names: tuple[str, str]) -> list[str]:
    """Returns the text for people."""
    if not one.both and not one.open:
        return [f"{names[0]} and {names[1]} have nothing in common."]
    told = (
        f"{names[0]} and {names[1]}: of {one.both} conclusions that both allow, "
        f"{one.both - len(one.differ)} agree and {len(one.differ)} differ"
    )
    rest = f"; {one.open} are too noisy, or of too few rounds, in one or both" if one.open else ""
    return [f"{told}{rest}.", *(f"Differs: {line}" for line in one.differ)]
