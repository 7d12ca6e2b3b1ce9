# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tables of times: calls by verb, work requests and messages by opcode.

Place: part of picture.py. Contract: each row says where the longest is, so that the page can show it.
"""

from __future__ import annotations

from typing import Any

from layout import ERROR, FLUSH, Drawing, flags_of
from peers import Message

Sample = tuple[int, int, int]  # how long, when, in which lane


class Table:
    """Rows by what, whose and which."""

    def __init__(self) -> None:
        """None yet."""
        self.rows: dict[tuple[str, int, str], list[Sample]] = {}
        self.errors: dict[tuple[str, int, str], int] = {}
        self.times: dict[tuple[str, int, str], int] = {}

    def add(self, key: tuple[str, int, str], sample: Sample, failed: bool, times: int = 1) -> None:
        """One more of a row."""
        self.rows.setdefault(key, []).append(sample)
        self.errors[key] = self.errors.get(key, 0) + failed
        self.times[key] = self.times.get(key, 0) + times

    def told(self) -> list[dict[str, Any]]:
        """The rows, those that took longest first."""
        found = []
        for key, samples in self.rows.items():
            took = sorted(sample[0] for sample in samples)
            longest = max(samples)
            found.append(
                {
                    "what": key[0],
                    "process": key[1],
                    "name": key[2],
                    "n": self.times[key],
                    "errors": self.errors[key],
                    "total": sum(took),
                    "median": took[len(took) // 2],
                    "max": longest[0],
                    "at": longest[1],
                    "lane": longest[2],
                }
            )
        return sorted(found, key=lambda row: (row["what"], -row["total"]))


def of(drawing: Drawing, found: list[Message]) -> list[dict[str, Any]]:
    """All rows."""
    table = Table()
    for index, process in enumerate(drawing.processes):
        for call in process.calls:
            if not call.depth:
                name = f"{call.name}, empty" if call.times else call.name
                sample = (call.took, drawing.at(process, call.time), drawing.lane(call))
                failed = bool(flags_of(call) & ERROR)
                table.add(("call", index, name), sample, failed, call.times or 1)
        for request in drawing.queues[process].requests:
            if request.done:
                begin = drawing.at(process, request.post.time)
                took = drawing.at(process, request.done.end) - begin
                failed = bool(drawing.request_flags(request) & (ERROR | FLUSH))
                table.add(("work request", index, request.opcode), (took, begin, drawing.lane(request.post)), failed)
    for message in found:
        sender, receiver = message.send.post, message.receive.done
        assert receiver
        begin = drawing.at(sender.process, sender.time)
        took = drawing.at(receiver.process, receiver.end) - begin
        key = ("message", drawing.processes.index(sender.process), message.send.opcode)
        table.add(key, (took, begin, drawing.lane(sender)), False)
    return table.told()
