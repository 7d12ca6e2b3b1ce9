# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The picture of the first screen: CPUs busy by load, and below it which way costs less at which load.

Place: below page.py. Contract: makes SVG from results. It uses the colours of the page, or brings its own; it has no
script, and loads nothing. Each point is at the rate that was reached; a load that was not kept has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from .answers import Answer, Screens
from .clauses import WAYS, disturbed
from .conclusions import loads_of
from .foretold import law_of
from .plan import IDLE, Point
from .statistics import Estimate, estimate, plain
from .store import Results
from .words import CANNOT, FEW, Figure, two

COLOURS = ("var(--a)", "var(--c)", "var(--b)")  # in the order of WAYS
VARIABLES = (
    ":root{--paper:#fff;--ink:#1a1a1a;--faint:#5f6368;--line:#d9d9d9;--a:#0b63a5;--b:#b84a08;--c:#00755f;--wash:#f4f1ea}"
    "@media(prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#ececec;--faint:#a3a8ae;--line:#3a3d42;--a:#62b5f0;"
    "--b:#ff9a57;--c:#3ed1b0;--wash:#22252a}}"
)
STYLE = (
    "svg{font:14px system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}svg text{fill:var(--ink)}svg .f{fill:var(--faint)}"
    "svg .b{font-weight:700}svg .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}"
)
HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<line x1="0" x2="0" y1="0" y2="6" stroke="var(--faint)" stroke-width="1.4" opacity=".5"/></pattern></defs>'
)


Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Mark:
    """A point of a curve: messages a second, CPUs busy."""

    rate: float
    cpus: Estimate


@dataclass(frozen=True)
class Frame:
    """The area of the curves: from 1 message a second on, logarithmic, by CPUs from 0 on."""

    width: int
    height: int
    decades: int
    cpus: float
    left: int = 30
    top: int = 44

    @property
    def bottom(self) -> int:
        return self.height - 84

    def x(self, rate: float) -> float:
        part = math.log10(max(rate, 1.0)) / self.decades
        return self.left + part * (self.width - self.left - 10)

    def y(self, cpus: float) -> float:
        return self.bottom - min(cpus, self.cpus) / self.cpus * (self.bottom - self.top - 24)


def curve(results: Results, link: str, way: str) -> list[Mark]:
    """Returns the marks of a way, from left to right; flat out comes last."""
    screens, unsteady = Screens(results, link), bool(disturbed(results, link))
    found: list[Mark] = []
    for point in sorted(screens.points, key=lambda one: one.load or math.inf):
        if point != Point(way, point.load) or (unsteady and not point.load):
            continue
        cpus, rate = screens.cpus(point), estimate(results, link, point, plain("rate"))
        at = float(IDLE) if point.load == IDLE else rate.value if rate else 0.0
        if cpus and at and (not found or at > found[-1].rate):
            found.append(Mark(at, cpus.one))
    return found


def words(x: float, y: float, said: str, anchor: str = "start", kind: str = "f", colour: str = "") -> str:
    """A line of text."""
    style = f' style="fill:{colour}"' if colour else ""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" class="{kind}"{style}>{escape(said)}</text>'


def axes(frame: Frame) -> list[str]:
    """Lines and numbers."""
    parts = []
    for cpus in range(int(frame.cpus) + 1):
        y, line = frame.y(cpus), "var(--line)" if cpus else "var(--faint)"
        parts.append(f'<line x1="{frame.left}" x2="{frame.width - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="{line}"/>')
        parts.append(words(frame.left - 8, y + 5, str(cpus), "end"))
    for power in range(frame.decades + 1):
        anchor = "start" if not power else "end" if power == frame.decades else "middle"
        if frame.width > 500 or power % 2 == 0:
            name = "1 (idle)" if not power else f"{10**power:,}"
            parts.append(words(frame.x(10**power), frame.bottom + 20, name, anchor))
    parts.append(words(frame.width - 10, frame.height - 4, "messages a second, logarithmic", "end"))
    return parts


