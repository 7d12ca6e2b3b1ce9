# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Figures as words: two digits, and no more certainty than the rounds allow.

Place: below answers.py and picture.py. Contract: text from numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .statistics import Estimate

FEW = 3  # rounds; with fewer there is no conclusion
SURE, WIDE = 1.25, 3.0  # an interval up to this many times its low end shows its median; its range; nothing
NOTHING = 0.02  # CPUs: a window of a second is not known better
CANNOT = "cannot tell"


def two(value: float) -> str:
    """Formats a number with two digits, and thousands with commas."""
    if not value or not math.isfinite(value):
        return "0"
    digits = 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    digits = 1 - math.floor(math.log10(abs(rounded)))  # so that 9.96 is 10, not 10.0
    return f"{rounded:,.{max(0, digits)}f}"


def time(us: float) -> str:
    """Formats microseconds, with the unit that makes them short."""
    return f"{two(us / 1000)} ms" if us >= 9950 else f"{two(us)} µs"


@dataclass(frozen=True)
class Figure:
    """An estimate in words, as precise as it allows; unit: 'µs', or the empty text."""

    one: Estimate
    unit: str = ""
    most: float = 0.0  # upper bound, for CPU use, which is at least 0: 'under' its high end says something

    def show(self, value: float) -> str:
        """A value with its unit."""
        return time(value) if self.unit else two(value)

    @property
    def sure(self) -> bool:
        """Returns whether the median stands for all of the interval."""
        return self.one.rounds >= FEW and 0 < self.one.high <= SURE * self.one.low

    @property
    def text(self) -> str:
        """The words."""
        if self.one.rounds < FEW:
            little = self.most and self.one.value < NOTHING
            return f"perhaps under {NOTHING}" if little else f"perhaps {self.show(self.one.value)}"
        if self.most and self.one.high < NOTHING:
            return f"under {NOTHING}"
        if self.sure:
            return self.show(self.one.value)
        if 0 < self.one.high <= WIDE * self.one.low:
            low, high = self.show(self.one.low), self.show(self.one.high)
            unit = high[high.index(" ") :] if self.unit else ""
            return f"{low.removesuffix(unit)} to {high}" if unit else f"{low} to {high}"
        return f"under {self.show(self.one.high)}" if self.one.high < 0.9 * self.most else CANNOT


def best(figures: list[Figure | None]) -> list[bool]:
    """Returns the figures that may be the least: no other one lies wholly below."""
    known = [figure.one for figure in figures if figure and figure.one.rounds >= FEW]
    least = min((one.high for one in known), default=0.0)
    return [bool(figure and figure.one in known and figure.one.low <= least and figure.text != CANNOT) for figure in figures]
