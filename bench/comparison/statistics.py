# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Medians, ratios of values of the same round, and confidence intervals.

Place: below conclusions.py. Contract: no sample is dropped. An interval has the middle 95 % of the medians of other
draws from the same rounds (bootstrap); it is the same for the same samples. For fewer than six rounds even all draws
are not enough: the true median lies between the least and the most of three in 75 % of all cases. Then the interval is
wider than the range of the samples.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from .plan import Point
from .store import Results, Sample

DRAWS = 1000
NARROW = 0.10  # an interval is narrow enough if it is not wider than this part of its median
KEPT = 0.95  # a point has reached the offered rate if it has this part of it
# Widening on each side, as a part of the distance from the least to the most, so that the true median is within in 95 % of all cases: found by
# simulation, for normal, skewed (lognormal) and heavy-tailed (Student's t, 3) rounds alike.
WIDER = {2: 6.0, 3: 1.0, 4: 0.25, 5: 0.05}
SAME = 0.05  # ratios nearer to 1 than this are called the same


@dataclass(frozen=True)
class Estimate:
    """A median and its interval."""

    value: float
    low: float
    high: float
    rounds: int

    @property
    def narrow(self) -> bool:
        """Returns whether more rounds would not change much."""
        return self.rounds >= 3 and self.high - self.low <= NARROW * abs(self.value)


def bootstrap(values: Sequence[float], statistic: Callable[[Sequence[float]], float] = median) -> Estimate:
    """Computes the interval, from one value for each round."""
    if len(values) in WIDER and statistic is median:
        least, most = min(values), max(values)
        more = WIDER[len(values)] * (most - least)
        return Estimate(median(values), max(least - more, min(least, 0.0)), most + more, len(values))
    generator = random.Random(len(values))
    draws = sorted(statistic(generator.choices(values, k=len(values))) for _ in range(DRAWS))
    return Estimate(statistic(values), draws[int(0.025 * DRAWS)], draws[int(0.975 * DRAWS) - 1], len(values))


def series(results: Results, link: str, point: Point, figure: Callable[[Sample], float | None]) -> dict[int, float]:
    """Returns a figure by round."""
    found = {}
    for sample in results.samples:
        if sample.link == link and sample.point == point:
            value = figure(sample)
            if value is not None:
                found[sample.round] = value
    return found


def estimate(results: Results, link: str, point: Point, figure: Callable[[Sample], float | None]) -> Estimate | None:
    """The median and its interval; None: not measured."""
    values = series(results, link, point, figure)
    return bootstrap(list(values.values())) if values else None


def ratio(left: dict[int, float], right: dict[int, float]) -> Estimate | None:
    """The ratio of two series, round by round; None if they have no round in common."""
    rounds = [number for number in left if right.get(number)]
    return bootstrap([left[number] / right[number] for number in rounds]) if rounds else None


def verdict(one: Estimate | None, low: str = "less", high: str = "more") -> str:
    """The conclusion as a word. A wide interval on both sides of 1 allows no conclusion."""
    if one is None:
        return "not measured"
    if one.rounds < 3:
        return "too few rounds to tell"
    if one.low > 1 - SAME and one.high < 1 + SAME:
        return "the same"
    if one.high < 1:
        return low
    if one.low > 1:
        return high
    return "too noisy to tell"


def plain(name: str) -> Callable[[Sample], float | None]:
    """Returns a figure as it was measured."""
    return lambda sample: sample.figures.get(name)


def preempted(sample: Sample) -> float | None:
    """Involuntary context switches a second, of client and server."""
    both = (sample.figures.get("switches"), sample.figures.get("voluntary"))
    return None if both[0] is None or both[1] is None else both[0] - both[1]


def kept(results: Results, link: str, point: Point) -> bool:
    """Returns whether the offered rate was reached, give or take a message at the window's edge: at 10/s a tenth."""
    rate = estimate(results, link, point, plain("rate"))
    return rate is not None and rate.value + 1 >= KEPT * point.load * point.clients


def net_cpus(results: Results) -> Callable[[Sample], float | None]:
    """CPUs busy in the machine, less those that it uses when idle."""
    own = median(results.background) if results.background else 0.0

    def figure(sample: Sample) -> float | None:
        cpus = sample.figures.get("machine_cpus")
        return None if cpus is None else max(0.0, cpus - own)

    return figure


def a_message(figure: Callable[[Sample], float | None], scale: float = 1.0) -> Callable[[Sample], float | None]:
    """A figure a second, divided by messages a second."""

    def divided(sample: Sample) -> float | None:
        value, rate = figure(sample), sample.figures.get("rate")
        return None if value is None or not rate else scale * value / rate

    return divided


def cpu_us(results: Results) -> Callable[[Sample], float | None]:
    """Microseconds of CPU of the whole machine for each message there and back."""
    return a_message(net_cpus(results), 1e6)


def reference(point: Point, points: Sequence[Point]) -> Point | None:
    """The point that this one is compared with: ping-sr-2, ib_send_bw or ways poll, under the same conditions."""
    for way in ("ping-sr-2", "ib_send_bw", "ways poll"):
        other = replace(point, way=way)
        if other in points and other != point:
            return other
    return None


def ratios(results: Results) -> dict[tuple[str, Point, str], Estimate]:
    """The ratios of each point to its reference, by link, point and figure: CPU time for a message, and the round trip."""
    found = {}
    figures = {"CPU a message": cpu_us(results), "round trip": plain("p50_us")}
    for link in sorted({sample.link for sample in results.samples}):
        points = sorted({sample.point for sample in results.samples if sample.link == link})
        for point in points:
            other = reference(point, points)
            for name, figure in figures.items() if other else ():
                one = ratio(series(results, link, point, figure), series(results, link, other or point, figure))
                if one is not None:
                    found[link, point, name] = one
    return found


def settled(results: Results) -> bool:
    """Returns whether the ratios of CPU time and round trip are all narrow."""
    return all(one.narrow for one in ratios(results).values())
