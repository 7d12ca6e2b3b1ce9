# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Computes the figures of a run from its trace by verbs-sim: bench/results.md says what each means.

Contract: nothing here comes from the program but its calls and what they have found: readings of the clock, completions,
and the CPU time so far. A figure that needs a reading may be made of any that lies where the definition wants it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

LINE = re.compile(r"^\[ *[\d.]+ us\] \d+\.\d+ ", re.MULTILINE)
# Time, program, thread, number, and the name of a call without its arguments, or what it has found; not a command of the kernel.
CALL = re.compile(r"^\[ *(\d+)\.(\d{3}) us\] (\d+)\.(\d+) +(\d+) (= .*|\w+)(?:\(.*\))?$", re.MULTILINE)
COLUMNS = (23, 3, 31, 101, 5, 7, 11, 19)  # ticks a second of /proc/stat: tools/verbs-sim/calls/libc_proc.c
PROCESSORS = 2
GAP_US = 1  # microseconds between two messages
IN_BUCKET = 0.008  # "the percentiles within 0.8 %"


def kinds_of(text: str) -> set[str]:
    """The names by which an event is found: also all calls together, those of rdma_cm, and what a call has found by its first words."""
    return {text, text.partition(",")[0], "= " if text.startswith("= ") else "call", *re.findall(r"^rdma_|^= \S+", text)}


Result = dict[str, Any]
Window = tuple[int, int]  # a range of events, by their numbers: the second is outside


class Timeline:
    """The work of the program's thread that took the completions: calls, and their results after `= `."""

    def __init__(self, trace: str, program: int) -> None:
        """Reads what --trace has printed."""
        threads: dict[str, list[tuple[int, str, int]]] = {}
        for us, ns, number, thread, call, text in CALL.findall(trace):
            if int(number) == program:
                threads.setdefault(thread, []).append((int(us) * 1000 + int(ns), text, int(call)))
        polls = {thread: sum(text == "ibv_poll_cq" for _, text, _ in events) for thread, events in threads.items()}
        self.events = threads[max(polls, key=lambda thread: polls[thread])]
        self.at: dict[str, list[int]] = {}  # the numbers of events of each kind
        for number, (_, text, _) in enumerate(self.events):
            for kind in kinds_of(text):
                self.at.setdefault(kind, []).append(number)

    def __len__(self) -> int:
        return len(self.events)

    def where(self, kind: str, window: Window) -> list[int]:
        """The events of this kind there: see kinds_of."""
        at = self.at.get(kind, [])
        return at[bisect_left(at, window[0]) : bisect_left(at, window[1])]

    def last(self, kind: str, before: int) -> int:
        """The last event of a kind before this event; 0: there is none."""
        at = self.at.get(kind, [])
        number = bisect_left(at, before)
        return at[number - 1] if number else 0

    def next(self, kind: str, behind: int) -> int:
        """The next event of a kind; the end of the program: there is none."""
        at = self.at.get(kind, [])
        number = bisect_left(at, behind)
        return at[number] if number < len(at) else len(self)

    def numbers(self, event: int) -> list[int]:
        """The numbers in the event's text."""
        return [*map(int, re.findall(r"\d+", self.events[event][1]))]

    def call_at(self, ns: int) -> int:
        """The number of the program's first call from this time on."""
        return next(call for at, text, call in self.events if at >= ns and not text.startswith("="))

    def reading(self, behind: int) -> int:
        """The next event of the clock, or this one."""
        return self.numbers(self.next("= clock", behind))[0]

    def clock(self, window: Window) -> list[int]:
        """The readings of the clock at an event."""
        return [self.numbers(event)[0] for event in self.where("= clock", window)]

    def ends(self, kinds: Mapping[str, int]) -> list[int]:
        """The events that ended the messages, if so many completions of each kind make one."""
        found = [self.at.get(f"= completion {kind}, status 0", [])[n - 1 :: n] for kind, n in kinds.items()]
        return [max(each) for each in zip(*found)]

    def batches(self, kind: str) -> list[int]:
        """The last completion of this kind that each poll found, if it found some."""
        kind = f"= completion {kind}, status 0"
        return [i for i in self.at.get(kind, []) if self.next("ibv_poll_cq", i) <= self.next(kind, i + 1)]

    def finds_nothing(self, poll: int) -> bool:
        """Returns whether a poll found nothing: its result would come before the next call."""
        return self.next("call", poll + 1) <= self.next("= completion", poll)

    def in_vain(self, sleeps: list[int]) -> range:
        """Returns how many sleeps were in vain: the first poll after one found nothing. One may count if something else than an event of the CQ ended it,
        or if a later poll finds something before the program sleeps again."""
        certain, possible = 0, 0
        for sleep, until in zip(sleeps, [*sleeps[1:], len(self.events)]):
            polls, event = self.where("ibv_poll_cq", (sleep, until)), self.next("ibv_get_cq_event", sleep)
            possible += self.finds_nothing(self.next("ibv_poll_cq", sleep))
            certain += all(map(self.finds_nothing, polls)) and self.next("call", sleep + (event > sleep)) == event
        return range(certain, possible + 1)

    def looks(self, window: Window) -> dict[str, int]:
        """Returns the looks at the CQ."""
        polls = self.where("ibv_poll_cq", window)
        empty = [poll for poll in polls if self.finds_nothing(poll)]
        found = len(self.where("= completion", window))
        return {"polls": len(polls), "empty_polls": len(empty), "completions": found}