def strip(frame: Frame, answer: Answer, last: float) -> list[str]:
    """Draws which way costs less, under the axis; hatched where that is not known."""
    known = answer.bounds
    assert known
    low, high = known.low or 1.0, known.high or last
    low = min(low, high)
    cheaper = min(low, answer.reach or low)
    parts = []
    for begin, end, said, colour in (
        (1.0, cheaper, "sleeping costs less CPU", "var(--b)"), (cheaper, low, "too much for it", ""), (low, high, CANNOT, ""),
        (high, last, "polling costs less", "var(--a)"),
    ):  # fmt: skip
        a, b = frame.x(begin), frame.x(end)
        if b - a < 1:
            continue
        fill = f'fill="{colour}" opacity=".22"' if colour else 'fill="url(#hatch)"'
        parts.append(f'<rect x="{a:.1f}" y="{frame.bottom + 30}" width="{b - a:.1f}" height="24" {fill}/>')
        if b - a > 7 * len(said):
            parts.append(words((a + b) / 2, frame.bottom + 47, said, "middle", "b", colour))
    if known.low is not None and known.high is not None:
        a, b = frame.x(low), frame.x(high)
        wide = f'x="{a:.1f}" y="{frame.top}" width="{max(2.0, b - a):.1f}" height="{frame.bottom - frame.top}"'
        parts.append(f'<rect {wide} fill="url(#hatch)"/>')
        said = two(low) if two(low) == two(high) else f"{two(low)} to {two(high)}"
        what = "a message costs the same at" if frame.width > 500 else "same cost:"
        half = 4.5 * len(f"{what} {said}/s")
        x = min(max((a + b) / 2, half), frame.width - half)
        parts.append(words(x, frame.top - 6, f"{what} {said}/s", "middle", "b halo"))
    return parts


def draw_marks(frame: Frame, marks: list[Mark], colour: str, dash: str) -> list[str]:
    """A line, its points, and their intervals."""
    places = [(frame.x(one.rate), frame.y(one.cpus.value), one) for one in marks]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
    parts = [f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>']
    for x, y, one in places:
        top, bottom = frame.y(one.cpus.high), frame.y(max(0.0, one.cpus.low))
        parts.append(f'<rect x="{x - 4:.1f}" y="{top:.1f}" width="8" height="{bottom - top:.1f}" fill="{colour}" opacity=".3"/>')
        said = f"{two(one.rate)} messages a second: {two(one.cpus.value)} CPUs ({two(one.cpus.low)} to {two(one.cpus.high)})"
        fill = colour if one.cpus.rounds >= FEW else "var(--paper)"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{colour}" stroke-width="2">'
            f"<title>{escape(said)}</title></circle>"
        )
    return parts


def draw_predicted(frame: Frame, results: Results, link: str, way: str, colour: str) -> list[str]:
    """CPUs busy as the law predicts them for the loads that were offered, as a dotted line."""
    known, places = law_of(results, link), []
    for load in loads_of(results, link, way) if known else []:
        cost = known.of(way, load) if known else None
        if cost and cost.rate >= load > IDLE:
            places.append(f"{frame.x(load):.1f},{frame.y(cost.cpu_us * load / 1e6):.1f}")
    line = f'<polyline class="p" points="{" ".join(places)}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="1 5"/>'
    return [line] if len(places) > 1 else []


def say(results: Results, link: str, way: str, load: int) -> list[str]:
    """Returns the text at a curve: its name, its round trip, and its highest load, as far as they are known."""
    screens = Screens(results, link)
    lines = [WAYS[way]]
    for point, name in ((Point(way, load), "a round trip"), (Point(way), "flat out")):
        figure = screens.trip(point) if point.load or name == "flat out" else None
        if figure and figure.text != CANNOT:
            rate = estimate(results, link, point, plain("rate"))
            carried = f", {two(rate.value)}/s" if rate and not point.load and Figure(rate).sure else ""
            lines.append(f"{figure.text} {name}{carried}")
    return lines


