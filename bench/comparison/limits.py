# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Limits for continuous integration, such as 'ping-sr-4.p50 > 1.1 * ib_send_lat_e.p50', that take noise into account.

Place: below report.py. Contract: a limit is exceeded only if the whole interval of the ratio is beyond it. A limit on
something that was not measured is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree import ElementTree

from .plan import Point
from .statistics import Estimate, bootstrap, cpu_us, kept, net_cpus, plain, series
from .store import Results, Sample
from .ways import WAYS

# Statements of bench/README.md about our programs and others: each is a limit.
TARGETS = [
    *(f"ping-sr-{n}.{figure} > 1.05 * ib_send_lat.{peers}" for n in "012" for figure, peers in (
        ("p50", "p50"), ("cycle", "p50"), ("cpu", "cpu"))),
    *(f"ping-sr-{n}.{figure} > 1.05 * ib_send_lat_e.{peers}" for n in "34" for figure, peers in (
        ("p50", "p50"), ("cycle", "p50"), ("cpu", "cpu"))),
    "ping-sr-3@1000.processes > 0.1 * ping-sr-2@1000.processes",
    "ping-sr-4@1000.processes > 0.1 * ping-sr-2@1000.processes",
    "ping-sr-4*64.rate < 1 * ping-sr-4.rate",
    *(f"blast-sr-2/{size}.{rest}" for size in (4096, 65536) for rest in (
        f"mb < 1 * ib_send_bw/{size}.mb", f"cpu > 1 * ib_send_bw/{size}.cpu")),
    *(f"blast-rdma-1/{size}.mb < 1 * ib_write_bw/{size}.mb" for size in (4096, 65536)),
    "ping-rdma-3.p50 > 1.05 * ib_write_lat.p50",
    "ping-rc-0.mean > 1 * ibv_rc_pingpong.mean",
    "ping-rc-0-events.mean > 1 * ibv_rc_pingpong_e.mean",
]  # fmt: skip
OPERAND = re.compile(r"(?P<way>[a-z][\w-]*?)(?:@(?P<load>\d+))?(?:/(?P<size>\d+))?(?:\*(?P<clients>\d+))?\.(?P<figure>[a-z]\w*)")
BAD = ("passed", "unknown", "slow")
FACTOR = re.compile(r"\d+(\.\d+)?([eE][+-]?\d+)?")
NAMES = {way.replace(" ", "_").replace("_-", "_"): way for way in WAYS}
FIGURES = {
    "p50": "p50_us", "p99": "p99_us", "cycle": "cycle_us", "mean": "mean_us", "rate": "rate", "mb": "mb_per_second",
    "client_cpus": "client_cpus", "server_cpus": "server_cpus", "cpu": "", "cpus": "", "processes": "",
}  # fmt: skip


@dataclass(frozen=True)
class Operand:
    """A figure of a point."""

    point: Point
    figure: str


@dataclass(frozen=True)
class Limit:
    """left OP factor * right; if right is None, it is the number 1."""

    text: str
    left: Operand
    above: bool
    factor: float
    right: Operand | None


@dataclass(frozen=True)
class Outcome:
    """The result for one limit on one link."""

    limit: Limit
    link: str
    kind: str  # passed (the limit is exceeded), kept, unsure, slow (an offered rate was not reached), unknown
    ratio: Estimate | None


def operand(text: str) -> Operand:
    """Reads 'ping-sr-4@1000/4096.cpu'; spaces in a name are written as underscores."""
    found = OPERAND.fullmatch(text)
    if not found or found["figure"] not in FIGURES:
        raise ValueError(f"'{text}' is not NAME[@LOAD][/SIZE][*CLIENTS].FIGURE, with a FIGURE of {', '.join(FIGURES)}")
    if found["way"] not in NAMES:
        raise ValueError(f"no such program: '{found['way']}'; there are: {', '.join(NAMES)}")
    numbers = int(found["load"] or 0), int(found["size"] or 64), int(found["clients"] or 1)
    return Operand(Point(NAMES[found["way"]], *numbers), found["figure"])


