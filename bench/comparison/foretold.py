# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Predictions beside measurements, with the error, whatever it is.

Place: below page.py and picture.py. Contract: predictions come from the primitives of the same file alone. Rows are of
loads that were kept, on one connection, with messages of 64 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from . import law
from .plan import IDLE, Point
from .statistics import Estimate, cpu_us, estimate, kept, plain
from .store import Results
from .words import two

AIM = 0.15  # the error that we aim for


@dataclass(frozen=True)
class Row:
    """One figure of one point."""

    point: Point
    figure: str
    predicted: float
    measured: Estimate

    @property
    def error(self) -> float:
        """Returns the error: 0.1 if the prediction is a tenth too high."""
        return self.predicted / self.measured.value - 1


def law_of(results: Results, link: str) -> law.Law | None:
    """The law of a link, if its primitives were measured."""
    known = law.read([one for one in results.primitives if one["link"] == link])
    return law.Law(known) if known else None


def rows(results: Results, link: str) -> list[Row]:
    """Returns all that was predicted and measured. One message a second is too rare to have a cost."""
    known, found = law_of(results, link), []
    points = sorted({one.point for one in results.samples if one.link == link}) if known else []
    for point in points:
        lost = known.displaced(point.way, point.load, point.workers) if known and not point.helped else None
        taken = estimate(results, link, point, plain("lost_cpus"))
        if lost and taken and taken.value > 0:
            found.append(Row(point, "CPUs of work lost", lost, taken))
        cost = known.of(point.way, point.load) if known and point == Point(point.way, point.load) else None
        if cost is None or point.load == IDLE or (point.load and not kept(results, link, point)):
            continue
        for figure, predicted, measure in (("CPU", cost.cpu_us, cpu_us(results)), ("round trip", cost.trip_us, plain("p50_us"))):
            measured = estimate(results, link, point, measure)
            if measured and measured.value > 0:
                found.append(Row(point, figure, predicted, measured))
    return found


def say(results: Results, link: str) -> list[str]:
    """Says how good the predictions were."""
    found, known = rows(results, link), law_of(results, link)
    if not found or known is None:
        return []
    lines = []
    for figure, said in (("CPU", "CPU a message"), ("round trip", "the median round trip"), ("CPUs of work lost", "the work that others lose")):
        errors = [row.error for row in found if row.figure == figure]
        near = sum(abs(error) <= AIM for error in errors)
        if errors:
            lines.append(
                f"Predicted before any load, {said}: {near} of "
                f"{len(errors)} within {AIM:.0%}; errors from {min(errors):+.0%} to {max(errors):+.0%}."
            )
    return [*lines, f"Predicted: a message costs as much asleep as polling at {two(known.break_even())} messages a second."]


def table(results: Results, link: str) -> str:
    """Returns the table as HTML."""
    head = "".join(f"<th>{name}</th>" for name in ("point", "figure", "predicted (µs, or CPUs)", "measured", "error"))
    body = ""
    for row in rows(results, link):
        one = row.measured
        told = (row.point.name, row.figure, two(row.predicted), f"{two(one.value)} [{two(one.low)}, {two(one.high)}]", f"{row.error:+.0%}")
        body += f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in told)}</tr>"
    lines = "".join(f"<li>{escape(line)}</li>" for line in say(results, link))
    return f'<ul>{lines}</ul><div class="wide"><table><tr>{head}</tr>{body}</table></div>' if body else ""
