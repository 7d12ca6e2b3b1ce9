# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A figure of all pairs as an SVG of coloured cells: clients in rows, servers in columns.

Place: below page.py. Contract: as bench/comparison/picture.py: no script, loads nothing, the value on hover. A pair that
was measured in one direction only has its colour in both cells.
"""

from __future__ import annotations

import math
from html import escape

from bench.comparison.conclusions import number, shown
from .odd import Map, Odd

SMALL, LARGE = 16, 52  # sides of a cell
WORDS = 12  # with at most this many hosts the values are written into the cells
BETTER, SAME, WORSE = (33, 102, 172), (240, 240, 240), (179, 88, 6)  # colours that colour-blind people can distinguish
STYLE = "svg{font:13px system-ui,sans-serif}svg text{fill:currentColor}.mark:hover{stroke:currentColor;stroke-width:3}"
NOTE = 26  # below the cells: the scale
DARK = 120  # of 255; on a darker cell the text is white


def colour(times: float, more_is_worse: bool) -> tuple[int, int, int]:
    """The colour. Twice the typical value, or half of it, has the full colour."""
    part = max(-1.0, min(1.0, math.log2(times))) * (1 if more_is_worse else -1)
    end = WORSE if part > 0 else BETTER
    red, green, blue = (round(a + abs(part) * (b - a)) for a, b in zip(SAME, end))
    return red, green, blue


def box(x: float, y: float, side: int, fill: tuple[int, int, int], title: str, edge: bool) -> str:
    """A cell; an odd pair has an edge."""
    stroke = ' stroke="currentColor" stroke-width="2.5"' if edge else ""
    place = f'x="{x + 1}" y="{y + 1}" width="{side - 2}" height="{side - 2}"'
    return f'<rect class="mark" {place} fill="rgb{fill}"{stroke}><title>{escape(title)}</title></rect>'


def names(hosts: list[str], left: int, top: int, side: int) -> list[str]:
    """The names of the rows and of the columns."""
    parts = []
    for index, host in enumerate(hosts):
        middle = index * side + side // 2 + 4
        size = "" if side > SMALL else ' font-size="11"'
        parts.append(f'<text x="{left - 6}" y="{top + middle}" text-anchor="end"{size}>{escape(host)}</text>')
        turn = f"translate({left + middle},{top - 6}) rotate(-90)"
        parts.append(f'<text transform="{turn}"{size}>{escape(host)}</text>')
    return parts


def scale(one: Map, left: int, y: int) -> list[str]:
    """What the colours mean."""
    parts = []
    for index, times in enumerate((0.5, 0.71, 1.0, 1.41, 2.0)):
        x = left + index * 90
        parts.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="rgb{colour(times, one.more_is_worse)}"/>')
        parts.append(f'<text x="{x + 18}" y="{y + 12}" font-size="11">{number(times * one.typical)}</text>')
    return parts


def cell(one: Map, pair: tuple[str, str], place: tuple[float, float], side: int, edges: set[frozenset[str]]) -> str:
    """The cell of a pair; none if it was not measured."""
    x, y = place
    there = pair in one.cells
    found = one.cells.get(pair) or one.cells.get(pair[::-1])
    if found is None:
        title = f"<title>{escape(pair[0])} and {escape(pair[1])}: not measured</title>"
        ends = f'x1="{x + side / 3}" y1="{y + side / 3}" x2="{x + side * 2 / 3}" y2="{y + side * 2 / 3}"'
        return f'<g class="axis"><rect x="{x + 1}" y="{y + 1}" width="{side - 2}" height="{side - 2}" opacity=".3"/><line {ends}/>{title}</g>'
    client, server = pair if there else pair[::-1]
    fill = colour(found.value / one.typical, one.more_is_worse)
    title = f"{client} (client) and {server} (server): {shown(found)} {one.unit}, {number(found.value / one.typical)} times what is typical"
    text = box(x, y, side, fill, title, frozenset(pair) in edges)
    if side > SMALL:
        ink = "#fff" if sum(fill) < 3 * DARK else "#111"
        inside = f'x="{x + side / 2}" y="{y + side / 2 + 4}" text-anchor="middle" font-size="11"'
        text += f'<text {inside} style="fill:{ink};pointer-events:none">{number(found.value)}</text>'
    return text


def draw(one: Map, hosts: list[str], odds: list[Odd], alone: bool = False) -> str:
    """The SVG element; with `alone` as a file of its own, on white."""
    side = LARGE if len(hosts) <= WORDS else SMALL
    longest = max(map(len, hosts))
    left = top = 14 + 7 * longest
    edges = {frozenset((odd.first, odd.second)) for odd in odds if odd.second}
    for odd in odds:
        edges |= {frozenset((odd.first, host)) for host in hosts} if not odd.second else set()
    parts = names(hosts, left, top, side)
    for row, client in enumerate(hosts):
        for column, server in enumerate(hosts):
            if client != server:
                place = (left + column * side, top + row * side)
                parts.append(cell(one, (client, server), place, side, edges))
    parts += scale(one, left, top + side * len(hosts) + 10)
    width, height = left + max(side * len(hosts), 460) + 8, top + side * len(hosts) + 10 + NOTE
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img"'
    style = f"<style>{STYLE}</style>" if alone else ""
    paper = '<rect width="100%" height="100%" fill="white"/>' if alone else ""
    return "\n".join([f'{head} aria-label="{escape(one.title)}">{style}{paper}', *parts, "</svg>"]) + "\n"
