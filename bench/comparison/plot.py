# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Curves as SVG: logarithmic axes, an interval at each point, the value on hover.

Place: below page.py. Contract: makes text from text. A drawing is a file of its own, or part of a page whose colours
it uses. It has no script, and loads nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from .conclusions import number

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 84, 36, 16, 56
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f"]  # for the colour-blind
SHAPES = ["circle", "square", "diamond", "triangle"]
DASHES = ["", "6 3", "2 3", "8 3 2 3"]
STYLE = (
    "svg{font:13px system-ui,sans-serif;color:#222}.axis{stroke:currentColor;fill:none}.grid{stroke:currentColor;"
    "opacity:.15}text{fill:currentColor}.line{fill:none;stroke-width:2}.mark:hover{stroke:currentColor;stroke-width:3}"
)


@dataclass(frozen=True)
class Mark:
    """A point, the ends of its interval, and what is shown on hover."""

    x: float
    y: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class Curve:
    """One way of waiting."""

    name: str
    marks: list[Mark]


@dataclass(frozen=True)
class Drawing:
    """A title, what the axes are, and the curves."""

    name: str
    title: str
    x_title: str
    y_title: str
    curves: list[Curve]


class Axis:
    """Maps values to positions on a logarithmic axis of whole decades."""

    def __init__(self, values: list[float], begin: float, end: float) -> None:
        good = [value for value in values if value > 0 and math.isfinite(value)] or [1.0]
        self.low, self.high = math.floor(math.log10(min(good))), math.ceil(math.log10(max(good)))
        self.high += self.high == self.low
        self.begin, self.end = begin, end

    def at(self, value: float) -> float:
        """A position; values of 0 or less are at the edge."""
        part = (math.log10(max(value, 10.0**self.low)) - self.low) / (self.high - self.low)
        return round(self.begin + part * (self.end - self.begin), 1)

    def decades(self) -> list[float]:
        """The values at which there are grid lines."""
        return [10.0**power for power in range(self.low, self.high + 1)]


def decade(value: float) -> str:
    """1,000, or a power of ten where that is shorter."""
    if 1e-3 < value < 1e6:
        return f"{value:,g}"
    return "10" + str(round(math.log10(value))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def shape(kind: str, x: float, y: float, colour: str, text: str) -> str:
    """A mark. Its title appears on hover, and screen readers read it."""
    places = {
        "square": [(-4, -4), (4, -4), (4, 4), (-4, 4)],
        "diamond": [(0, -6), (6, 0), (0, 6), (-6, 0)],
        "triangle": [(0, -6), (6, 5), (-6, 5)],
    }
    title = f"<title>{escape(text)}</title>"
    if kind == "circle":
        return f'<circle class="mark" cx="{x}" cy="{y}" r="5" fill="{colour}">{title}</circle>'
    corners = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in places[kind])
    return f'<polygon class="mark" points="{corners}" fill="{colour}">{title}</polygon>'


def draw_axes(drawing: Drawing, x: Axis, y: Axis) -> list[str]:
    """Frame, lines, numbers, titles."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [f'<rect class="axis" x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}"/>']
    for value in x.decades():
        parts.append(f'<line class="grid" x1="{x.at(value)}" x2="{x.at(value)}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text x="{x.at(value)}" y="{bottom + 18}" text-anchor="middle">{decade(value)}</text>')
    for value in y.decades():
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y.at(value)}" y2="{y.at(value)}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y.at(value) + 4}" text-anchor="end">{decade(value)}</text>')
    parts.append(f'<text x="{(LEFT + right) // 2}" y="{bottom + 42}" text-anchor="middle">{escape(drawing.x_title)}</text>')
    parts.append(
        f'<text transform="translate(16,{(TOP + bottom) // 2}) rotate(-90)" text-anchor="middle">{escape(drawing.y_title)}</text>'
    )
    return parts


def draw_curve(curve: Curve, index: int, x: Axis, y: Axis) -> list[str]:
    """Line, intervals, marks."""
    colour = COLOURS[index % len(COLOURS)]
    kind, dash = SHAPES[index % len(SHAPES)], DASHES[index // len(COLOURS) % len(DASHES)]
    places = [(x.at(mark.x), y.at(mark.y)) for mark in curve.marks]
    line = " ".join(f"{a},{b}" for a, b in places)
    parts = [f'<polyline class="line" points="{line}" stroke="{colour}" stroke-dasharray="{dash}"/>']
    for mark, (a, b) in zip(curve.marks, places):
        parts.append(f'<line x1="{a}" x2="{a}" y1="{y.at(mark.low)}" y2="{y.at(mark.high)}" stroke="{colour}"/>')
        parts.append(shape(kind, a, b, colour, mark.text))
    return parts


def draw_legend(drawing: Drawing) -> tuple[list[str], int]:
    """The legend below the axes, in two columns, and its height."""
    parts = []
    for index, curve in enumerate(drawing.curves):
        a, b = LEFT + index % 2 * 310, HEIGHT + 8 + index // 2 * 20
        parts.append(shape(SHAPES[index % len(SHAPES)], a, b, COLOURS[index % len(COLOURS)], curve.name))
        parts.append(f'<text x="{a + 12}" y="{b + 4}">{escape(curve.name)}</text>')
    return parts, (len(drawing.curves) + 1) // 2 * 20 + 12


def draw(drawing: Drawing, alone: bool = False) -> str:
    """The SVG element; with `alone` as a file of its own, on white."""
    marks = [mark for curve in drawing.curves for mark in curve.marks]
    x = Axis([mark.x for mark in marks], LEFT, WIDTH - RIGHT)
    y = Axis([value for mark in marks for value in (mark.y, max(mark.low, mark.y / 10), mark.high)], HEIGHT - BOTTOM, TOP)
    parts = draw_axes(drawing, x, y)
    for index, curve in enumerate(drawing.curves):
        parts += draw_curve(curve, index, x, y)
    legend, height = draw_legend(drawing)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + height}" role="img"'
    style = f"<style>{STYLE}</style>" if alone else ""
    paper = '<rect width="100%" height="100%" fill="white"/>' if alone else ""
    return "\n".join([f'{head} aria-label="{escape(drawing.title)}">{style}{paper}', *parts, *legend, "</svg>"]) + "\n"


def mark(x: float, value: float, low: float, high: float, name: str, unit: str) -> Mark:
    """The figure with a text that contains all its values."""
    return Mark(x, value, low, high, f"{name}: {number(value)} {unit} ({number(low)} to {number(high)}) at {number(x)}")
