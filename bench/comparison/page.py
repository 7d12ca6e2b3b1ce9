# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The report as one HTML file: the answer on the first screen; tables, conclusions, environment, every sample folded.

Place: below report.py. Contract: the page loads nothing and needs no script; text from programs and files is escaped.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from . import answers, displaced, foretold, picture, plots
from .agreement import compare, say
from .answers import Answer, cell_text
from .clauses import WAYS, caveat, failed
from .conclusions import conclusions, number, restless
from .limits import describe_target, targets
from .plan import IDLE
from .statistics import (a_message, cpu_us, estimate, net_cpus, plain, preempted, ratio, reference, series, verdict)  # fmt: skip
from .store import Results
from .words import CANNOT, Figure

STYLE = f""":root{{color-scheme:light dark}}{picture.VARIABLES}{picture.STYLE}
body{{background:var(--paper);color:var(--ink);font:16px/1.45 system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;margin:0 auto;
max-width:62rem;padding:1rem 1.25rem 3rem}}body.several{{max-width:none}}.several main{{display:grid;gap:2rem;
grid-template-columns:repeat(auto-fit,minmax(min(30rem,100%),1fr))}}article{{min-width:0;container-type:inline-size}}
h1{{font-size:clamp(1.3rem,1rem + 1vw,1.6rem);line-height:1.25;text-wrap:balance;margin:.2rem 0 .5rem}}
.over,figcaption{{color:var(--faint);font-size:.9rem;margin:0}}.caveat{{color:var(--faint);font-size:.9rem;margin:0}}
.note{{border-left:5px solid var(--b);background:var(--wash);padding:.5rem .8rem;margin:.6rem 0}}
.t{{border-collapse:collapse;width:100%;margin:.8rem 0}}.t th,.t td{{padding:.35rem .7rem .35rem 0;text-align:left;vertical-align:top;
border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}}.t thead th{{color:var(--faint);font-weight:400;font-size:.85rem;
line-height:1.25;vertical-align:bottom}}.t tbody th{{white-space:nowrap}}.t .w{{font-size:.9rem;line-height:1.3;max-width:13rem}}
.best{{font-weight:700}}.no{{color:var(--faint);font-style:italic}}.bar{{display:block;height:5px;margin-top:.25rem;border-radius:1px}}
figure{{margin:.6rem 0}}figure svg{{display:block;width:100%;height:auto}}figure .small{{display:none}}.plots{{display:grid;
gap:0 1.5rem;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr))}}
details{{border-top:1px solid var(--line);padding:.4rem 0}}summary{{cursor:pointer}}.wide{{overflow-x:auto}}
details table{{border-collapse:collapse;font-size:.8rem}}details td,details th{{padding:.2rem .5rem;border-bottom:1px solid var(--line);
text-align:left}}small{{color:var(--faint)}}pre{{overflow-x:auto;font-size:.8rem}}li{{overflow-wrap:anywhere}}
@container(max-width:42rem){{figure .large{{display:none}}figure .small{{display:block;max-width:30rem}}}}
@media(max-width:34rem){{body{{padding:.75rem .8rem 2rem}}
.t thead{{display:none}}.t,.t tbody,.t tr,.t td,.t th{{display:block;border:0}}.t tr{{border-bottom:1px solid var(--line);padding:.4rem 0}}
.t td,.t th,.t .w{{padding:.1rem 0;font-size:.9rem;max-width:none}}.t [title]::before{{content:attr(title) ": ";color:var(--faint);font-weight:400}}}}
@media print{{:root{{--paper:#fff;--ink:#000}}body{{max-width:none}}figure,tr{{break-inside:avoid}}}}
"""


