#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""verbs-trace --html OUT.html [--packets FILE] TRACE.json...: draws the picture of a run, one HTML file.

Place: run by verbs-trace (launcher.c). Contract: the traces are written by `verbs-trace -j`, one file for each
program, and the packets by `make capture`. Damaged lines are left out, and the page says so. OUT.html needs no other
file; it is written completely or not at all. Exit status: 0; 1 if OUT.html cannot be written; 2 for wrong usage or if
a file is no trace.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True

import clocks  # noqa: E402
import packets  # noqa: E402
import peers  # noqa: E402
import records  # noqa: E402
import transfers  # noqa: E402
from layout import Drawing, Lane, table  # noqa: E402

HERE = Path(__file__).resolve().parent
USAGE = """usage: verbs-trace --html OUT.html [--packets PACKETS.json] TRACE.json...
Draws what `verbs-trace -j -o TRACE.json` has written of one or more programs, such as a server and its
client. With -n each trace has the states that librdmacm sets, with -w the waits in poll(2).
  --packets FILE  also the packets between the two hosts, as make capture of this suite writes them
"""


def crossings(found: list[peers.Message]) -> list[clocks.Crossing]:
    """Returns the messages between two traces."""
    between = []
    for message in found:
        sender, receiver = message.send.post, message.receive.done
        if receiver and sender.process.trace != receiver.process.trace:
            numbers = sender.process.trace, receiver.process.trace
            between.append(clocks.Crossing(*numbers, sender.time, receiver.end))
    return between


def of_clock(name: str, clock: clocks.Clock) -> str:
    """Says how well a clock is known; nothing for one that needed no match."""
    if clock.known_to is None and not clock.messages:
        return f"{name}: no message to another trace is known: its clock is taken as it is"
    if clock.known_to is None:
        return f"{name}: messages in one direction only: it may be later by any time"
    if not clock.messages:
        return ""
    drift = f", and its rate by {1e6 * clock.rate:.1f} ppm" if clock.rate else ""
    return f"{name}: its clock is matched by {clock.messages} messages, to ±{clock.known_to / 1000:.1f} µs{drift}"


def notes(traces: list[records.Trace], capture: packets.Capture | None, found: list[clocks.Clock]) -> list[str]:
    """Returns notes for the reader of the page."""
    told = []
    for number, (trace, clock) in enumerate(zip(traces, found)):
        name = Path(trace.path).name
        if trace.damaged:
            lines = "1 line" if trace.damaged == 1 else f"{trace.damaged} lines"
            told.append(f"{name}: {lines} cannot be read, the first is number {trace.first_damaged}; left out")
        if number:
            told.append(of_clock(name, clock))
    if capture:
        told.append(of_clock(capture.name, found[-1]))
    return [text for text in told if text]


def strange(number: int) -> list[str]:
    """Returns a note about completions whose posts are not in the trace."""
    return [f"{number} completions of work requests whose posts are not in the traces"] if number else []


def label(process: records.Process, trace: records.Trace) -> str:
    """Returns the name of a process: its program, or the name of its file."""
    if not process.program:
        return f"{Path(trace.path).stem} ({process.pid})"
    return "/".join(Path(process.program[0]).parts[-2:])


def add_network(data: dict[str, Any], capture: packets.Capture, lanes: list[Lane]) -> None:
    """Puts the packets' lanes between those of the first program and of the others."""
    for known in (*data["lanes"], *data["objects"]):
        known["process"] += known["process"] > 0
    network = {"label": "the network", "program": f"packets of {capture.name}", "pid": ""}
    data["processes"].insert(1, network)
    for lane in lanes:
        lane.process = 1
    data["lanes"] += [{**lane_data(lane), "packets": True} for lane in lanes]


def lane_data(lane: Lane) -> dict[str, Any]:
    """Returns a lane as the page reads it."""
    return {
        "process": lane.process,
        "name": lane.name,
        "levels": [vars(series) for series in lane.levels],
        "empty": vars(lane.empty),
        "requests": [vars(series) for series in lane.requests],
    }


def picture(traces: list[records.Trace], capture: packets.Capture | None) -> dict[str, Any]:
    """Returns all that the page draws."""
    processes = [process for trace in traces for process in trace.processes.values()]
    queues = {process: transfers.follow(process) for process in processes}
    pairs = [pair for process in processes for pair in peers.of_process(process)]
    peers.join(pairs, queues)
    sent = [(pair, peers.messages(pair, queues)) for pair in pairs]
    found = [message for _, messages in sent for message in messages]
    starts: list[tuple[str, int | None]] = [(trace.boot, trace.start) for trace in traces]
    between = crossings(found)
    if capture:
        starts.append(("", None))
        between += packets.crossings(capture, len(traces), sent)
    matched = clocks.match(starts, between)
    drawing = Drawing(processes, matched, queues)
    labels = [label(process, traces[process.trace]) for process in processes]
    data = {
        "title": ", ".join(dict.fromkeys(labels)),
        "notes": notes(traces, capture, matched) + strange(sum(q.strange for q in queues.values())),
        "accusations": [f"{labels[i]}: {text}" for i, p in enumerate(processes) for text in p.accusations],
        "processes": [
            {"label": name, "program": " ".join(process.program), "pid": process.pid}
            for name, process in zip(labels, processes)
        ],
        "end": drawing.end,
        "messages": drawing.messages(found, pairs),
        "objects": drawing.objects(),
        "table": table(drawing, found),
        "lanes": [lane_data(lane) for lane in drawing.lanes],
    }
    if capture:
        add_network(data, capture, packets.lanes(capture, matched[-1], drawing))
    data["words"] = list(drawing.words.known)
    return data


def page(data: dict[str, Any]) -> str:
    """Returns the HTML. No text of a trace can end the element that contains it."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    parts = {
        "/*SCRIPT*/": "".join((HERE / name).read_text(encoding="utf-8") for name in ("view.js", "draw.js", "page.js")),
        "/*TRACE*/": text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"),
    }
    html = (HERE / "page.html").read_text(encoding="utf-8")
    for mark, part in parts.items():
        before, _, after = html.partition(mark)
        html = before + part + after
    return html


def write(path: Path, text: str) -> None:
    """Writes the whole file, or none."""
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
    paths, capture = arguments[1:], None
    try:
        if paths[0] == "--packets" and len(paths) > 2:
            capture, paths = packets.read(paths[1]), paths[2:]
        traces = [records.read(path, number) for number, path in enumerate(paths)]
    except records.Unreadable as error:
        print(f"verbs-trace: {error}", file=sys.stderr)
        return 2
    try:
        write(Path(arguments[0]), page(picture(traces, capture)))
    except OSError as error:
        print(f"verbs-trace: {arguments[0]}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
