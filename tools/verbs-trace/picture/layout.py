# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The data that the page draws: lanes with calls and work requests, messages between them, objects, and
a table of times.

Place: part of picture.py, after the modules that read the traces. Contract: times are whole nanoseconds since the
first call on the first trace's clock. Texts are indices into `words`, which has each text once. The page (page.js)
reads these columns and no others.
"""

import heapq
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import objects
from clocks import Clock
from peers import Message, QueuePair
from records import Call, Process, text_of, text_of_arguments
from transfers import Queues, Request

ERROR, SLEEP, EMPTY, OPEN, FLUSH, RECEIVE, UNKNOWN = (1 << bit for bit in range(7))
SLEEPS = {
    *("poll", "ppoll", "__poll_chk", "__ppoll_chk", "select", "pselect", "epoll_wait", "epoll_pwait"),
    *("ibv_get_cq_event", "rdma_get_cm_event", "rdma_get_request", "ibv_get_async_event"),
}
ROWS = {False: 6, True: 3}  # rows of work requests beneath a lane: sends, and receives
ONE_SIDED = {"RDMA_WRITE", "RDMA_READ", "ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD"}


class Words:
    """Texts by number."""

    def __init__(self) -> None:
        """Begins without texts."""
        self.known: dict[str, int] = {}

    def of(self, text: str) -> int:
        """Returns the number of this text."""
        return self.known.setdefault(text, len(self.known))


@dataclass
class Series:
    """Bars in order of time: begin, length, text and flags of each."""

    t: list[int] = field(default_factory=list)
    d: list[int] = field(default_factory=list)
    w: list[int] = field(default_factory=list)
    f: list[int] = field(default_factory=list)

    def add(self, time: int, took: int, word: int, flags: int) -> None:
        """Adds a bar."""
        self.t.append(time)
        self.d.append(max(0, took))
        self.w.append(word)
        self.f.append(flags)


@dataclass
class Lane:
    """The lane of a thread."""

    process: int
    name: str
    levels: list[Series] = field(default_factory=lambda: [Series()])  # calls, and the calls within them
    empty: Series = field(default_factory=Series)
    requests: list[Series] = field(default_factory=list)


def flags_of(call: Call) -> int:
    """Returns how a call is drawn."""
    flags = (EMPTY if call.times else 0) | (OPEN if call.unfinished else 0)
    if call.name in SLEEPS:
        flags |= SLEEP
    if call.error and not call.depth and call.error not in ("EAGAIN", "EWOULDBLOCK"):
        flags |= ERROR
    found = call.args.get("wc", call.args.get("completion"))
    statuses = {wc.get("status") for wc in found if isinstance(wc, dict)} if isinstance(found, list) else set()
    if statuses - {"SUCCESS", "WR_FLUSH_ERR", None}:
        flags |= ERROR
    return flags | (FLUSH if "WR_FLUSH_ERR" in statuses else 0)


class Drawing:
    """The whole drawing."""

    def __init__(self, processes: list[Process], clocks: list[Clock], queues: dict[Process, Queues]) -> None:
        """Puts each call into its lane."""
        self.processes, self.clocks, self.queues = processes, clocks, queues
        self.words = Words()
        self.origin = min(self._shared(c) for p in processes for c in p.calls)
        self.end = max(self.at(c.process, c.end) for p in processes for c in p.calls)
        self.lanes: list[Lane] = []
        self.number: dict[tuple[Process, int], int] = {}
        for index, process in enumerate(processes):
            for thread in self._threads(index, process):
                self.number[process, thread] = len(self.lanes)
                self.lanes.append(Lane(index, f"t{thread}" if thread else "t?"))
            for call in process.calls:
                self._add_call(call)
            self._add_requests(process)

    def _shared(self, call: Call) -> int:
        return self.clocks[call.process.trace].of(call.time)

    def at(self, process: Process, time: int) -> int:
        """Converts a time of this process to the page's."""
        return self.clocks[process.trace].of(time) - self.origin

    def lane(self, call: Call) -> int:
        """Returns the lane of the thread that made the call."""
        return self.number[call.process, call.thread]

    def _threads(self, index: int, process: Process) -> list[int]:
        """Orders threads so that those with messages are next to the other processes: last in the first process, first in the others."""
        weight = {call.thread: 0 for call in process.calls}
        for request in self.queues[process].requests:
            weight[request.post.thread] += 1
        ordered = sorted(weight, key=lambda t: (weight[t], -t))
        return ordered if index == 0 else ordered[::-1]

    def _add_call(self, call: Call) -> None:
        lane = self.lanes[self.lane(call)]
        if call.times:
            series = lane.empty
        else:
            depth = min(call.depth, 3)
            while len(lane.levels) <= depth:
                lane.levels.append(Series())
            series = lane.levels[depth]
        begin = self.at(call.process, call.time)
        took = self.at(call.process, call.end) - begin
        series.add(begin, took, self.words.of(text_of(call)), flags_of(call))

    def request_text(self, request: Request) -> str:
        """Returns the text of a work request."""
        arguments = text_of_arguments({k: v for k, v in request.wr.items() if k not in ("opcode", "qp")})
        status = request.status or ("no completion of its own" if request.done else "no completion seen")
        return f"{request.opcode} on {request.queue}: {{{arguments}}}: {status}"

    def request_flags(self, request: Request) -> int:
        """Returns how a work request is drawn."""
        flags = RECEIVE if request.opcode == "RECV" else 0
        if request.status == "WR_FLUSH_ERR":
            return flags | FLUSH
        if request.status not in ("", "SUCCESS"):
            flags |= ERROR
        return flags | (0 if request.done else OPEN)

    def _add_requests(self, process: Process) -> None:
        """Puts work requests beneath the lane that posted them, in as few rows as possible, up to a limit."""
        for receives, most in ROWS.items():
            free: dict[int, list[tuple[int, int]]] = {}  # by lane: the time when a row is free, and its number
            first = {n: len(lane.requests) for n, lane in enumerate(self.lanes)}
            for request in sorted(self.queues[process].requests, key=lambda r: r.post.time):
                if (request.opcode == "RECV") != receives:
                    continue
                number = self.lane(request.post)
                rows, lane = free.setdefault(number, []), self.lanes[number]
                begin = self.at(process, request.post.time)
                end = self.at(process, request.done.end) if request.done else self.end
                if (not rows or rows[0][0] > begin) and len(rows) < most:
                    row = first[number] + len(rows)
                    lane.requests.append(Series())
                    heapq.heappush(rows, (end, row))
                else:
                    _, row = heapq.heapreplace(rows, (end, rows[0][1]))
                word = self.words.of(self.request_text(request))
                lane.requests[row].add(begin, end - begin, word, self.request_flags(request))

    def messages(self, found: list[Message], pairs: list[QueuePair]) -> dict[str, list[int]]:
        """Returns lines between lanes, in order of their beginnings: messages with a receive, then
        requests without one, for which only the times of their own side are known."""
        lines: list[tuple[int, int, int, int, int, int]] = []
        for message in found:
            sender, receiver = message.send.post, message.receive.done
            assert receiver
            text = f"{self.request_text(message.send)}, received on {message.receive.qp} with {message.receive.wr_id}"
            ends = self.at(sender.process, sender.time), self.at(receiver.process, receiver.end)
            lines.append((*ends, self.lane(sender), self.lane(receiver), self.words.of(text), 0))
        for pair in pairs:
            if pair.partner:
                lines += self._one_sided(pair, pair.partner)
        lines.sort()
        names = ("t", "u", "from", "to", "w", "f")
        return {name: [line[i] for line in lines] for i, name in enumerate(names)}

    def _one_sided(self, pair: QueuePair, partner: QueuePair) -> list[tuple[int, int, int, int, int, int]]:
        other = [n for (process, _), n in self.number.items() if process is partner.process]
        used = [self.lane(r.post) for r in self.queues[partner.process].requests if r.qp == partner.name]
        to = (used or other)[0]
        return [
            (
                self.at(pair.process, r.post.time),
                self.at(pair.process, r.done.end),
                self.lane(r.post),
                to,
                self.words.of(self.request_text(r)),
                UNKNOWN | self.request_flags(r),
            )
            for r in self.queues[pair.process].requests
            if r.qp == pair.name and r.opcode in ONE_SIDED and r.done
        ]

    def objects(self) -> list[dict[str, Any]]:
        """Returns the lifetimes of objects."""
        found = []
        for index, process in enumerate(self.processes):
            for life in objects.lives(process):
                end = life.ended
                found.append(
                    {
                        "process": index,
                        "name": life.name,
                        "t": self.at(process, life.made.end),
                        "u": self.at(process, end.end) if end else self.end,
                        "w": self.words.of(text_of(life.made)),
                        "x": self.words.of(text_of(end)) if end else -1,
                        "states": [[self.at(process, when), state] for when, state in life.states],
                        "errors": [self.at(process, when) for when in life.errors],
                    }
                )
        return found


