# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The first screen of the report, as text: the answer in one sentence, and a table of a few rows.

Place: below page.py and the summary on the terminal. Contract: each clause of a title has been tested, or is left out.
What was not measured is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from .clauses import (WAYS, Bounds, Measure, best_for, beside_polling, bounds, carried, caveat, common_load, disturbed,
                      few_rounds, say_cheaper, say_faster, say_together)  # fmt: skip
from .conclusions import POLLING, SLEEPING
from .plan import IDLE, Point, size_name
from .statistics import cpu_us, estimate, kept, net_cpus, plain, ratio, series, verdict
from .store import Results
from .ways import EVERY_WAY
from .words import FEW, Figure, best, time, two


@dataclass
class Answer:
    """The first screen. Cells of the table are figures or words."""

    about: str
    title: str
    notes: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[str, list[Figure | str | None]]] = field(default_factory=list)
    bounds: Bounds | None = None  # for the picture of ways to wait
    load: int = 0  # the load of its round trips
    reach: float | None = None  # the load that one sleeping connection carries, if sleeping is cheaper up to there
    what: str = ""  # title of the first column
    plots: tuple[int, ...] = ()  # the columns that have a small picture


@dataclass(frozen=True)
class Column:
    """A column of a table: a point of a way, and one of its figures."""

    title: str
    point: Callable[[str], Point]
    figure: Callable[[Point], Figure | None]


def fill(answer: Answer, wanted: list[Column], names: dict[str, str]) -> None:
    """Adds a row for each name, and the columns that have at least one figure."""
    table = {way: [column.figure(column.point(way)) for column in wanted] for way in names}
    used = [n for n in range(len(wanted)) if any(cells[n] for cells in table.values())]
    answer.columns = [wanted[n].title for n in used]
    answer.rows = [(names[way], [cells[n] for n in used]) for way, cells in table.items() if any(cells)]


