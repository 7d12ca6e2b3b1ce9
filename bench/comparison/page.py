# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The report as one HTML file: conclusions, curves, tables, environment, every sample.

Place: below report.py. Contract: the page loads nothing and needs no script; text from programs and files is escaped.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from .agreement import compare, say
from .conclusions import conclusions, headline, number, restless, ways_of
from .limits import describe_target, targets
from .plan import IDLE, Point
from .plot import STYLE as PLOT_STYLE
from .plot import Curve, Drawing, Mark, draw, mark
from .statistics import (a_message, cpu_us, estimate, net_cpus, plain, ratio, reference, series, verdict)  # fmt: skip
from .store import Results

STYLE = """:root{color-scheme:light dark;--paper:#fff;--ink:#1b1b1b;--faint:#666;--line:#ccc;--note:#fff3cd}
@media(prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e6e6e6;--faint:#a0a0a0;--line:#444;--note:#4a3b00}}
body{background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem}
h1{font-size:1.5rem}h2{border-top:1px solid var(--line);padding-top:1rem}figure{margin:1.5rem 0}svg{width:100%;min-width:36rem;height:auto}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem}td,th{border-bottom:1px solid var(--line);padding:.25rem .5rem;
text-align:right;white-space:nowrap}.head th{white-space:normal;min-width:5rem}td:first-child,th:first-child{text-align:left}.note{background:var(--note);padding:.75rem 1rem;
border-radius:.4rem}small,figcaption{color:var(--faint)}pre{overflow-x:auto;font-size:.8rem}li{overflow-wrap:anywhere}
@media print{:root{--paper:#fff;--ink:#000}body{max-width:none}figure,tr{break-inside:avoid}details{display:none}}
"""


def label(results: Results) -> str:
    """The label of a file of results."""
    return str(results.environment.get("label", ""))


def curve_points(results: Results, link: str, way: str) -> list[Point]:
    """The points with one client and 64 bytes, by offered load; those without a limit come last."""
    found = {one.point for one in results.samples if one.link == link and one.point.way == way}
    return sorted((one for one in found if one.size == 64 and one.clients == 1), key=lambda one: one.load or float("inf"))


def marks_of(results: Results, link: str, way: str) -> list[list[Mark]]:
    """The marks of a way in the three drawings. A load is drawn where it was offered. A point without a limit is drawn
    at the rate that was reached, if that is to the right of all loads."""
    found: list[list[Mark]] = [[], [], []]
    last = 0.0
    for point in curve_points(results, link, way):
        wanted = (plain("rate"), net_cpus(results), cpu_us(results), plain("p50_us"))
        rate, cpus, each, trip = (estimate(results, link, point, figure) for figure in wanted)
        if not rate or not cpus or not each:
            continue
        at, x = f"{point.name}, {number(rate.value)} messages/s", float(point.load or rate.value)
        if x > last:
            found[0].append(mark(x, cpus.value, cpus.low, cpus.high, at, "CPUs"))
            found[1].append(mark(x, each.value, each.low, each.high, at, "us of CPU"))
        last = max(last, x)
        if trip:
            found[2].append(mark(each.value, trip.value, trip.low, trip.high, at, "us round trip"))
    return found


def drawings(all_results: list[Results], link: str) -> list[Drawing]:
    """Three drawings: CPU by load, CPU per message by load, and round trip by CPU per message."""
    curves: list[list[Curve]] = [[], [], []]
    for results in all_results:
        for way in ways_of(results, link):
            name = f"{way} ({label(results)})" if len(all_results) > 1 else way
            for one, marks in zip(curves, marks_of(results, link, way)):
                if marks:
                    one.append(Curve(name, marks))
    load = "messages a second offered"
    wanted = [
        Drawing(f"{link}-cpu", "CPU of the machine by load", load, "CPUs busy", many(curves[0])),
        Drawing(f"{link}-cpu-message", "CPU a message by load", load, "us of CPU a message", many(curves[1])),
        Drawing(f"{link}-round-trip", "Round trip by CPU a message", "us of CPU a message", "us round trip (p50)", curves[2]),
    ]
    return [one for one in wanted if one.curves]


