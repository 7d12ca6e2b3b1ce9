# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The clauses of the report's first screen: which way costs less at which load, which is faster, and when to use each.

Place: below answers.py. Contract: a clause rests on a test, of ratios of the same rounds; without one it is empty, or
says that this run cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .conclusions import LOOKING, POLLING, SLEEPING, break_even, loads_of, ways_of
from .plan import IDLE, Point
from .statistics import Estimate, cpu_us, estimate, kept, net_cpus, plain, ratio, series, verdict
from .store import Results, Sample
from .words import CANNOT, FEW, Figure, two

WAYS = {POLLING: "polls", LOOKING: "spins, then sleeps", SLEEPING: "sleeps"}
EASY = 1000  # messages a second that each way carries on a quiet machine
Measure = Callable[[Sample], float | None]


@dataclass
class Bounds:
    """Up to `low` sleeping costs less CPU a message than polling, from `high` on more; None: not known."""

    low: float | None = None
    high: float | None = None


def tested(words: list[tuple[int, str]]) -> Bounds:
    """Returns bounds from tests at rising loads: each one up to `low` says less, each one from `high` on more."""
    below = [load for n, (load, word) in enumerate(words) if all(w == "less" for _, w in words[: n + 1])]
    above = [load for n, (load, word) in enumerate(words) if all(w == "more" for _, w in words[n:])]
    return Bounds(float(below[-1]) if below else None, float(above[0]) if above else None)


def beside_polling(results: Results, link: str, sleeping: dict[int, Point]) -> Bounds:
    """Tests the CPU per message at each load that polling on one connection has kept."""
    words = []
    for load, point in sorted(sleeping.items()):
        if kept(results, link, Point(POLLING, load)):
            pair = (series(results, link, one, cpu_us(results)) for one in (point, Point(POLLING, load)))
            words.append((load, verdict(ratio(*pair))))
    return tested(words)


def bounds(results: Results, link: str) -> Bounds:
    """Returns the break-even of one connection, by those tests and the interval of the crossing."""
    found = beside_polling(results, link, {load: Point(SLEEPING, load) for load in loads_of(results, link, SLEEPING)})
    even = break_even(results, link)
    if found.low is not None and found.high is not None and even.load:
        return Bounds(max(found.low, even.load.low), min(found.high, even.load.high))
    return found


def carried(results: Results, link: str) -> Estimate | None:
    """Returns the most messages a second of one connection that sleeps."""
    one = estimate(results, link, Point(SLEEPING), plain("rate"))
    return one if one and Figure(one).sure else None


def say_cheaper(results: Results, link: str, found: Bounds) -> str:
    """Says which way costs less CPU at which load."""
    reach = carried(results, link)
    if found.low is not None and reach and found.low > reach.high:
        return f"Up to {two(reach.value)} messages a second, all that one sleeping connection carries, sleeping costs less CPU"
    if found.low is not None and found.high is not None:
        return f"Below {two(found.low)} messages a second sleeping costs less CPU"
    if found.low is not None:
        more = max(loads_of(results, link, SLEEPING), default=0) > found.low
        rest = "; above that, this run cannot tell" if more else ""
        return f"Up to {two(found.low)} messages a second sleeping costs less CPU than polling{rest}"
    if found.high is not None:
        return f"From {two(found.high)} messages a second on polling costs less CPU than sleeping"
    return "This run cannot tell which way of waiting costs less CPU"


def say_together(found: Bounds, count: int, most: int) -> str:
    """Says whether `count` sleeping connections cost less CPU than one that polls; most: the highest load."""
    less = f"{count} sleeping connections together cost less CPU than one that polls"
    if found.low is None and found.high is None:
        return f"This run cannot tell whether {less}."
    if found.low is None:
        return f"From {two(found.high or 0)} messages a second on {less.replace('less', 'more')}."
    rest = f"; from {two(found.high)} on, more" if found.high else "; above that, this run cannot tell" if most > found.low else ""
    return f"Up to {two(found.low)} messages a second {less}{rest}."


def say_faster(results: Results, link: str, load: int) -> str:
    """Says how much faster polling answers, and at what cost; empty if no test shows it."""
    times = []
    for at in (load, 0):
        pair = (series(results, link, Point(way, at), plain("p50_us")) for way in (SLEEPING, POLLING))
        one = ratio(*pair)
        if one and verdict(one) == "more" and Figure(one).sure:
            times.append(round(one.value))
    cpus = estimate(results, link, Point(POLLING, IDLE), net_cpus(results))
    if not times or min(times) < 2 or not cpus or not Figure(cpus).sure or disturbed(results, link):
        return ""
    how = f"{min(times)}" if min(times) == max(times) else f"{min(times)} to {max(times)}"
    return f"polling keeps {two(cpus.value).removesuffix('.0')} CPUs busy but answers {how} times as fast"