def parse(text: str) -> Limit:
    """Reads a limit. Raises ValueError with what is wrong."""
    sides = re.split(r"\s*([<>])\s*", text.strip())
    if len(sides) != 3:
        raise ValueError(f"'{text}' is not LEFT > RIGHT or LEFT < RIGHT")
    factor, right = 1.0, None
    for word in re.split(r"\s+\*\s+", sides[2]):
        if FACTOR.fullmatch(word):
            factor *= float(word)
        elif right is None:
            right = operand(word)
        else:
            raise ValueError(f"'{text}' has more than one figure on the right")
    return Limit(text.strip(), operand(sides[0]), sides[1] == ">", factor, right)


def figure(results: Results, name: str) -> Callable[[Sample], float | None]:
    """A figure of a series: cpu is microseconds of the machine for a message, cpus is CPUs of the machine, processes is
    CPUs of both programs."""
    if name == "cpu":
        return cpu_us(results)
    if name == "processes":
        return lambda sample: sample.figures["client_cpus"] + sample.figures["server_cpus"]
    return net_cpus(results) if name == "cpus" else plain(FIGURES[name])


def check(results: Results, limit: Limit, link: str) -> Outcome:
    """Computes the ratio, round by round."""
    sides = [one.point for one in (limit.left, limit.right) if one and one.figure != "rate"]
    measured = {sample.point for sample in results.samples if sample.link == link}
    if not measured.issuperset(one.point for one in (limit.left, limit.right) if one):
        return Outcome(limit, link, "unknown", None)
    if any(point.load and not kept(results, link, point) for point in sides):
        return Outcome(limit, link, "slow", None)
    left = series(results, link, limit.left.point, figure(results, limit.left.figure))
    right = {number: 1.0 for number in left}
    if limit.right is not None:
        right = series(results, link, limit.right.point, figure(results, limit.right.figure))
    values = [left[number] / (limit.factor * right[number]) for number in left if limit.factor and right.get(number)]
    if len(values) < 2:
        return Outcome(limit, link, "unknown", None)
    one = bootstrap(values)
    beyond, within = (one.low > 1, one.high <= 1) if limit.above else (one.high < 1, one.low >= 1)
    return Outcome(limit, link, "passed" if beyond else "kept" if within else "unsure", one)


def check_all(results: Results, limits: list[Limit]) -> list[Outcome]:
    """Checks a limit on every link."""
    links = list(dict.fromkeys(sample.link for sample in results.samples)) or ["none"]
    return [check(results, limit, link) for limit in limits for link in links]


def describe(one: Outcome) -> str:
    """Returns a line for people."""
    words = {
        "passed": "FAILED: it is so",
        "kept": "ok: it is not so",
        "unsure": "ok: too noisy to say that it is so",
        "slow": "FAILED: a rate that was offered was not kept, and figures of other rates say nothing",
        "unknown": "FAILED: not measured in two rounds at least",
    }[one.kind]
    interval = f", left / right is {one.ratio.value:.3f} ({one.ratio.low:.3f} to {one.ratio.high:.3f})" if one.ratio else ""
    return f"{one.link}: {one.limit.text}: {words}{interval}"


def targets(results: Results) -> list[Outcome]:
    """Returns our own limits that were measured."""
    return [one for one in check_all(results, [parse(text) for text in TARGETS]) if one.kind != "unknown"]


def describe_target(one: Outcome) -> str:
    """Returns a line of the report."""
    word = {"passed": "missed", "kept": "reached", "unsure": "too noisy to tell", "slow": "the rate was not kept"}[one.kind]
    wanted = one.limit.text.replace(" > ", " <= ").replace(" < ", " >= ")
    ratio = f" (left by right: {one.ratio.value:.3f}, {one.ratio.low:.3f} to {one.ratio.high:.3f})" if one.ratio else ""
    return f"Target {wanted}: {word}{ratio}"


def junit(outcomes: list[Outcome]) -> bytes:
    """Returns one test case for each limit and link."""
    bad = [one for one in outcomes if one.kind in BAD]
    suite = ElementTree.Element("testsuite", name="bench/compare", tests=str(len(outcomes)), failures=str(len(bad)))
    for one in outcomes:
        case = ElementTree.SubElement(suite, "testcase", classname=one.link, name=one.limit.text)
        if one in bad:
            ElementTree.SubElement(case, "failure", message=describe(one))
        else:
            ElementTree.SubElement(case, "system-out").text = describe(one)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite)
