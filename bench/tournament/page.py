# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The report of a fabric: what is odd, a heat map for each figure, hosts, every sample.

Place: below command_line.py. Contract: as bench/comparison/page.py, whose style and tables it uses: one file that
loads nothing; text from programs and files is escaped.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from bench.comparison import store
from bench.comparison.page import STYLE, banner, environment, samples
from . import heatmap
from .odd import conclusions, maps, odd

MORE_STYLE = "figure svg{width:auto;max-width:100%;min-width:0}"
HOW = (
    "Each pair of hosts was measured by itself, no host in two pairs at the same time. A cell is the median over the "
    "rounds, beside it the least and the most of them; rows are clients, columns servers; a pair measured in one direction is "
    "shown in both places. Colours are relative to what is typical, the median of the hosts' medians. An edge marks a pair "
    "that is odd: all of its rounds are beyond the limit."
)


def in_order(names: list[str]) -> list[str]:
    """A key that sorts node9 before node10."""
    return sorted(names, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])


def hosts_of(results: store.Results) -> list[str]:
    """All that were asked for."""
    asked = [name.removeprefix("host ") for name in results.environment if name.startswith("host ")]
    return in_order(list({*asked, *(host for one in results.samples for host in one.link.split(">"))}))


def page(results: store.Results) -> str:
    """The whole file."""
    hosts = hosts_of(results)
    body = [f"<h1>The fabric: {len(hosts)} hosts, pair by pair</h1>", banner(results)]
    body.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in conclusions(results)) + "</ul>")
    for one in maps(results):
        drawn = heatmap.draw(one, hosts, odd(one))
        caption = f"{escape(one.title)}, {escape(one.unit)}. Point at a cell for its values."
        body.append(f'<h2>{escape(one.title)}</h2><figure><div class="wide">{drawn}</div><figcaption>{caption}</figcaption></figure>')
    body.append(f"<p><small>{escape(HOW)}</small></p><h2>Where, and how</h2>{environment(results)}{samples(results)}")
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    style = f"<style>{STYLE}{heatmap.STYLE}{MORE_STYLE}</style>"
    return f'<!DOCTYPE html><html lang="en"><head>{head}<title>The fabric</title>{style}</head><body>{"".join(body)}</body></html>\n'


def write(results: store.Results, folder: Path) -> None:
    """Page, maps, JSON and CSV."""
    store.write(results, folder / "results.json")
    store.write_csv(results, folder / "results.csv")
    hosts = hosts_of(results)
    for one in maps(results):
        (folder / f"{one.name}.svg").write_text(heatmap.draw(one, hosts, odd(one), alone=True), encoding="utf-8")
    (folder / "index.html").write_text(page(results), encoding="utf-8")