def along(places: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of a line, close to one another."""
    parts = [part / 64 for part in range(65)]
    return [(a + (c - a) * t, b + (d - b) * t) for (a, b), (c, d) in zip(places, places[1:]) for t in parts] or places


def place(frame: Frame, marks: list[Mark], size: tuple[float, float], full: list[Box], lines: list[tuple[float, float]]) -> Box:
    """Finds the place of a label of this size: beside one of the marks, the last if possible, where it covers the least."""
    found: list[tuple[float, Box]] = []
    for n, one in enumerate(reversed(marks)):
        at = frame.x(one.rate), frame.y(one.cpus.value)
        for left in (at[0] + 12, at[0] - size[0] / 2, at[0] - size[0] - 12):
            for top in (at[1] + 8, at[1] - size[1] - 8):
                x = min(max(left, frame.left), frame.width - 10 - size[0])
                y = min(max(top, frame.top), frame.bottom - 4 - size[1])
                box = (x, y, x + size[0], y + size[1])
                over = sum(box[0] < c and a < box[2] and box[1] < d and b < box[3] for a, b, c, d in full)
                covered = sum(box[0] - 6 < a < box[2] + 6 and box[1] - 4 < b < box[3] + 4 for a, b in lines)
                found.append((1000 * over + covered + n, box))
    return min(found)[1]


def draw_labels(frame: Frame, results: Results, link: str, answer: Answer, curves: dict[str, list[Mark]]) -> list[str]:
    """A label at each curve."""
    parts: list[str] = []
    full: list[Box] = []
    lines = [at for marks in curves.values() for at in along([(frame.x(one.rate), frame.y(one.cpus.value)) for one in marks])]
    for way, colour in zip(WAYS, COLOURS):
        marks = curves[way]
        if not marks:
            continue
        said = say(results, link, way, answer.load)[: None if frame.width > 500 else 1]
        box = place(frame, marks, (max(9.0 * len(said[0]), *(7.8 * len(line) for line in said)), 18.0 * len(said)), full, lines)
        full.append(box)
        for n, line in enumerate(said):
            parts.append(words(box[0], box[1] + 14 + 18 * n, line, "start", "halo f" if n else "halo b", "" if n else colour))
    return parts


def draw(results: Results, link: str, answer: Answer, width: int = 960, height: int = 400, alone: bool = False) -> str:
    """The picture as an SVG element; with `alone` as a file of its own."""
    curves = {way: curve(results, link, way) for way in WAYS}
    marks = [one for found in curves.values() for one in found]
    if not marks:
        return ""
    cpus = max([1.0, *(math.ceil(one.cpus.value - 0.2) for one in marks)])
    cpus = min(cpus, float(results.environment.get("cpus", cpus)))
    last = max([one.rate for one in marks] + [float(load) for way in WAYS for load in loads_of(results, link, way)])
    frame = Frame(width, height, max(1, math.ceil(math.log10(last))), cpus)
    about = f"CPUs busy, of {results.environment['cpus']}" if "cpus" in results.environment else "CPUs busy"
    about += f"; round trips at {answer.load:,}/s" if answer.load else ""
    parts = [HATCH, words(0, 16, about), *axes(frame), *strip(frame, answer, last)]
    for (way, found), colour, dash in zip(curves.items(), COLOURS, ("", "6 4", "")):
        parts += draw_marks(frame, found, colour, dash) if found else []
        parts += draw_predicted(frame, results, link, way, colour) if found else []
    parts += draw_labels(frame, results, link, answer, curves)
    style = f"<style>{VARIABLES}{STYLE}</style>" if alone else ""
    paper = '<rect width="100%" height="100%" fill="var(--paper)"/>' if alone else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
    return f'{head} aria-label="{escape(answer.title)}">{style}{paper}{"".join(parts)}</svg>\n'
