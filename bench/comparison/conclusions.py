# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes conclusions as sentences: from which load on polling is cheaper; the cost of a message, an idle connection, a
wake-up.

Place: below page.py and the summary on the terminal. Contract: writes a sentence only about what was measured; if the
interval allows no conclusion, the sentence says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from .foretold import law_of
from .plan import Point
from .statistics import Estimate, bootstrap, cpu_us, estimate, kept, plain, ratio, series
from .store import Results
from .words import FEW

POLLING, SLEEPING, LOOKING = "ping-sr-2", "ping-sr-3", "ping-sr-5"
RESTLESS = 1.5


def number(value: float) -> str:
    """Formats a number with three digits, and thousands with commas."""
    if value == 0 or not math.isfinite(value):
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def shown(one: Estimate | None, unit: str = "") -> str:
    """Formats a median with its interval."""
    if one is None:
        return "not measured"
    if one.rounds < 2:
        return f"{number(one.value)}{unit} (one round)"
    return f"{number(one.value)}{unit} ({number(one.low)} to {number(one.high)})"


@dataclass(frozen=True)
class BreakEven:
    """The load at which both ways cost the same. kind: crossed, always (polling is cheaper), never, unknown."""

    kind: str
    load: Estimate | None = None
    low: int = 0
    high: int = 0


def crossing(ratios: list[tuple[int, float]]) -> float | None:
    """Returns the load at which the ratio sleeping / polling rises above 1. The line between two points is straight if both
    axes are logarithmic."""
    for (load, below), (next_load, above) in zip(ratios, ratios[1:]):
        if below < 1 <= above:
            part = -math.log(below) / (math.log(above) - math.log(below))
            return float(load * (next_load / load) ** part)
    return None


def loads_of(results: Results, link: str, way: str) -> list[int]:
    """Returns the offered rates, without those that have no limit."""
    found = {one.point.load for one in results.samples if one.link == link and one.point == Point(way, one.point.load)}
    return sorted(load for load in found if load)


def break_even(results: Results, link: str, sleeping: str = SLEEPING, polling: str = POLLING) -> BreakEven:
    """Compares the machine's CPU time for a message, by offered load; each round has its own crossing. A load at which polling
    did not reach the offered rate is left out; one at which sleeping did not reach it counts with the cost that it had."""
    loads = [load for load in loads_of(results, link, sleeping) if kept(results, link, Point(polling, load))]
    figure = cpu_us(results)
    by_round: dict[int, list[tuple[int, float]]] = {}
    medians: list[tuple[int, Estimate]] = []
    for load in loads:
        left = series(results, link, Point(sleeping, load), figure)
        right = series(results, link, Point(polling, load), figure)
        for number_ in sorted(set(left) & set(right)):
            if left[number_] > 0 and right[number_] > 0:
                by_round.setdefault(number_, []).append((load, left[number_] / right[number_]))
        one = ratio(left, right)
        if one is not None:
            medians.append((load, one))
    if not medians:
        return BreakEven("unknown")
    found = [load for load in (crossing(line) for line in by_round.values()) if load]
    if len(found) * 2 > len(by_round):
        return BreakEven("crossed", bootstrap(found), medians[0][0], medians[-1][0])
    first, last = medians[0][1], medians[-1][1]
    kind = "always" if first.rounds >= FEW and first.low > 1 else "unknown"
    if last.rounds >= FEW and last.high < 1:
        kind = "never"
    return BreakEven(kind, None, medians[0][0], medians[-1][0])


def say_break_even(one: BreakEven) -> str:
    """The sentence at the top of the report."""
    if one.kind == "crossed" and one.load and one.load.rounds < FEW:
        return f"Break-even: perhaps near {number(one.load.value)} messages a second; too few rounds to tell."
    if one.kind == "crossed" and one.load:
        return (
            f"Break-even: above {number(one.load.value)} messages a second on one connection "
            f"({number(one.load.low)} to {number(one.load.high)}) polling costs less CPU a message than sleeping; below, "
            "sleeping does."
        )
    if one.kind == "never":
        return f"Up to {one.high:,} messages a second sleeping costs less CPU a message than polling."
    if one.kind == "always":
        return f"From {one.low:,} messages a second on polling costs less CPU a message than sleeping."
    return "The break-even load is not known: too noisy to tell, or not measured."


def ways_of(results: Results, link: str) -> list[str]:
    """Returns the ways, in the order in which they were measured."""
    return list(dict.fromkeys(one.point.way for one in results.samples if one.link == link))


def losses(results: Results, link: str) -> list[str]:
    """Returns the points that did not reach the offered rate: their CPU is that of a lower rate."""
    found = []
    for point in sorted({one.point for one in results.samples if one.link == link and one.point.load}):
        rate = estimate(results, link, point, plain("rate"))
        if rate is not None and not kept(results, link, point):
            found.append(f"{point.way} offered {point.load:,}/s reaches {number(rate.value)}/s")
    return found


def say_link(results: Results, link: str) -> list[str]:
    """All sentences of one link."""
    even = break_even(results, link)
    told = [say_break_even(even)]
    if restless(results):
        about = f" What was measured: {told[0]}" if even.kind == "crossed" else ""
        told = [f"Too noisy to tell which way is cheaper when: the machine was not quiet.{about}"]
    behind = losses(results, link)
    if behind:
        told.append(f"Not kept: {'; '.join(behind)}.")
    return told


def restless(results: Results) -> str:
    """A warning, if other processes used the CPUs."""
    if not results.steadiness or median(results.steadiness) <= RESTLESS:
        return ""
    return (
        f"THE MACHINE WAS NOT QUIET: a fixed piece of work took {number(median(results.steadiness))} times as long as at best. "
        "Whatever polls suffers most from that, and more rounds do not help; measure again when nothing else runs, here "
        "or on the host."
    )


def say_machine(results: Results) -> list[str]:
    """Sentences about the machine itself."""
    told = []
    for link in dict.fromkeys(one["link"] for one in results.primitives):
        law = law_of(results, link)
        if law:
            visible, reached = law.known.visible[0][1], law.known.reached[0][1]
            told.append(
                f"A message on {link} takes {number(visible)} us one way if both ends poll, {number(reached)} us, and "
                f"{number(law.answer_us)} us of CPU, if both sleep. No program that sleeps for each message is faster."
            )
    if restless(results):
        told.append(restless(results))
    if results.background:
        told.append(f"The machine alone uses {number(median(results.background))} CPUs; that is subtracted.")
    return told


def conclusions(results: Results) -> dict[str, list[str]]:
    """Sentences by link; those of 'machine' come last."""
    links = list(dict.fromkeys(one.link for one in results.samples))
    return {**{link: say_link(results, link) for link in links}, "machine": say_machine(results)}