class Screens:
    """The first screens of one link."""

    def __init__(self, results: Results, link: str) -> None:
        self.results, self.link = results, link
        self.points = {one.point for one in results.samples if one.link == link and not one.point.workers}

    def figure(self, point: Point, measure: Measure, unit: str = "", most: float = 0.0) -> Figure | None:
        """Returns a figure of a point, if it was measured and, at a load, kept."""
        if point.load > IDLE and not kept(self.results, self.link, point):
            return None
        one = estimate(self.results, self.link, point, measure)
        return Figure(one, unit, most) if one else None

    def cpus(self, point: Point) -> Figure | None:
        return self.figure(point, net_cpus(self.results), most=float(self.results.environment.get("cpus", 1)))

    def trip(self, point: Point) -> Figure | None:
        return self.figure(point, plain("p50_us"), "µs")

    def cost(self, point: Point) -> Figure | None:
        return self.figure(point, cpu_us(self.results), "µs")

    def notes(self) -> list[str]:
        """Returns notes to read before the figures."""
        return [note for note in (few_rounds(self.results), disturbed(self.results, self.link)) if note]

    def waits(self) -> Answer:
        """Returns the screen of ways to wait, on one connection, at several loads."""
        ways = [way for way in WAYS if any(point.way == way for point in self.points)]
        load, found = common_load(self.results, self.link, ways), bounds(self.results, self.link)
        clauses = [say_cheaper(self.results, self.link, found), say_faster(self.results, self.link, load)]
        title = "; ".join(clause for clause in clauses if clause) + "."
        answer = Answer("One connection, 64-byte messages there and back", title, self.notes(), bounds=found, load=load)
        reach = carried(self.results, self.link)
        if reach and found.low and found.low > reach.high:
            answer.reach = reach.value
        def at_load(way: str) -> Point:
            return Point(way, load)

        wanted = [Column("CPUs busy when idle", lambda way: Point(way, IDLE), self.cpus)]
        if load:
            wanted.append(Column(f"CPUs busy at {load:,}/s", at_load, self.cpus))
            wanted.append(Column(f"round trip at {load:,}/s", at_load, self.trip))
        wanted.append(Column("round trip flat out", Point, self.trip))
        fill(answer, wanted, {way: WAYS[way] for way in ways})
        purposes = best_for(self.results, self.link, found)
        answer.columns.append("best for")
        for way, (_, cells) in zip([way for way in ways if WAYS[way] in dict(answer.rows)], answer.rows):
            cells.append(purposes[way])
        return answer

    def crowd(self, way: str) -> Answer:
        """Returns the screen of one server with more and more clients."""
        points = sorted(one for one in self.points if one.way == way and not one.load and one.size == 64)
        points.sort(key=lambda one: one.clients)
        answer = Answer(f"One server ({way}) and its clients, flat out, 64-byte messages", "", self.notes())
        answer.what = "clients"
        answer.columns = ["CPU a message", "CPUs busy", "messages/s together", "round trip, median", "slowest 1 in 100"]
        for point in points:
            rate, slowest = self.figure(point, plain("rate")), self.figure(point, plain("p99_us"), "µs")
            cells: list[Figure | str | None] = [self.cost(point), self.cpus(point), rate, self.trip(point), slowest]
            answer.rows.append((str(point.clients), cells))
        answer.plots = (0, 2, 4) if len(points) > 1 else ()
        answer.title = self.say_crowd([point for point in points if self.rounds(point) >= FEW])
        return answer

    def together(self, points: list[Point]) -> Answer:
        """Returns the screen of several connections that sleep, beside one that polls, at the same load."""
        count = points[0].clients
        sleeping = {point.load * count: point for point in sorted(points) if point.clients == count}
        title = say_together(beside_polling(self.results, self.link, sleeping), count, max(sleeping))
        answer = Answer(f"{count} connections that sleep, and one that polls; 64-byte messages", title, self.notes())
        answer.what = "messages/s together"
        answer.columns = [f"{who}: {what}" for what in ("CPUs busy", "round trip") for who in ("one polls", f"{count} sleep")]
        for load, point in sleeping.items():
            pair, rate = (Point(POLLING, load), point), estimate(self.results, self.link, point, plain("rate"))
            cells: list[Figure | str | None] = [figure(one) for figure in (self.cpus, self.trip) for one in pair]
            cells[1] = cells[1] or f"carry {Figure(rate).text}/s" if rate else None
            answer.rows.append((f"{load:,}", cells))
        return answer

    def rounds(self, point: Point) -> int:
        one = estimate(self.results, self.link, point, plain("rate"))
        return one.rounds if one else 0

    def say_crowd(self, points: list[Point]) -> str:
        """Says how the most clients differ from the fewest."""
        if len(points) < 2:
            return "This run cannot tell what more clients cost."
        few, many = points[0], points[-1]
        sides = [(series(self.results, self.link, many, how), series(self.results, self.link, few, how))
                 for how in (cpu_us(self.results), plain("p99_us"))]  # fmt: skip
        cost, slow = (verdict(ratio(*pair), "less", "more") for pair in sides)
        clauses = []
        if cost in ("less", "more"):
            clauses.append(f"a message costs {cost} CPU than with {few.clients}")
        if cost == "the same":
            clauses.append(f"a message costs as much CPU as with {few.clients}")
        if slow in ("less", "more"):
            after, before = (median(side.values()) for side in sides[1])
            clauses.append(f"the slowest round trip in a hundred takes {time(after)} instead of {time(before)}")
        if not clauses:
            return f"This run cannot tell what {many.clients} clients cost beside {few.clients}."
        joined = ", but " if (cost, slow) == ("less", "more") else ", and "
        return f"With {many.clients} clients {joined.join(clauses)}."

    def every_way(self, ways: list[str]) -> Answer:
        """Returns the screen of all ways to wait on one connection; names the best, if they are not all."""
        loads = sorted({point.load for point in self.points if point.way in ways and point.load and point.clients == 1})
        wanted: list[Column] = []
        for load in [*loads, 0]:

            def at_load(way: str, load: int = load) -> Point:
                return Point(way, load)

            where = f"at {load:,}/s" if load else "flat out"
            wanted.append(Column(f"CPU a message {where}", at_load, self.cost))
            wanted.append(Column(f"round trip {where}", at_load, self.trip))
        answer = Answer("Every way to wait, one connection, 64-byte messages", "", self.notes())
        fill(answer, wanted, {way: way.removeprefix("ways ") for way in ways})
        clauses = []
        for n, does in ((answer.columns.index(one), does) for one, does in (
            ("CPU a message at 1,000/s", "costs the least CPU at 1,000 messages a second"), ("round trip flat out", "answers fastest flat out"),
        ) if one in answer.columns):  # fmt: skip
            flags = [row[n] for row in marks(answer)]
            if any(flags) and not all(flags):
                clauses.append(f"{' or '.join(name for (name, _), flag in zip(answer.rows, flags) if flag)} {does}")
        answer.title = f"{'; '.join(clauses)}." if clauses else "This run cannot tell which way of waiting is the best."
        return answer

    def others(self) -> Answer:
        """Returns the screen of programs without a ladder of loads: which has the shortest round trip, or moves the most."""
        streams = any("mb_per_second" in one.figures and one.figures.get("p50_us") is None for one in self.results.samples)
        measure, unit = (plain("mb_per_second"), "") if streams else (plain("p50_us"), "µs")
        sizes = sorted({one.size for one in self.points if not one.load and one.clients == 1})
        names = list(dict.fromkeys(one.point.way for one in self.results.samples if one.link == self.link))
        what = "MB/s" if streams else "round trip"
        wanted = []
        for size in sizes:

            def at_size(way: str, size: int = size) -> Point:
                return Point(way, 0, size)

            wanted.append(Column(f"{what}, {size_name(size)}", at_size, lambda point: self.figure(point, measure, unit)))
            wanted.append(Column(f"CPU a message, {size_name(size)}", at_size, self.cost))
        answer = Answer("One connection, flat out", self.say_best(names, sizes, measure, streams), self.notes())
        fill(answer, wanted, {name: name for name in names})
        return answer

    def say_best(self, ways: list[str], sizes: list[int], measure: Measure, most: bool) -> str:
        """Names the best with the largest messages, if tests against all others show it."""
        size = sizes[-1] if sizes else 64
        values = {way: series(self.results, self.link, Point(way, 0, size), measure) for way in ways}
        values = {way: found for way, found in values.items() if found}
        word = "more" if most else "less"
        for way, mine in values.items():
            others = [verdict(ratio(mine, other)) for name, other in values.items() if name != way]
            if others and all(one == word for one in others):
                shown = f"{two(median(mine.values()))} MB/s" if most else time(median(mine.values()))
                does = "moves the most" if most else "has the shortest round trip"
                return f"{way} {does}: {shown} with messages of {size_name(size)}."
        return f"This run cannot tell which program {'moves the most' if most else 'has the shortest round trip'}."

    def answers(self) -> list[Answer]:
        """The first screens, most important first."""
        found = []
        shared = [point for point in self.points if point.load and point.way == SLEEPING and point.clients > 1]
        alone = {point.way for point in self.points if point.load and point.clients == 1}
        if SLEEPING in alone or (POLLING in alone and not shared):
            found.append(self.waits())
        if shared:
            found.append(self.together(shared))
        every = [f"ways {name}" for name in EVERY_WAY if any(point.way == f"ways {name}" for point in self.points)]
        if every:
            found.append(self.every_way(every))
        crowds = dict.fromkeys(point.way for point in sorted(self.points) if point.clients > 1 and not point.load)
        found += [self.crowd(way) for way in crowds]
        return found or [self.others()]


def answers(results: Results, link: str) -> list[Answer]:
    """The first screens of a link."""
    return Screens(results, link).answers()


def marks(answer: Answer) -> list[list[bool]]:
    """Returns for each row the cells that may be the best of their columns."""
    columns = [[cells[n] if isinstance(cells[n], Figure) else None for _, cells in answer.rows] for n in range(len(answer.columns))]
    flags = [best(column) for column in columns]  # type: ignore[arg-type]
    return [[flags[n][row] for n in range(len(answer.columns))] for row in range(len(answer.rows))]


def cell_text(cell: Figure | str | None) -> str:
    """Returns a cell of the table."""
    return cell.text if isinstance(cell, Figure) else cell or "-"


def text(answer: Answer, results: Results, link: str) -> list[str]:
    """Returns the screen as text for the terminal."""
    rows = [[answer.what, *answer.columns], *([name, *map(cell_text, cells)] for name, cells in answer.rows)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    table = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return [answer.title, *answer.notes, caveat(results, link), *table]