def label(results: Results) -> str:
    """The label of a file of results."""
    return str(results.environment.get("label", ""))


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
    power = any("watts" in one.figures for one in results.samples)
    others = ["lost_cpus", "lost_by_computing", "lost_by_walking"] if any(point.workers for point in points) else []
    rows = [row("point", "messages/s", "round trip p50 (us)", "p99", "p99.9", "MB/s", "CPUs", "us of CPU a message", "client CPUs",
                "server CPUs", "switches a message", *(f"{name.replace('_', ' ')} a message" for name in counted),
                *(["mJ a message"] if power else []), "preempted a second", *(["CPUs of work lost", "part lost by computing",
                "by walking"] if others else []), "CPU x", "CPU beside its reference", "rounds", head=True)]  # fmt: skip
    for point in points:
        figures = [estimate(results, link, point, figure) for figure in (
            plain("rate"), plain("p50_us"), plain("p99_us"), plain("p99_9_us"), plain("mb_per_second"), net, us, plain("client_cpus"),
            plain("server_cpus"), a_message(plain("switches")), *(a_message(plain(f"perf_{name}")) for name in counted),
            *([a_message(plain("watts"), 1000)] if power else []), preempted, *map(plain, others))]  # fmt: skip
        other = reference(point, points)
        beside = ratio(series(results, link, point, us), series(results, link, other, us)) if other else None
        word = f"{verdict(beside)} ({other.way})" if other else ""
        count = max((one.rounds for one in figures if one), default=0)
        rows.append(row(point.name, *(cell(one) for one in figures), cell(beside), word, count))
    return f'<div class="wide"><table>{"".join(rows)}</table></div>'


def environment(results: Results) -> str:
    """Returns machine, versions, command lines, and anything missing or failed."""
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
    f"itself. 'Idle' is {IDLE} message a second. A point stands at the rate that was reached; an offered rate that was not kept has none."
)


def banner(results: Results) -> str:
    """A note if this machine's absolute times have no meaning."""
    why = results.environment.get("emulated")
    text = f"<strong>Emulated:</strong> {escape(str(why))}. Absolute times mean nothing outside of this run; ratios do, with care."
    notes = [text] * bool(why) + [escape(restless(results))] * bool(restless(results))
    return "".join(f'<p class="note">{note}</p>' for note in notes)


def bar(cell_: Figure | str | None, most: float, colour: str) -> str:
    """A bar as long as the figure, beside the largest one of its column; the last part of it is uncertain."""
    if not isinstance(cell_, Figure) or cell_.text == CANNOT or not most:
        return ""
    whole, solid = min(cell_.one.high, most), max(0.0, cell_.one.value)
    width, part = 100 * max(whole, solid) / most, 100 * solid / max(whole, solid, 1e-12)
    fade = f"linear-gradient(90deg,{colour} {part:.0f}%,color-mix(in srgb,{colour} 30%,transparent) 0)"
    return f'<span class="bar" style="width:{max(0.5, width):.1f}%;background:{fade}"></span>'


def answer_table(answer: Answer) -> str:
    """Returns the table of the first screen. A bold figure: none of its column is less for sure."""
    colours = dict(zip(WAYS.values(), picture.COLOURS))
    head = "".join(f"<th>{escape(title)}</th>" for title in [answer.what, *answer.columns])
    body, flags = "", answers.marks(answer) if answer.bounds else []
    most = [max((cells[n].one.value for _, cells in answer.rows if isinstance(cells[n], Figure)), default=0.0)  # type: ignore[union-attr]
            for n in range(len(answer.columns))]  # fmt: skip
    for at, (name, cells) in enumerate(answer.rows):
        colour = colours.get(name, "var(--b)")
        what = f' title="{escape(answer.what)}"' if answer.what else ""
        told = f'<th style="color:{colour}"{what}>{escape(name)}</th>'
        for n, one in enumerate(cells):
            said = cell_text(one)
            kind = "w" if isinstance(one, str) else "best" if flags and flags[at][n] else ""
            kind += " no" if said == CANNOT or said.startswith("perhaps") else ""
            told += f'<td class="{kind}" title="{escape(answer.columns[n])}">{escape(said)}{bar(one, most[n], colour)}</td>'
        body += f"<tr>{told}</tr>"
    return f'<table class="t"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def drawn(results: Results, link: str, answer: Answer) -> str:
    """Returns the picture, large and for a phone, or small ones, with a legend."""
    note = "A point is the median of the rounds, the bar on it where the median of other rounds would lie (95 %). "
    small = plots.draw(answer)
    if small:
        return f'<figure><div class="plots">{small}</div><figcaption>{note}Hollow, with ?: fewer than three rounds.</figcaption></figure>'
    large = picture.draw(results, link, answer, height=300 if answer.notes else 400) if answer.bounds else ""
    if not large:
        return ""
    small = picture.draw(results, link, answer, width=340, height=300).replace('"hatch"', '"hatch2"').replace("#hatch", "#hatch2")
    note += "Hatched: cannot tell, or more than one sleeping connection carries."
    note += " Dotted: predicted before any load." if foretold.law_of(results, link) else ""
    return f'<figure><div class="large">{large}</div><div class="small">{small}</div><figcaption>{note}</figcaption></figure>'


