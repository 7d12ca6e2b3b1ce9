# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Finds hosts and pairs that differ from the others.

Place: below page.py. Contract: a pair is odd if all of its rounds differ from the typical value by more than the
slack, and by more than pairs usually differ. A host is named instead of its pairs if most of them are odd in the same
direction. With fewer than three hosts there is no typical value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from bench.comparison.conclusions import number
from bench.comparison.plan import Point
from bench.comparison.statistics import Estimate, cpu_us, plain
from bench.comparison.store import Results, Sample
from bench.comparison.ways import WAYS

SLACK = 1.25  # times; a pair that is nearer to the typical value is not odd
SPREADS = 5  # ... and this many times the median difference of all pairs
NOISY = 4  # times; if only larger differences are odd, the pairs differ too much for any statement
LEAST = 4  # hosts, so that one of them can be named instead of its pairs


@dataclass(frozen=True)
class Map:
    """A figure of all pairs at one point."""

    name: str
    title: str
    unit: str
    point: Point
    more_is_worse: bool
    cells: dict[tuple[str, str], Estimate]

    @property
    def hosts(self) -> set[str]:
        """Those that have been measured."""
        return {host for pair in self.cells for host in pair}

    def by_host(self) -> dict[str, list[float]]:
        """The medians of each host's pairs."""
        found: dict[str, list[float]] = {}
        for pair, one in self.cells.items():
            for host in pair:
                found.setdefault(host, []).append(one.value)
        return found

    @cached_property
    def typical(self) -> float:
        """The median of the hosts' medians: one bad host is part of many pairs, but is only one host."""
        return median(median(values) for values in self.by_host().values())

    @cached_property
    def limit(self) -> float:
        """From which factor on a value is odd."""
        typical = self.typical
        apart = [median(abs(math.log(value / typical)) for value in values) for values in self.by_host().values()]
        return max(SLACK, math.exp(SPREADS * median(apart)))


@dataclass(frozen=True)
class Odd:
    """A pair, or a host (then the second name is empty), and its ratio to the typical value."""

    map: Map
    first: str
    second: str
    times: float
    pairs: int = 1
    of: int = 1

    @property
    def worse(self) -> bool:
        """Whether it is worse, not better."""
        return (self.times > 1) == self.map.more_is_worse

    def say(self) -> str:
        """For people."""
        who = f"{self.first} and {self.second}" if self.second else f"{self.first} ({self.pairs} of its {self.of} pairs)"
        return (
            f"{who}: {self.map.title[0].lower()}{self.map.title[1:]} is {number(self.times)} times what is typical "
            f"({number(self.times * self.map.typical)} beside {number(self.map.typical)} {self.map.unit}), "
            f"which is {'worse' if self.worse else 'better'}"
        )


def figures(results: Results, point: Point) -> list[tuple[str, str, str, bool, Callable[[Sample], float | None]]]:
    """What is shown of a program: name, title, unit, whether a larger value is worse, and the figure."""
    rate = ("mb", "Rate", "MB/s", "mb_per_second") if WAYS[point.way].stream else ("rate", "Rate", "messages/s", "rate")
    return [
        ("p50", "Round trip", "us (p50)", True, plain("p50_us")),
        (*rate[:3], False, plain(rate[3])),
        ("cpu", "CPU a message", "us of both hosts", True, cpu_us(results)),
    ]


def maps(results: Results) -> list[Map]:
    """All that were measured."""
    by_point: dict[Point, dict[str, list[Sample]]] = {}
    for one in results.samples:
        by_point.setdefault(one.point, {}).setdefault(one.link, []).append(one)
    found = []
    for point, by_link in by_point.items():
        for name, title, unit, worse, figure in figures(results, point):
            cells = {}
            for link, samples in by_link.items():
                values = [value for value in map(figure, samples) if value and value > 0]
                if values:
                    client, _, server = link.partition(">")
                    cells[client, server] = Estimate(median(values), min(values), max(values), len(values))
            if cells:
                file = f"{point.name} {name}".replace(" ", "-").replace(",", "").replace("/", "-")
                found.append(Map(file, f"{title}, {point.name}", unit, point, worse, cells))
    return found