def common_load(results: Results, link: str, ways: list[str]) -> int:
    """Returns the highest load, up to an easy one, that each way has kept; 0: none."""
    shared = [set(loads_of(results, link, way)) for way in ways]
    loads = sorted(set.intersection(*shared)) if shared else []
    good = [load for load in loads if IDLE < load <= EASY and all(kept(results, link, Point(way, load)) for way in ways)]
    return good[-1] if good else 0


def best_for(results: Results, link: str, found: Bounds) -> dict[str, str]:
    """Says when to use each way, as far as tests show it."""

    def less(way: str, other: str, load: int, figure: Measure, than: float = 1.0) -> bool:
        one = ratio(series(results, link, Point(way, load), figure), series(results, link, Point(other, load), figure))
        return one is not None and one.rounds >= FEW and one.high < than

    told: dict[str, list[str]] = {way: [] for way in WAYS}
    steady = not disturbed(results, link)
    if found.high is not None:
        told[POLLING].append(f"over {two(found.high)}/s")
    if steady and less(POLLING, SLEEPING, 0, plain("p50_us")):
        told[POLLING].append("the shortest round trips")
    if steady and less(LOOKING, POLLING, IDLE, net_cpus(results)) and less(LOOKING, SLEEPING, 0, plain("p50_us")):
        told[LOOKING].append("a load that varies: idle or busy")
    reach = carried(results, link)
    if found.low is not None:
        all_of_it = reach is not None and found.low > reach.high
        told[SLEEPING].append(f"up to {two(reach.value)}/s, all it carries" if reach and all_of_it else f"up to {two(found.low)}/s")
    if less(SLEEPING, POLLING, IDLE, net_cpus(results)):
        told[SLEEPING].append("CPUs shared with others")
    return {way: "; ".join(words) or CANNOT for way, words in told.items()}


def few_rounds(results: Results) -> str:
    """A note if nothing can be concluded yet."""
    rounds = max((one.round for one in results.samples), default=0)
    if rounds >= FEW:
        return ""
    count = "one round" if rounds == 1 else f"{rounds} rounds"
    return f"Only {count}. Three are the least that allow a conclusion. Give it more time (--minutes), or go on with --resume."


def disturbed(results: Results, link: str) -> str:
    """A note if no way has carried an easy load: then something else used the CPUs."""
    for load in sorted({one.point.load for one in results.samples if one.link == link and IDLE < one.point.load <= EASY}):
        rates = {way: estimate(results, link, Point(way, load), plain("rate")) for way in ways_of(results, link) if way in WAYS}
        known = {way: one for way, one in rates.items() if one}
        if known and not any(kept(results, link, Point(way, load)) for way in known):
            reached = ", ".join(f"{WAYS[way]} {two(one.value)}" for way, one in known.items())
            return (
                f"Something else used the CPUs while this ran: of {load:,} messages a second no program carried all "
                f"({reached}). Polling suffers from that more than sleeping, and more rounds do not help. Measure again "
                "when nothing else runs, here or on the host."
            )
    return ""


def failed(results: Results) -> str:
    """A note on the runs that are in no figure."""
    if not results.failures:
        return ""
    reasons: dict[str, int] = {}
    for one in results.failures:
        name = f"{one['point']}: {str(one['why']).splitlines()[0]}"
        reasons[name] = reasons.get(name, 0) + 1
    listed = "; ".join(f"{name} ({count}x)" for name, count in reasons.items())
    return f"{len(results.failures)} of {len(results.failures) + len(results.samples)} runs failed, and are in no figure: {listed}."


def caveat(results: Results, link: str) -> str:
    """Says in one sentence where the measurement ran."""
    place = results.environment
    machine = ", ".join(
        text
        for text in (f"{place['cpus']} CPUs" if "cpus" in place else "", f"Linux {place.get('kernel', '')}".strip(), link)
        if text
    )
    if place.get("emulated"):
        return f"Emulated machine ({machine}, both ends on it): compare the rows, not the microseconds with yours."
    return f"Measured on {machine}."
