# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The law behind the curve: predicts the cost of each way to wait at a load, from primitives that were measured without any load.

Place: below page.py and bench/predict; bench/law.md derives it. Contract: arithmetic on microseconds and messages a
second. Nothing here reads a sample of a load, so a prediction and a measurement are independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import Any

POLLERS = 2  # a client and a server
POLL, SPIN = ("ping-sr-2", "ways poll"), ("ping-sr-5", "ways spin")
SLEEP = ("ping-sr-3", "ping-sr-4", "ways channel", "ways nonblocking", "ways io_uring", "ways event")
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Primitives:
    """A line of bench/primitives, or the medians of several. Points: by the period of messages, in us; the
    first is that of messages there and back without a pause, of which one way is a half."""

    cpus: int
    wake_up_us: float  # the cost of a wake-up, as ping-sr-5 measures it
    polled_us: float  # CPU time of a message there and back without a pause, if both ends poll
    visible: Points  # time from the post until a receiver that polls has the message
    reached: Points  # the same if both ends sleep
    busy: Points  # CPU time of such a message, with the timer that ends the poster's sleep


def read(told: list[dict[str, Any]]) -> Primitives | None:
    """The medians of the lines of one link; None if there is none."""
    if not told:
        return None

    def points(way: str, trip: str, figure: str) -> Points:
        first = [(median(one[way]["trip_us"] for one in told), median(one[way][trip] for one in told) / 2)]
        pauses = zip(*(one[way]["pauses"] for one in told))
        return (*first, *((median(one["period_us"] for one in same), median(one[figure] for one in same)) for same in pauses))

    visible, reached = points("polled", "trip_us", "reached_us"), points("asleep", "trip_us", "reached_us")
    wake_up = median(float(one["asleep"]["wake_up_us"]) for one in told)
    polled = median(float(one["polled"]["trip_busy_us"]) for one in told)
    return Primitives(int(told[0]["asleep"]["cpus"]), wake_up, polled, visible, reached, points("asleep", "trip_busy_us", "busy_us"))


def between(points: Points, x: float) -> float:
    """Returns the value at x: on straight lines over log x; beyond the first and last point, the value there."""
    if x <= points[0][0]:
        return points[0][1]
    for (a, low), (b, high) in zip(points, points[1:]):
        if x <= b:
            return low + (high - low) * math.log(x / a) / math.log(b / a)
    return points[-1][1]


@dataclass(frozen=True)
class Cost:
    """The cost of one message there and back: CPU time of the machine, and the median round trip; in us. rate: the rate reached."""

    cpu_us: float
    trip_us: float
    rate: float


@dataclass(frozen=True)
class Law:
    """The predictions of one link. A load of 0 means flat out; a gap is the time from one message to the next."""

    known: Primitives

    @property
    def pollers(self) -> int:
        """Returns the CPUs that two programs keep busy if they poll all the time."""
        return min(POLLERS, self.known.cpus)

    @property
    def answer_us(self) -> float:
        """CPU time of a message to somebody who has just fallen asleep."""
        return self.known.busy[0][1]

    def colder(self, gap: float) -> float:
        """Returns the additional time of a message one way after a gap, in which its code has not run."""
        return max(0.0, between(self.known.visible, gap) - self.known.visible[0][1])

    def polling(self, load: float) -> Cost:
        """Polling: all the time of its CPUs, whatever the load, up to what their time allows. A few slow round trips take much
        of that time, and are no part of the median."""
        trip = 2 * between(self.known.visible, 1e6 / load if load else 0)
        rate = min(load or math.inf, self.pollers * 1e6 / self.known.polled_us)
        return Cost(self.pollers * 1e6 / rate, trip, rate)

    def sleeping(self, load: float) -> Cost:
        """A timer and a message to a server that has slept since the last one; the answer to a client that has just fallen
        asleep, by code that has not run since then. Flat out, and at loads beyond it, only two such answers."""
        shortest, back = self.known.reached[0]
        if not load or load >= 1e6 / shortest:
            return Cost(2 * self.answer_us, shortest, 1e6 / shortest)
        gap = 1e6 / load
        cpu = between(self.known.busy, gap) + self.answer_us + self.colder(gap)
        return Cost(cpu, between(self.known.reached, gap) + back + self.colder(gap), load)

    def spinning(self, load: float, budget_us: float) -> Cost:
        """Polls if the next message comes within the budget. If not, the server spends its budget after each answer, and
        sleeps; the client waits for the answer busily, for its budget at most, and then for its turn likewise. Never more
        than polling costs."""
        if not load or 1e6 / load <= budget_us + self.known.visible[0][0]:
            return self.polling(load)
        gap, again = 1e6 / load, 0.0
        trip = between(self.known.reached, gap) + between(self.known.visible, gap)
        waited = min(budget_us, trip)
        if trip > budget_us:
            trip, again = self.sleeping(load).trip_us, self.answer_us + self.colder(gap)
        turn = min(budget_us, max(0.0, gap - trip))
        cpu = between(self.known.busy, gap) + budget_us + waited + again + turn
        return Cost(min(cpu, self.pollers * gap), trip, load)

    def break_even(self) -> float:
        """The load at which a message costs as much asleep as polling: where the curves meet, or, if that is more than
        one connection that sleeps carries, what would cost as much as its messages flat out."""
        most, beyond = 1e6 / self.known.reached[0][0], self.pollers * 1e6 / (2 * self.answer_us)
        if beyond >= most:
            return beyond
        low, high = 1.0, most
        for _ in range(60):
            middle = math.sqrt(low * high)
            cheaper = self.sleeping(middle).cpu_us < self.pollers * 1e6 / middle
            low, high = (middle, high) if cheaper else (low, middle)
        return low

    def best_budget(self) -> float:
        """The spin budget: as long as a sleep costs, so that it never costs more than twice what foresight would; and at
        least until the answer of a peer that has just fallen asleep, or two that sleep go on sleeping."""
        return max(self.answer_us, self.known.reached[0][1] + self.known.visible[0][1])

    def of(self, way: str, load: float) -> Cost | None:
        """Returns the prediction for a program of the ladder, or of ways/; None: the law has none."""
        if way in POLL:
            return self.polling(load)
        if way in SLEEP:
            return self.sleeping(load)
        return self.spinning(load, 2 * self.known.wake_up_us) if way in SPIN else None

    def displaced(self, way: str, load: float, ratio: float) -> float | None:
        """Returns the CPUs of work that workers, `ratio` for each CPU, lose to it. What polls wants whole CPUs, and gets its fair part of all; what
        sleeps gets the CPU time that it asks for, first from CPUs that are idle."""
        cost, cpus = self.of(way, load), self.known.cpus
        workers = max(1, round(ratio * cpus))
        if cost is None or not ratio:
            return None
        polls = min(workers, cpus) - workers * min(1.0, cpus / (workers + self.pollers))
        wants = cost.cpu_us * cost.rate / 1e6
        return polls if way in POLL else min(polls, max(0.0, wants + min(workers, cpus) - cpus))