def many(curves: list[Curve]) -> list[Curve]:
    """The curves with more than one mark; if there are none, all curves."""
    return [curve for curve in curves if len(curve.marks) > 1] or curves


def row(*cells: object, head: bool = False) -> str:
    """A row of a table."""
    tag = "th" if head else "td"
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def cell(one: Any) -> str:
    """A median and its interval, or a dash."""
    return f"{number(one.value)} [{number(one.low)}, {number(one.high)}]" if one else "-"


def table(results: Results, link: str) -> str:
    """The table of all points of a link."""
    points = list(dict.fromkeys(one.point for one in results.samples if one.link == link))
    us, net = cpu_us(results), net_cpus(results)
    counted = [name for name in ("instructions", "cache_misses") if any(f"perf_{name}" in one.figures for one in results.samples)]
    rows = [row("point", "messages/s", "round trip p50 (us)", "p99", "MB/s", "CPUs", "us of CPU a message", "client CPUs",
                "server CPUs", "switches a message", *(f"{name.replace('_', ' ')} a message" for name in counted),
                "CPU x", "CPU beside its reference", "rounds", head=True)]  # fmt: skip
    for point in points:
        figures = [estimate(results, link, point, figure) for figure in (
            plain("rate"), plain("p50_us"), plain("p99_us"), plain("mb_per_second"), net, us, plain("client_cpus"),
            plain("server_cpus"), a_message(plain("switches")), *(a_message(plain(f"perf_{name}")) for name in counted))]  # fmt: skip
        other = reference(point, points)
        beside = ratio(series(results, link, point, us), series(results, link, other, us)) if other else None
        word = f"{verdict(beside)} ({other.way})" if other else ""
        count = max((one.rounds for one in figures if one), default=0)
        rows.append(row(point.name, *(cell(one) for one in figures), cell(beside), word, count))
    return f'<div class="wide"><table>{"".join(rows)}</table></div>'


def environment(results: Results) -> str:
    """Machine, versions, command lines, what is missing or failed."""
    rows = []
    for name, value in [*results.environment.items(), *results.options.items()]:
        text = value if isinstance(value, str) else json.dumps(value)
        rows.append(row(name, text or "-").replace("<td>", '<td style="text-align:left;white-space:normal">'))
    commands = "\n".join(f"{line}" for lines in results.commands.values() for line in lines)
    fold = f"<details><summary>Command lines</summary><pre>{escape(commands)}</pre></details>"
    told = [f"<table>{''.join(rows)}</table>", fold]
    for title, lines in (
        ("Not measured", results.missing),
        ("Failed", [f"{one['point']}, {one['link']}, round {one['round']}: {one['why']}" for one in results.failures]),
        ("Notes", results.notes),
    ):
        if lines:
            told.append(f"<h3>{title}</h3><ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>")
    return "".join(told)


def samples(results: Results) -> str:
    """All samples, in an element that the reader can open."""
    rows = [row("link", "point", "round", "figures", head=True)]
    for one in results.samples:
        figures = ", ".join(f"{name} {value:.6g}" for name, value in one.figures.items())
        rows.append(row(one.link, one.point.name, one.round, figures))
    table_ = f'<div class="wide"><table>{"".join(rows)}</table></div>'
    return f"<details><summary>All {len(results.samples)} samples</summary>{table_}</details>"


HOW = (
    "Each figure is the median over the rounds; beside it the interval in which 95 % of the medians of other draws from "
    "the same rounds lie. Ratios are made round by round. No sample is left out. CPU is that of the whole machine, "
    "measured as the time of all CPUs less their idle time, within 20 ms of each window, less what the machine does by "
    f"itself. 'Idle' is {IDLE} message a second. A load stands where it was offered; what was reached is shown on hover."
)


def banner(results: Results) -> str:
    """A note if this machine's absolute times have no meaning."""
    why = results.environment.get("emulated")
    text = f"<strong>Emulated:</strong> {escape(str(why))}. Absolute times mean nothing outside of this run; ratios do, with care."
    notes = [text] * bool(why) + [escape(restless(results))] * bool(restless(results))
    return "".join(f'<p class="note">{note}</p>' for note in notes)