@dataclass
class Expected:
    """The measured part of a run: it starts in one window of events, and ends in another."""

    timeline: Timeline
    count: int
    warm_up: int
    start: Window = (0, 0)
    end: Window = (0, 0)
    round_trips: list[int] | None = None  # nanoseconds of each round trip; None: one after the other, but not known
    looked: int | None = 0  # the event until which it has looked at the CQ; 0: until the measured part ended; None: not known
    sleep: str = "poll"  # a call that is one for a completion
    credits: str = ""  # the events that are messages of credits, in a stream that has them

    def differences(self, result: Result) -> Iterator[str]:
        """Returns the wrong figures."""
        if not self.count:
            yield from self.of_nothing(result)
            return
        if (result["count"], result["warm_up"]) != (self.count, self.warm_up):
            yield f"count and warm_up are {result['count']} and {result['warm_up']}, not {self.count} and {self.warm_up}"
            return
        yield from self.of_time(result)
        yield from self.of_use(result)
        yield from self.of_machine(result)
        yield from self.of_round_trips(result)

    def of_nothing(self, result: Result) -> Iterator[str]:
        """Checks a run that ended in its warm-up."""
        if result["count"] or result["round_trip_us"]:
            yield f"count is {result['count']}, though it ended in its warm-up"

    def of_time(self, result: Result) -> Iterator[str]:
        """The time is from before the first measured message to after the last."""
        began, ended = (self.timeline.clock(window) for window in (self.start, self.end))
        if result["seconds"] not in {round((b - a) / 1e9, 9) for a in began for b in ended}:
            yield f"seconds is {result['seconds']}: none of {began} to one of {ended}"

    def anchors(self, text: str) -> tuple[int, int]:
        """Returns the places where the program has read this value, before and after."""
        first, last = (self.timeline.where(text, window) for window in (self.start, self.end))
        assert first and last, f"{text} was not read where the measurement starts and ends"
        return first[-1], last[0]

    def of_use(self, result: Result) -> Iterator[str]:
        """CPU time, switches and looks at the CQ, between the two readings of the first."""
        first, last = self.anchors("= getrusage")
        before, after = (self.timeline.numbers(event) for event in (first, last))
        user, system, voluntary, involuntary = (b - a for a, b in zip(before, after))
        yield from differs(result, "process_cpu", "user_seconds", round(user / 1e6, 6))
        yield from differs(result, "process_cpu", "system_seconds", round(system / 1e6, 6))
        yield from differs(result, "context_switches", "voluntary", voluntary)
        yield from differs(result, "context_switches", "involuntary", involuntary)
        if self.credits:
            yield from differs(result, "stream", "credit_messages", len(self.timeline.where(self.credits, (first, last))))
        if self.looked is not None:
            for name, wanted in self.timeline.looks((first, self.looked or last)).items():
                yield from differs(result, "cq", name, wanted)
            sleeps = self.timeline.where(self.sleep, (first, last))
            yield from differs(result, "cq", "sleeps", len(sleeps))
            if result["cq"]["empty_wake_ups"] not in self.timeline.in_vain(sleeps):
                yield f"cq.empty_wake_ups is {result['cq']['empty_wake_ups']}: not in {self.timeline.in_vain(sleeps)}"

    def of_machine(self, result: Result) -> Iterator[str]:
        """The figures are those of the columns of /proc/stat, read outside of the measured part, and the clock behind it."""
        first, last = self.anchors("= /proc/stat")
        then, now = ([self.timeline.events[i][0] * column // 10**9 for column in COLUMNS] for i in (first, last))
        user, nice, system, idle, iowait, irq, softirq, steal = (b - a for a, b in zip(then, now))
        ticks = {"user_seconds": user + nice, "system_seconds": system + irq + softirq, "idle_seconds": idle + iowait + steal}
        for name, n in ticks.items():
            yield from differs(result, "machine_cpu", name, round(n / 100, 6))
        begun, ended = (self.timeline.clock((event, len(self.timeline)))[0] for event in (first, last))
        busy_us = (ended - begun) // 1000 * PROCESSORS - ticks["idle_seconds"] * 10000
        yield from differs(result, "machine_cpu", "busy_seconds", round(max(busy_us, 0) / 1e6, 6))

    def of_round_trips(self, result: Result) -> Iterator[str]:
        """The figures are exact, but for the percentiles."""
        got = result["round_trip_us"]
        if not self.round_trips:
            if self.round_trips is not None and got:
                yield f"round_trip_us is {got}"
            elif self.round_trips is None:
                yield from self.of_gaps(result)
            return
        trips = sorted(self.round_trips)
        mean = sum(trips) / len(trips) / 1000
        if abs(got["mean"] - mean) > 0.001:
            yield f"the mean round trip is {got['mean']}, not {mean}"
        if (got["min"], got["max"]) != (trips[0] / 1000, trips[-1] / 1000):
            yield f"round trips are {got['min']} to {got['max']}, not {trips[0] / 1000} to {trips[-1] / 1000}"
        for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("p99_9", 99.9)):
            wanted = trips[ceil(percent * len(trips) / 100 - 1e-9) - 1] / 1000
            if abs(got[name] - wanted) > wanted * IN_BUCKET + 0.001:
                yield f"{name} is {got[name]}, not {wanted}"

    def of_gaps(self, result: Result) -> Iterator[str]:
        """Between two messages next to no time passes."""
        mean_us = result["round_trip_us"]["mean"]
        rest_us = result["seconds"] * 1e6 - mean_us * self.count
        least_us = -1 if self.warm_up else -mean_us  # at the agent the very first message may have none
        if not least_us <= rest_us <= GAP_US * (self.count + 1):
            yield f"all round trips take {rest_us} us less than the measured part"


def differs(result: Result, group: str, name: str, wanted: float) -> Iterator[str]:
    """Says how one figure of a group differs."""
    if result[group][name] != wanted:
        yield f"{group}.{name} is {result[group][name]}, not {wanted}"
