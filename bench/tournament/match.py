# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""One pair of hosts: client on one, server on the other, with each program; and the check that a host answers.

Place: below tournament.py, above bench/comparison/remote.py. Contract: runs in a thread of its own. It ends within the
programs' limits, or soon after its `stop` becomes readable, and leaves no process here. Processes on other hosts end by
themselves, because timeout(1) starts them.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from bench.comparison import outputs
from bench.comparison.children import Children, Stopped
from bench.comparison.place import Link
from bench.comparison.plan import Point
from bench.comparison.remote import RemoteRunner
from bench.comparison.runner import Failed, Hung, Job
from bench.comparison.ways import WAYS
from .hosts import Host, on

ANSWER = ("timeout", "-k", "5", "20", "uname", "-srm")
TRIES = 4  # attempts, with 0.4, 1.8, 4.6 and 10.2 seconds to settle
ANSWER_S = 30  # seconds in which a host has to answer


@dataclass(frozen=True)
class Pair:
    """Which two hosts measure."""

    client: Host
    server: Host

    @property
    def link(self) -> str:
        """The names under which its samples are stored."""
        return f"{self.client.name}>{self.server.name}"


@dataclass
class Outcome:
    """The results of a pair in a round: figures by point, and the reason if a point has none."""

    pair: Pair
    figures: dict[Point, outputs.Figures] = field(default_factory=dict)
    failures: dict[Point, str] = field(default_factory=dict)
    stopped: bool = False


@dataclass(frozen=True)
class Rules:
    """What all pairs have in common. stop is a descriptor."""

    launch: tuple[str, ...]
    window: float
    stop: int
    depth: int = 16


def one_point(runner: RemoteRunner, pair: Pair, point: Point, depth: int) -> outputs.Figures:
    """A run that ended in its warm-up is repeated, and is longer each time."""
    link = Link(pair.link, pair.server.address)
    job = Job(WAYS[point.way], link, point.load, point.size, 1, depth)
    for _ in range(TRIES - 1):
        try:
            return runner.run(job)
        except Failed as error:
            if not isinstance(error.__cause__, outputs.Unreadable):
                raise
    return runner.run(job)


def play(rules: Rules, pair: Pair, points: list[Point], port: int) -> Outcome:
    """After a program that hangs, no other one is run."""
    outcome = Outcome(pair)
    with tempfile.TemporaryDirectory() as folder:
        launch = on(rules.launch, pair.server), on(rules.launch, pair.client)
        runner = RemoteRunner(Path(folder), rules.window, 6 + 10 * rules.window, *launch)
        runner.children = Children(Path(folder), rules.stop)
        runner.port = port
        for point in points:
            try:
                outcome.figures[point] = one_point(runner, pair, point, rules.depth)
            except Stopped:
                outcome.stopped = True
                break
            except Failed as error:
                outcome.failures[point] = str(error)
                if isinstance(error, Hung):
                    break
            except OSError as error:
                outcome.failures[point] = f"the launcher cannot be started: {error}"
                break
    return outcome


def ask(rules: Rules, host: Host) -> tuple[bool, str]:
    """Whether a host answers; its answer, or the reason why not."""
    with tempfile.TemporaryDirectory() as folder:
        children = Children(Path(folder), rules.stop)
        try:
            child = children.start("host", [*on(rules.launch, host), *ANSWER])
            if not children.wait(child, ANSWER_S):
                return False, f"no answer within {ANSWER_S} s"
            if child.status:
                return False, f"exit status {child.status}: {child.said()}"
            return True, (child.out.read_text(errors="replace").splitlines() or ["nothing"])[-1]
        except OSError as error:
            return False, f"the launcher cannot be started: {error}"
        except Stopped:
            return False, "interrupted"
        finally:
            children.end_all()
