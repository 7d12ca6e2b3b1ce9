# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs the rounds: every pair once in each, all pairs of a step at the same time.

Place: started by bench/fabric. Contract: the samples of a pair are in the file before the next step begins. A host
that does not answer is named, and left out until it answers again. However the measurement ends, no process is left
here.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.comparison import store
from bench.comparison.measure import clock
from bench.comparison.plan import Point
from . import schedule
from .hosts import Host
from .match import Outcome, Pair, Rules, ask, play

GIVE_UP = 3  # pairs of one host that failed one after the other: it answers, but cannot measure
PORTS = 18515, 9000  # the first one, and how many


def say(text: str) -> None:
    """Progress goes to stderr."""
    print(f"fabric: {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Wishes:
    """What the command line asks for."""

    points: tuple[Point, ...]
    rounds: int
    both_ways: bool
    at_once: int  # pairs at a time; 0: all of a step


class Tournament:
    """All rounds."""

    def __init__(self, wishes: Wishes, rules: Rules, hosts: list[Host], file: Path) -> None:
        self.stop, self.stopper = os.pipe()
        self.wishes, self.rules, self.hosts, self.file = wishes, replace(rules, stop=self.stop), hosts, file
        results = store.collect(file) if file.exists() else store.Results()
        self.done = {(one.link, one.round, one.point) for one in results.samples}
        self.gone: dict[str, str] = {}  # hosts that do not answer, with the reason
        self.row: Counter[str] = Counter()  # failures one after the other, by host
        self.took: list[float] = []  # duration in seconds, by step
        self.played = 0

    def note(self, kind: str, value: object) -> None:
        """Writes a line to the file, at once."""
        store.append(self.file, kind, value)

    def width(self) -> int:
        """Pairs at the same time."""
        return self.wishes.at_once or max(1, len(self.hosts) // 2)

    @contextmanager
    def workers(self, number: int) -> Iterator[ThreadPoolExecutor]:
        """Starts a thread for each; all of them end their work when this is interrupted."""
        pool = ThreadPoolExecutor(number)
        try:
            yield pool
        except KeyboardInterrupt:
            os.write(self.stopper, b"x")
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def ask_all(self, hosts: list[Host]) -> None:
        """Asks all hosts at the same time for their versions."""
        with self.workers(max(1, min(len(hosts), 2 * self.width()))) as pool:
            answers = dict(zip(hosts, pool.map(lambda host: ask(self.rules, host), hosts)))
        for host, (there, said) in answers.items():
            if there:
                if self.gone.pop(host.name, None):
                    say(f"{host.name} answers again")
                self.note("environment", {f"host {host.name}": {"address": host.address, "system": said}})
            elif said != "interrupted":
                say(f"NO ANSWER from {host.name}: {said}")
                self.gone[host.name] = said
                self.note("environment", {f"host {host.name}": {"address": host.address, "gone": said}})

    def missing(self, pair: Pair, number: int) -> list[Point]:
        """The points of a round that a pair has not measured yet; every second round in reverse order."""
        points = [point for point in self.wishes.points if (pair.link, number, point) not in self.done]
        return points if number % 2 else points[::-1]

    def able(self, pair: Pair) -> bool:
        """Whether both hosts answer, and have not failed too often."""
        names = (pair.client.name, pair.server.name)
        return not any(name in self.gone or self.row[name] >= GIVE_UP for name in names)

    def take(self, outcome: Outcome, number: int) -> None:
        """Stores a pair's result, and counts failures."""
        link, names = outcome.pair.link, (outcome.pair.client.name, outcome.pair.server.name)
        for point, figures in outcome.figures.items():
            self.note("sample", asdict(store.Sample(link, point, number, figures)))
        if outcome.stopped:
            return
        for point, why in outcome.failures.items():
            say(f"FAILED: {link}, {point.name}: {why}")
            self.note("failures", {"link": link, "point": point.name, "round": number, "why": why})
        for name in names:
            self.row[name] = self.row[name] + 1 if outcome.failures else 0

    def play_step(self, todo: list[tuple[Pair, list[Point]]], number: int) -> None:
        """Runs all pairs of a step. The hosts of pairs that failed are asked again whether they answer."""
        futures: list[Future[Outcome]] = []
        failed: list[Host] = []
        try:
            with self.workers(self.width()) as pool:
                for pair, points in todo:
                    port = PORTS[0] + 8 * self.played % PORTS[1]
                    futures.append(pool.submit(play, self.rules, pair, points, port))
                    self.played += 1
                for future in as_completed(list(futures)):
                    futures.remove(future)
                    outcome = future.result()
                    self.take(outcome, number)
                    if outcome.failures:
                        failed += [outcome.pair.client, outcome.pair.server]
        except KeyboardInterrupt:
            for future in futures:
                if not future.cancelled():
                    self.take(future.result(), number)
            raise
        if failed:
            self.ask_all(failed)
            self.leave_out(failed)

    def leave_out(self, hosts: list[Host]) -> None:
        """A host that answers but fails again and again is left out, because it would delay all others."""
        for host in hosts:
            if self.row[host.name] == GIVE_UP and host.name not in self.gone:
                say(f"{host.name} answers, and {GIVE_UP} pairs with it failed in a row: it is left out of this round")

    def one_round(self, number: int) -> None:
        """All steps."""
        self.row.clear()
        steps = schedule.rounds(self.hosts, number, self.wishes.both_ways)
        rest = len(steps) * (self.wishes.rounds - number)
        for index, step in enumerate(steps):
            pairs = [Pair(*hosts) for hosts in step]
            todo = [(pair, self.missing(pair, number)) for pair in pairs if self.missing(pair, number)]
            todo = [(pair, points) for pair, points in todo if self.able(pair)]
            if not todo:
                continue
            say(f"round {number}, step {index + 1} of {len(steps)}, {self.left(len(steps) - index + rest)} left: {len(todo)} pairs")
            begun = time.monotonic()
            self.play_step(todo, number)
            self.took.append(time.monotonic() - begun)

    def left(self, steps: int) -> str:
        """The time that this many steps take; before the first one, the least time that they can take."""
        turns = -(-(len(self.hosts) // 2) // self.width())
        guess = turns * len(self.wishes.points) * (self.rules.window + 1.5)
        mean = sum(self.took) / len(self.took) if self.took else guess
        return clock(steps * mean)

    def run(self) -> None:
        """Hosts that did not answer are asked again before each round."""
        self.ask_all(self.hosts)
        for number in range(1, self.wishes.rounds + 1):
            if number > 1 and self.gone:
                self.ask_all([host for host in self.hosts if host.name in self.gone])
            if len(self.hosts) - len(self.gone) < 2:
                say("fewer than two hosts answer")
                return
            self.one_round(number)