Key = tuple[str, int, str]  # its kind, its process and its number


@dataclass(frozen=True, order=True)
class Sample:
    """A time in a row of the table."""

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


def table(drawing: Drawing, found: list[Message]) -> list[dict[str, Any]]:
    """Returns the times of calls by verb, and of work requests and messages by opcode, the longest first. Each row
        says where its longest is, so that the page can show it."""
    found_of: defaultdict[Key, list[Sample]] = defaultdict(list)
    for index, process in enumerate(drawing.processes):
        for call in process.calls:
            if not call.depth:
                name = f"{call.name}, empty" if call.times else call.name
                when, failed = drawing.at(process, call.time), bool(flags_of(call) & ERROR)
                sample = Sample(call.took, when, drawing.lane(call), failed, call.times or 1)
                found_of["call", index, name].append(sample)
        for request in drawing.queues[process].requests:
            if request.done:
                begin = drawing.at(process, request.post.time)
                took = drawing.at(process, request.done.end) - begin
                failed = bool(drawing.request_flags(request) & (ERROR | FLUSH))
                sample = Sample(took, begin, drawing.lane(request.post), failed)
                found_of["work request", index, request.opcode].append(sample)
    for message in found:
        sender, receiver = message.send.post, message.receive.done
        assert receiver
        begin = drawing.at(sender.process, sender.time)
        took = drawing.at(receiver.process, receiver.end) - begin
        key = ("message", drawing.processes.index(sender.process), message.send.opcode)
        found_of[key].append(Sample(took, begin, drawing.lane(sender)))
    rows = [_row(key, samples) for key, samples in found_of.items()]
    return sorted(rows, key=lambda row: (row["what"], -row["total"]))
