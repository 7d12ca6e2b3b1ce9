#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""verbs-trace --html OUT.html TRACE.json...: the picture of a run, one HTML file that needs nothing else.

Place: run by verbs-trace (launcher.c). Contract: the traces are what `verbs-trace -j` writes, one file for each
program; damaged lines are left out, and said to be. Exit status: 0 done, 1 OUT.html cannot be written, 2 wrong usage
or no trace. OUT.html is written whole or not at all.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True

import clocks  # noqa: E402
import peers  # noqa: E402
import records  # noqa: E402
import tables  # noqa: E402
import transfers  # noqa: E402
from layout import Drawing  # noqa: E402

HERE = Path(__file__).resolve().parent
USAGE = """usage: verbs-trace --html OUT.html TRACE.json...
Draws what `verbs-trace -j -o TRACE.json` has written of one or more programs, such as a server and its
client. With -n each trace has the states that librdmacm sets, with -w the waits in poll(2).
"""


def crossings(found: list[peers.Message]) -> list[clocks.Crossing]:
    """The messages between two traces."""
    between = []
    for message in found:
        sender, receiver = message.send.post, message.receive.done
        if receiver and sender.process.trace != receiver.process.trace:
            numbers = sender.process.trace, receiver.process.trace
            between.append(clocks.Crossing(*numbers, sender.time, receiver.end))
    return between


def notes(traces: list[records.Trace], found: list[clocks.Clock], strange: int) -> list[str]:
    """What a reader of the page has to know."""
    told = []
    for number, (trace, clock) in enumerate(zip(traces, found)):
        name = Path(trace.path).name
        if trace.damaged:
            lines = "1 line" if trace.damaged == 1 else f"{trace.damaged} lines"
            told.append(f"{name}: {lines} cannot be read, the first is number {trace.first_damaged}; left out")
        if not number:
            continue
        if clock.known_to is None and not clock.messages:
            told.append(f"{name}: no message to another trace is known: its clock is taken as it is")
        elif clock.known_to is None:
            told.append(f"{name}: messages in one direction only: it may be later by any time")
        elif clock.messages:
            drift = f", and its rate by {1e6 * clock.rate:.1f} ppm" if clock.rate else ""
            told.append(
                f"{name}: its clock is matched by {clock.messages} messages, to ±{clock.known_to / 1000:.1f} µs{drift}"
            )
    if strange:
        told.append(f"{strange} completions of work requests whose posts are not in the traces")
    return told


def label(process: records.Process, trace: records.Trace) -> str:
    """What a process is called: its program, or the name of its file."""
    if not process.program:
        return f"{Path(trace.path).stem} ({process.pid})"
    return "/".join(Path(process.program[0]).parts[-2:])


def picture(traces: list[records.Trace]) -> dict[str, Any]:
    """What the page draws."""
    processes = [process for trace in traces for process in trace.processes.values()]
    queues = {process: transfers.follow(process) for process in processes}
    pairs = [pair for process in processes for pair in peers.of_process(process)]
    peers.join(pairs, queues)
    found = [message for pair in pairs for message in peers.messages(pair, queues)]
    matched = clocks.match([(trace.boot, trace.start) for trace in traces], crossings(found))
    drawing = Drawing(processes, matched, queues)
    labels = [label(process, traces[process.trace]) for process in processes]
    data = {
        "title": ", ".join(dict.fromkeys(labels)),
        "notes": notes(traces, matched, sum(q.strange for q in queues.values())),
        "accusations": [f"{labels[i]}: {text}" for i, p in enumerate(processes) for text in p.accusations],
        "processes": [
            {"label": name, "program": " ".join(process.program), "pid": process.pid}
            for name, process in zip(labels, processes)
        ],
        "end": drawing.end,
        "messages": drawing.messages(found, pairs),
        "objects": drawing.objects(),
        "table": tables.of(drawing, found),
        "lanes": [
            {
                "process": lane.process,
                "name": lane.name,
                "levels": [vars(series) for series in lane.levels],
                "empty": vars(lane.empty),
                "requests": [vars(series) for series in lane.requests],
            }
            for lane in drawing.lanes
        ],
    }
    data["words"] = list(drawing.words.known)
    return data


def page(data: dict[str, Any]) -> str:
    """The HTML. No text of a trace can end the element that it stands in."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    parts = {
        "/*STYLE*/": (HERE / "page.css").read_text(encoding="utf-8"),
        "/*SCRIPT*/": "".join((HERE / name).read_text(encoding="utf-8") for name in ("view.js", "draw.js", "page.js")),
        "/*TRACE*/": text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"),
    }
    html = (HERE / "page.html").read_text(encoding="utf-8")
    for mark, part in parts.items():
        before, _, after = html.partition(mark)
        html = before + part + after
    return html


def write(path: Path, text: str) -> None:
    """The whole file, or none."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8", errors="replace")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def main(arguments: list[str]) -> int:
    """Returns the exit status."""
    if len(arguments) < 2 or arguments[0].startswith("-"):
        wanted = arguments[:1] in (["-h"], ["--help"])
        print(USAGE, end="", file=sys.stdout if wanted else sys.stderr)
        return 0 if wanted else 2
    try:
        traces = [records.read(path, number) for number, path in enumerate(arguments[1:])]
    except records.Unreadable as error:
        print(f"verbs-trace: {error}", file=sys.stderr)
        return 2
    try:
        write(Path(arguments[0]), page(picture(traces)))
    except OSError as error:
        print(f"verbs-trace: {arguments[0]}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
