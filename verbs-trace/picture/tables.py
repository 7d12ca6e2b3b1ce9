# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tables of times: calls by verb, work requests and messages by opcode.

Place: part of picture.py. Contract: each row says where the longest is, so that the page can show it.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from layout import ERROR, FLUSH, Drawing, flags_of
from peers import Message

Key = tuple[str, int, str]  # what, whose and which


@dataclass(frozen=True, order=True)
class Sample:
    """One of a row."""

    took: int
    when: int
    lane: int
    failed: bool = False
    times: int = 1


def _row(key: Key, samples: list[Sample]) -> dict[str, Any]:
    took = sorted(sample.took for sample in samples)
    longest = max(samples)
    return {
        "what": key[0],
        "process": key[1],
        "name": key[2],
        "n": sum(sample.times for sample in samples),
        "errors": sum(sample.failed for sample in samples),
        "total": sum(took),
        "median": took[len(took) // 2],
        "max": longest.took,
        "at": longest.when,
        "lane": longest.lane,
    }


def of(drawing: Drawing, found: list[Message]) -> list[dict[str, Any]]:
    """All rows, those that took longest first."""
    table: defaultdict[Key, list[Sample]] = defaultdict(list)
    for index, process in enumerate(drawing.processes):
        for call in process.calls:
            if not call.depth:
                name = f"{call.name}, empty" if call.times else call.name
                when, failed = drawing.at(process, call.time), bool(flags_of(call) & ERROR)
                sample = Sample(call.took, when, drawing.lane(call), failed, call.times or 1)
                table["call", index, name].append(sample)
        for request in drawing.queues[process].requests:
            if request.done:
                begin = drawing.at(process, request.post.time)
                took = drawing.at(process, request.done.end) - begin
                failed = bool(drawing.request_flags(request) & (ERROR | FLUSH))
                sample = Sample(took, begin, drawing.lane(request.post), failed)
                table["work request", index, request.opcode].append(sample)
    for message in found:
        sender, receiver = message.send.post, message.receive.done
        assert receiver
        begin = drawing.at(sender.process, sender.time)
        took = drawing.at(receiver.process, receiver.end) - begin
        key = ("message", drawing.processes.index(sender.process), message.send.opcode)
        table[key].append(Sample(took, begin, drawing.lane(sender)))
    rows = [_row(key, samples) for key, samples in table.items()]
    return sorted(rows, key=lambda row: (row["what"], -row["total"]))