def odd_pairs(one: Map) -> list[Odd]:
    """The pairs whose rounds are all beyond the limit."""
    if len(one.hosts) < 3 or one.limit > NOISY:
        return []
    typical, limit = one.typical, one.limit
    return [
        Odd(one, *pair, cell.value / typical)
        for pair, cell in one.cells.items()
        if cell.low > limit * typical or cell.high * limit < typical
    ]


def odd_hosts(one: Map, pairs: list[Odd]) -> list[Odd]:
    """The hosts whose pairs are mostly odd in the same direction; the worst comes first."""
    found: list[Odd] = []
    for host, values in one.by_host().items():
        mine = [odd for odd in pairs if host in (odd.first, odd.second)]
        for side in (True, False):
            alike = [odd for odd in mine if (odd.times > 1) == side]
            if len(one.hosts) >= LEAST and 2 * len(alike) > len(values):
                times = median(odd.times for odd in alike)
                found.append(Odd(one, host, "", times, len(alike), len(values)))
    return sorted(found, key=lambda odd: -abs(math.log(odd.times)))


def odd(one: Map) -> list[Odd]:
    """The odd hosts, and the odd pairs that these do not explain."""
    pairs = odd_pairs(one)
    hosts = odd_hosts(one, pairs)
    sides = {(odd.first, odd.times > 1) for odd in hosts}
    rest = [odd for odd in pairs if not {(odd.first, odd.times > 1), (odd.second, odd.times > 1)} & sides]
    return hosts + sorted(rest, key=lambda odd: -abs(math.log(odd.times)))


def broken(results: Results) -> list[str]:
    """Hosts that do not answer, and pairs that were not, or not completely, measured."""
    hosts = {name.removeprefix("host "): about for name, about in results.environment.items() if name.startswith("host ")}
    told = [f"{name} does not answer: {about['gone']}" for name, about in hosts.items() if "gone" in about]
    by_link: dict[str, list[str]] = {}
    for one in results.failures:
        by_link.setdefault(one["link"], []).append(f"{one['point']}: {one['why']}")
    works = {host for one in results.samples for host in one.link.split(">")}
    for name, about in hosts.items():
        mine = [why for link, whys in by_link.items() if name in link.split(">") for why in whys]
        if "gone" not in about and mine and name not in works:
            told.append(f"{name} answers, and no pair with it works: {mine[-1]}")
    dumb = {line.split(" ", 1)[0] for line in told}
    for link, whys in by_link.items():
        if not dumb & set(link.split(">")):
            told.append(f"{link.replace('>', ' and ')} failed {len(whys)} times: {whys[-1]}")
    return told


def systems(results: Results) -> list[str]:
    """Hosts whose programs or kernel differ from those of most hosts."""
    said = {name.removeprefix("host "): about.get("system") for name, about in results.environment.items()
            if name.startswith("host ") and about.get("system")}  # fmt: skip
    if not said:
        return []
    usual = max(set(said.values()), key=list(said.values()).count)
    return [f"{name} runs {system}, most run {usual}" for name, system in said.items() if system != usual]


def conclusions(results: Results) -> list[str]:
    """The text at the top of the report."""
    all_maps = maps(results)
    told = broken(results) + systems(results)
    odds = [(one, odd(one)) for one in all_maps]
    told += [f"{one.say()}." for _, found in odds for one in found]
    if not told and any(len(one.hosts) > 2 and one.limit <= NOISY for one in all_maps):
        told.append("No host and no pair is unlike the others.")
    for one in all_maps:
        if len(one.hosts) > 2:
            limit = f"odd is {number(one.limit)} times more or less" if one.limit <= NOISY else "too noisy to tell what is odd"
            told.append(f"{one.title}: typical {number(one.typical)} {one.unit}; {limit}.")
        else:
            value = next(iter(one.cells.values()))
            told.append(f"{one.title}: {number(value.value)} {one.unit}; of fewer than three hosts none is typical.")
    if all_maps and max(cell.rounds for one in all_maps for cell in one.cells.values()) < 3:
        told.append("With fewer than three rounds an odd pair may be one that was disturbed: measure again.")
    return told
