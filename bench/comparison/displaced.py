# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The first screens of a machine with other work: what each way of waiting takes from the others, how late it is then, and what
helps.

Place: below page.py, beside answers.py. Contract: as that of answers.py. A cell that could not be measured says why.
"""

from __future__ import annotations

from dataclasses import replace

from .answers import Answer, Screens
from .busy import HELPS
from .clauses import Measure
from .plan import EVERY, MT, Point
from .statistics import Estimate, estimate, kept, plain, preempted, ratio, series, verdict
from .store import Results
from .words import CANNOT, FEW, Figure, best, two

LOST, LATE, POLL, SLEEP = plain("lost_cpus"), plain("p99_us"), "ways poll", "ways channel"
AMOUNTS = {0.0: "no", 0.5: "half the", 1.0: "all", 2.0: "twice the"}  # workers: as many as CPUs, if all
SO = {
    ("less", "less"): "so sleep", ("less", "the same"): "so sleep", ("less", "more"): "so poll only if it may cost the others that",
    ("the same", "less"): "so sleep", ("the same", "more"): "so poll", ("more", "more"): "so poll",
}  # fmt: skip
COLUMNS: list[tuple[str, float, Measure, str]] = [
    *((f"CPUs lost, {AMOUNTS[n]} workers", n, LOST, "") for n in (0.5, 1.0, 2.0)),
    *((f"{name}, {AMOUNTS[n]} workers", n, plain(f"{figure}_us"), "µs") for name, figure, n in (
        ("p50", "p50", 1.0), ("p99", "p99", 0.0), ("p99", "p99", 1.0), ("p99", "p99", 2.0), ("p99.9", "p99_9", 1.0))),
    *((f"{name}, all workers", 1.0, figure, "") for name, figure in (("messages/s", plain("rate")), (
        "times asleep a second", plain("voluntary")), ("times preempted a second", preempted), ("W", plain("watts")))),
]  # fmt: skip


def where(load: int) -> str:
    """Says at which load."""
    return f"at {load:,} messages a second" if load else "flat out"


def taken(lost: Figure) -> str:
    """Says what a way takes from the others."""
    return "takes what this run cannot tell from them" if lost.text == CANNOT else f"takes {lost.text} CPUs from them"


def late_by(late: Figure | None) -> str:
    """Says how late a way answers; without a figure it did not keep the rate that was offered."""
    if not late:
        return "does not keep that rate"
    return "its p99 cannot be told" if late.text == CANNOT else f"its p99 is {late.text}"


class Displaced:
    """The screens of one link."""

    def __init__(self, screens: Screens) -> None:
        self.screens, self.results, self.link = screens, screens.results, screens.link

    def of(self, point: Point, measure: Measure) -> Estimate | None:
        return estimate(self.results, self.link, point, measure)

    def beside(self, point: Point, other: Point, measure: Measure) -> Estimate | None:
        """Divides a figure of a point by that of another one, round by round."""
        return ratio(*(series(self.results, self.link, one, measure) for one in (point, other)))

    def cell(self, point: Point, measure: Measure, unit: str) -> Figure | str | None:
        """Returns a figure, or why there is none. Round trips of a rate that was not kept are those of a queue."""
        one, rate = self.of(point, measure), self.of(point, plain("rate"))
        if unit and rate and not kept(self.results, self.link, point):
            return f"carries {two(rate.value)}/s"
        if one:
            return Figure(one, unit) if one.low or one.high else "0"
        if any(failure["link"] == self.link and failure["point"] == point.name for failure in self.results.failures):
            return "failed"
        return ("too few messages" if unit else "no counter") if rate else None

    def pair(self, load: int, way: str) -> tuple[Point, Figure | None, Figure | None]:
        """Returns what a way takes from the others, and how late it is, with a worker on each CPU."""
        point = Point(way, load, workers=1.0)
        lost, late = self.of(point, LOST), self.of(point, LATE) if kept(self.results, self.link, point) else None
        return point, Figure(lost) if lost else None, Figure(late, "µs") if late else None

    def least(self, load: int, n: int) -> list[str]:
        """Returns the ways of which none loses more, or is later, than another one for sure; none if that is all of them."""
        found = [(way, self.pair(load, way)[n]) for way in EVERY]
        names = [way.removeprefix("ways ") for (way, _), flag in zip(found, best([one for _, one in found])) if flag]  # type: ignore[misc]
        return names if 0 < len(names) < sum(one is not None for _, one in found) else []

    def say(self, load: int) -> str:
        """Says what polling and sleeping do to the others, and what follows."""
        (polls, *mine), (sleeps, *other) = self.pair(load, POLL), self.pair(load, SLEEP)
        if not mine[0] or not other[0] or min(one.one.rounds for one in (mine[0], other[0])) < FEW:
            return f"{where(load).capitalize()}, this run cannot tell what waiting costs the others."
        told = [f"{taken(lost)}, and {late_by(late)}" for lost, late in (mine, other) if lost]
        words = verdict(self.beside(sleeps, polls, LOST)), verdict(self.beside(sleeps, polls, LATE)) if mine[1] and other[1] else ""
        words = (words[0], "less" if other[1] and not mine[1] else "more" if mine[1] and not other[1] else words[1])
        rest = [f"{' or '.join(names)} {does}" for n, does in ((1, "takes the least from them"), (2, "answers soonest (p99)")) if (names := self.least(load, n))]
        said = f"With other work on all CPUs, {where(load)}, a connection that polls {told[0]}; asleep it {told[1]}; "
        return f"{said}{SO.get(words, 'this run cannot tell which is better')}. {'; '.join(rest).capitalize()}{'.' if rest else ''}".strip()

    def at(self, load: int) -> Answer:
        """Returns the screen of a load."""
        answer = Answer("Every way to wait, beside workers that would use all of the CPUs", self.say(load), self.screens.notes())
        answer.what = "waits"
        rows = [(way, [self.cell(Point(way, load, workers=n), measure, unit) for _, n, measure, unit in COLUMNS]) for way in EVERY]
        used = [n for n in range(len(COLUMNS)) if any(isinstance(cells[n], Figure) or cells[n] in ("0", "too few messages") for _, cells in rows)]
        answer.columns = [COLUMNS[n][0] for n in used]
        answer.rows = [(way.removeprefix("ways "), [cells[n] for n in used]) for way, cells in rows if any(cells)]
        return answer

    def helps(self, points: list[Point]) -> Answer:
        """Returns the screen of what helps, with a worker on each CPU. A clause: p99 of a way is shorter for sure."""
        clauses = []
        for point in points:
            shorter = {how: self.beside(replace(point, helped=how), point, LATE) for how in HELPS}
            good = [f"{how} (to {two(one.value)} of it)" for how, one in shorter.items() if one and verdict(one) == "less"]
            clauses += [f"{point.way.removeprefix('ways ')} {where(point.load)}: {', '.join(good)}"] * bool(good)
        title = f"What shortens p99: {'; '.join(clauses)}." if clauses else "This run cannot tell what helps."
        answer = Answer("A worker on each CPU, and what helps against it", title, self.screens.notes(), what="with")
        figures: list[tuple[str, Measure, str]] = [("CPUs lost", LOST, ""), ("p99", LATE, "µs")]
        answer.columns = [f"{one.way.removeprefix('ways ')} {where(one.load)}: {name}" for one in points for name, _, _ in figures]
        for how in ("", *HELPS):
            needs = f" (needs {HELPS[how]})" if how and HELPS[how] else ""
            cells = [self.cell(replace(one, helped=how), measure, unit) for one in points for _, measure, unit in figures]
            answer.rows.append((f"{how or 'nothing'}{needs}", cells))
        return answer

    def threads(self) -> Answer:
        """Returns the screen of four connections, each with a thread that polls, or all with one."""
        points = [Point(way, workers=1.0) for way in MT]
        words = [verdict(self.beside(points[1], points[0], measure)) for measure in (LOST, plain("rate"))]
        told = [said[word] for word, said in zip(words, (
            {"less": "takes less from the others", "more": "takes more from the others"},
            {"less": "carries fewer messages a second", "more": "carries more messages a second"})) if word in said]  # fmt: skip
        title = f"One thread that polls for four connections {' and '.join(told)} than four threads." if told else "This run cannot tell whether one thread for all helps."
        answer = Answer("Four connections of ping-mt-4, flat out, with a worker on each CPU", title, self.screens.notes(), what="threads")
        answer.columns = ["CPUs lost", "messages/s"]
        answer.rows = [(point.way, [self.cell(point, measure, "") for measure in (LOST, plain("rate"))]) for point in points]
        return answer


def screens(results: Results, link: str) -> list[Answer]:
    """The screens beside workers, that of 1,000/s first, and then those of answers.py, if something was measured for them."""
    points, others = sorted({one.point for one in results.samples if one.link == link}), Screens(results, link)
    one = Displaced(others)
    loads = {point.load for point in points if point.workers and point.way in EVERY and not point.helped}
    helped = list(dict.fromkeys(replace(point, helped="") for point in points if point.helped))
    found = [one.at(load) for load in sorted(loads, key=lambda load: (load != 1000, load == 0, load))]
    found += [one.helps(helped)] if helped else []
    found += [one.threads()] if any(point.way in MT for point in points) else []
    return found + (others.answers() if others.points or not found else [])