def section(results: Results, links: list[str], alone: bool) -> str:
    """The page's part about one file of results."""
    name = "" if alone else f"<h2>{escape(label(results))}</h2>"
    told = conclusions(results)
    parts = [name, banner(results)]
    aims = targets(results)
    for link in [*links, "machine"]:
        lines = "".join(f"<li>{escape(line)}</li>" for line in told.get(link, []))
        if lines:
            parts.append(f"<h3>{'This machine' if link == 'machine' else escape(link)}</h3><ul>{lines}</ul>")
        rows = headline(results, link) if link in links else []
        if len(rows) > 1:
            told_rows = "".join(row(*cells, head=cells is rows[0]) for cells in rows)
            parts.append(f'<div class="wide"><table class="head">{told_rows}</table></div>')
        mine = "".join(f"<li>{escape(describe_target(one))}</li>" for one in aims if one.link == link)
        if mine:
            parts.append(f"<details><summary>Our targets beside other programs</summary><ul>{mine}</ul></details>")
    return "".join(parts)


def agreements(all_results: list[Results]) -> list[str]:
    """Compares each of several results with the first."""
    first = all_results[0]
    return [line for other in all_results[1:] for line in say(compare(first, other), (label(first), label(other)))]


def page(all_results: list[Results]) -> str:
    """The page as HTML."""
    links = list(dict.fromkeys(one.link for results in all_results for one in results.samples))
    alone = len(all_results) == 1
    body = ["<h1>What each way of waiting costs, and what it gives</h1>"]
    if not alone:
        body.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in agreements(all_results)) + "</ul>")
    body += [section(results, links, alone) for results in all_results]
    for link in links:
        body.append(f"<h2>Curves: {escape(link)}</h2>")
        for one in drawings(all_results, link):
            note = f"{escape(one.title)}. Point at a mark for its values."
            body.append(f'<figure><div class="wide">{draw(one)}</div><figcaption>{note}</figcaption></figure>')
        for results in all_results:
            body.append(f"<h2>Table: {escape(link)} {escape(label(results))}</h2>{table(results, link)}")
    body.append(f"<p><small>{escape(HOW)}</small></p>")
    for results in all_results:
        body.append(f"<h2>Where, and how {escape(label(results))}</h2>{environment(results)}{samples(results)}")
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    title = "<title>The comparison of ways to wait</title>"
    style = f"<style>{STYLE}{PLOT_STYLE.replace('svg{', 'svg{display:block;').replace('color:#222', 'color:inherit')}</style>"
    return f'<!DOCTYPE html><html lang="en"><head>{head}{title}{style}</head><body>{"".join(body)}</body></html>\n'


def text_table(rows: list[list[str]]) -> list[str]:
    """A table for the terminal. Its titles are long, so they are a list of numbered columns."""
    told = [f"  ({n}) {title}" for n, title in enumerate(rows[0][1:], 1)]
    cells = [[rows[0][0], *(f"({n})" for n in range(1, len(rows[0])))]]
    cells += [[line[0], *(one.partition(" (")[0] for one in line[1:])] for line in rows[1:]]
    widths = [max(len(line[n]) for line in cells) for n in range(len(cells[0]))]
    for line in cells:
        told.append("  " + line[0].ljust(widths[0]) + "".join("  " + one.rjust(width) for one, width in zip(line[1:], widths[1:])))
    return told


def summary(results: Results) -> str:
    """The summary for the terminal."""
    lines = []
    for link, told in conclusions(results).items():
        lines += [f"{link}:", *(f"  {line}" for line in told)]
        lines += text_table(headline(results, link)) if link != "machine" else []
        lines += [f"  {describe_target(one)}" for one in targets(results) if one.link == link]
    if results.environment.get("emulated"):
        lines.append(f"Absolute times mean nothing elsewhere: {results.environment['emulated']}.")
    return "\n".join(lines)
