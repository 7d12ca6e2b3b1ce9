# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Small pictures of columns of a first screen, one beside the other: how a figure changes from row to row.

Place: below page.py. Contract: makes SVG from an answer, with the page's colours. Each axis begins at zero.
"""

from __future__ import annotations

from .answers import Answer
from .picture import words
from .words import CANNOT, FEW, Figure

WIDTH, HEIGHT = 310, 220
TOP, BOTTOM = 58, HEIGHT - 44
COLOUR = "var(--b)"


def mark(x: float, figure: Figure, most: float) -> tuple[str, float]:
    """A point with its interval and its value, and where it is."""
    one = figure.one
    y, top, bottom = (BOTTOM - max(0.0, min(value, most)) / most * (BOTTOM - TOP) for value in (one.value, one.high, one.low))
    known = one.rounds >= FEW
    bar = f'<rect x="{x - 4:.0f}" y="{top:.1f}" width="8" height="{bottom - top:.1f}" fill="{COLOUR}" opacity=".3"/>' if known else ""
    fill = COLOUR if known else "var(--paper)"
    dot = f'<circle cx="{x:.0f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{COLOUR}" stroke-width="2"/>'
    said = figure.show(one.value) if known else f"{figure.show(one.value)}?"
    return bar + dot + words(x, (top if known else y) - 9, said, "middle", "b halo", COLOUR), y


def plot(answer: Answer, column: int) -> str:
    """One column. A figure about which nothing can be told has no point."""
    found = [(n, cells[column]) for n, (_, cells) in enumerate(answer.rows)]
    figures = [(n, one) for n, one in found if isinstance(one, Figure) and one.text != CANNOT]
    if not figures:
        return ""
    most = max(one.one.high if one.one.rounds >= FEW else one.one.value for _, one in figures) or 1.0
    step = (WIDTH - 60) / max(1, len(answer.rows) - 1)
    parts, line = [words(0, 16, answer.columns[column], "start", "b")], ""
    parts.append(f'<line x1="0" x2="{WIDTH}" y1="{BOTTOM}" y2="{BOTTOM}" stroke="var(--faint)"/>')
    marks = []
    for n, figure in figures:
        drawn, y = mark(30 + n * step, figure, most)
        marks.append(drawn)
        line += f"{30 + n * step:.0f},{y:.1f} "
    parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOUR}" stroke-width="2" opacity=".6"/>')
    parts += [words(30 + n * step, BOTTOM + 20, name, "middle") for n, (name, _) in enumerate(answer.rows)]
    parts.append(words(WIDTH / 2, HEIGHT - 6, answer.what, "middle"))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{answer.columns[column]}">'
    return f"{head}{''.join([*parts, *marks])}</svg>"


def draw(answer: Answer) -> str:
    """All pictures of an answer."""
    return "".join(plot(answer, column) for column in answer.plots)