def first_screen(results: Results, link: str, answer: Answer, alone: bool) -> str:
    """Returns the answer, its basis, a table, a picture."""
    where = "" if alone else f"{label(results)} {link}: "
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in answer.notes)
    parts = [f'<p class="over">{escape(where + answer.about)}</p><h1>{escape(answer.title)}</h1>{notes}']
    parts.append(f'<p class="caveat">{escape(caveat(results, link))}</p>{answer_table(answer)}{drawn(results, link, answer)}')
    return f"<article>{''.join(parts)}</article>"


def fold(title: str, body: str) -> str:
    """Something that the reader can open."""
    return f"<details><summary>{escape(title)}</summary>{body}</details>" if body else ""


def folded(results: Results, links: list[str], alone: bool) -> str:
    """Returns the rest of the page, after the first screen, for one file of results."""
    of = "" if alone else f" ({label(results)})"
    told = conclusions(results)
    lines, aims = "", targets(results)
    for link in [*links, "machine"]:
        items = [*told.get(link, []), *(describe_target(one) for one in aims if one.link == link)]
        listed = "".join(f"<li>{escape(line)}</li>" for line in items)
        lines += f"<h3>{'This machine' if link == 'machine' else escape(link)}</h3><ul>{listed}</ul>" if listed else ""
    foresight = "".join(f"<h3>{escape(link)}</h3>{foretold.table(results, link)}" for link in links if foretold.rows(results, link))
    tables = "".join(f"<h3>{escape(link)}</h3>{table(results, link)}" for link in links)
    why = failed(results)
    return "".join(
        [
            f'<p class="caveat">{escape(why)}</p>' if why else "",
            fold(f"Every load and every program, with intervals{of}", tables),
            fold(f"Predicted before any load, beside what was measured{of}", foresight),
            fold(f"All conclusions, and what a wake-up costs here{of}", banner(results) + lines),
            fold(f"Machine, versions, command lines, failures{of}", environment(results)),
            samples(results),
        ]
    )


def agreements(all_results: list[Results]) -> list[str]:
    """Compares each of several results with the first."""
    first = all_results[0]
    return [line for other in all_results[1:] for line in say(compare(first, other), (label(first), label(other)))]


def page(all_results: list[Results]) -> str:
    """The page as HTML."""
    screens = [
        (results, link, answer)
        for results in all_results
        for link in dict.fromkeys(one.link for one in results.samples)
        for answer in displaced.screens(results, link)
    ]
    alone = len(screens) == 1
    body = "".join(first_screen(*screen, alone) for screen in screens) or "<h1>Nothing was measured.</h1>"
    body = f"<main>{body}</main>"
    if len(all_results) > 1:
        body += "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in agreements(all_results)) + "</ul>"
    for results in all_results:
        links = list(dict.fromkeys(one.link for one in results.samples))
        body += folded(results, links, len(all_results) == 1)
    body += fold("How it was measured", f"<p>{escape(HOW)}</p>")
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    title = screens[0][2].title if screens else "Nothing was measured"
    kind = "" if alone else ' class="several"'
    return (
        f'<!DOCTYPE html><html lang="en"><head>{head}<title>{escape(title)}</title><style>{STYLE}</style></head>'
        f"<body{kind}>{body}</body></html>\n"
    )


def summary(results: Results) -> str:
    """The summary for the terminal."""
    lines = []
    for link in dict.fromkeys(one.link for one in results.samples):
        for answer in displaced.screens(results, link):
            lines += [f"{link}: {answer.about}", *(f"  {line}" for line in answers.text(answer, results, link))]
        lines += [f"  {line}" for line in foretold.say(results, link)]
        lines += [f"  {describe_target(one)}" for one in targets(results) if one.link == link]
    lines += conclusions(results)["machine"]
    return "\n".join([*lines, *([failed(results)] if failed(results) else [])])
