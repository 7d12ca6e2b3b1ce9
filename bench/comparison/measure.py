# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs the rounds: each measures every point once, until the results are precise enough or the time is over.

Place: started by bench/compare, in the VM or on this machine. Contract: each sample is in the file before the next run
begins. If the measurement is interrupted, the samples stay, and no program is left.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from . import counters, cpu, energy, place, remote, simulated, store
from .plan import Plan, Point
from .runner import Failed, Hung, Job, Runner
from .statistics import settled
from .ways import WAYS

PRIMITIVES = "build/bench/primitives"
GIVE_UP = 3  # failures of a point in a row


def say(text: str) -> None:
    """Prints progress on stderr."""
    print(f"compare: {text}", file=sys.stderr, flush=True)


def clock(seconds: float) -> str:
    """Formats a time as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def primitives(link: place.Link) -> dict[str, object] | None:
    """Measures the cost of a poll, a message and a wake-up on a link: bench/primitives.c; None if it cannot."""
    found: dict[str, object] = {"link": link.name}
    try:
        for way in ("polled", "asleep") if shutil.which(PRIMITIVES) else ():
            said = subprocess.run([PRIMITIVES, way, link.address], capture_output=True, text=True, timeout=60, check=True)
            found[way] = json.loads(said.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        say(f"{PRIMITIVES}: {error}")
    return found if "asleep" in found else None


class Session:
    """The rounds of a plan, on all links."""

    def __init__(self, plan: Plan, links: list[place.Link], runner: Runner, file: Path) -> None:
        self.plan, self.links, self.runner, self.file = plan, links, runner, file
        self.begun = time.monotonic()
        self.told = float("inf")  # seconds left, as the user was told; it never grows
        self.failed: Counter[tuple[str, Point]] = Counter()
        self.cost: dict[tuple[str, Point], float] = {}
        self.results = store.collect(file) if file.exists() else store.Results()
        self.first_round = max([one.round for one in self.results.samples], default=0) + 1

    @property
    def is_here(self) -> bool:
        """Returns whether this machine runs the programs, in real time."""
        return not isinstance(self.runner, (remote.RemoteRunner, simulated.SimulatedRunner))

    def note(self, kind: str, value: object) -> None:
        """Writes a line to the file, at once."""
        store.append(self.file, kind, value)

    def todo(self) -> list[tuple[place.Link, Point]]:
        """Returns the points that can be run here. Names each way that cannot, once."""
        gone = {point.way: WAYS[point.way].missing() for point in self.plan.points}
        if isinstance(self.runner, remote.RemoteRunner):
            gone = {way: "" if remote.possible(way) else "it cannot be run through a launcher" for way in gone}
        for way, why in gone.items():
            if why:
                say(f"{way} is left out: {why}")
        self.note("missing", [f"{way}: {why}" for way, why in gone.items() if why])
        pairs = [(link, point) for link in self.links for point in self.plan.points]
        return [
            (link, point)
            for link, point in pairs
            if not gone[point.way] and not (WAYS[point.way].roce_only and link.name == "iWARP")
        ]

    def left(self) -> float:
        """Returns the seconds that are left of the plan's time."""
        return self.plan.minutes * 60 - (time.monotonic() - self.begun)

    def expected(self, todo: list[tuple[place.Link, Point]], done: int) -> float:
        """Estimates the seconds for the rest of a round. A point that has not run yet is taken to need as long as the
        others."""
        mean = sum(self.cost.values()) / len(self.cost) if self.cost else self.plan.window + 1.5
        return sum(self.cost.get((link.name, point), mean) for link, point in todo[done:])

    def over(self, number: int) -> bool:
        """Returns whether the round may be left incomplete. The first round is always measured. The rounds that a conclusion
        needs may take up to twice the time, because a busy machine is slower."""
        enough = number - self.first_round >= self.plan.least
        return number > self.first_round and self.left() < (0 if enough else -self.plan.minutes * 60)

    def one(self, link: place.Link, point: Point, number: int) -> None:
        """Makes one run. If it fails, records the failure, and the measurement continues."""
        begun = time.monotonic()
        if self.is_here:
            self.note("steadiness", cpu.steadiness())
        job = Job(WAYS[point.way], link, point.load, point.size, point.clients, workers=point.workers, helped=point.helped)
        key = (link.name, point)
        try:
            sample = store.Sample(link.name, point, number, self.runner.run(job))
            self.results.samples.append(sample)
            self.note("sample", asdict(sample))
            self.failed[key] = 0
        except Failed as error:
            self.failed[key] += GIVE_UP - 1 if isinstance(error, Hung) else 1
            say(f"FAILED: {point.name} on {link.name}: {error}")
            self.note("failures", {"link": link.name, "point": point.name, "round": number, "why": str(error)})
        self.cost[key] = time.monotonic() - begun

    def machine(self) -> None:
        """Measures, once in each round, the idle machine's use of the CPU, and a wake-up."""
        if not self.is_here:
            return  # other machines measure this
        self.note("background", cpu.background(1.0, self.runner.cpus))
        for link in self.links:
            found = primitives(link)
            if found:
                self.note("primitives", found)

    def one_round(self, number: int, todo: list[tuple[place.Link, Point]]) -> bool:
        """One round. Every second round runs backwards, so that a drift does not favour the last points. Returns False
        if the time is over."""
        todo = [pair for pair in todo if self.failed[(pair[0].name, pair[1])] < GIVE_UP]
        self.machine()
        for done, (link, point) in enumerate(todo if number % 2 else reversed(todo)):
            if self.over(number):
                return False
            rest = self.expected(todo, done)
            self.told = min(self.told, max(rest, self.left(), 0))
            say(f"round {number}, {done + 1} of {len(todo)}, {clock(self.told)} left: {point.name}, {link.name}")
            self.one(link, point, number)
        return True

    def run(self) -> None:
        """Runs all rounds."""
        todo = self.todo()
        if not todo:
            raise Failed("none of the chosen programs can be run here")
        for number in range(self.first_round, self.first_round + self.plan.most):
            if not self.one_round(number, todo):
                say("the time is over (--minutes)")
                return
            rounds = number - self.first_round + 1
            if rounds >= self.plan.least and settled(self.results):
                say(f"after {rounds} rounds all ratios are precise enough")
                return
            if rounds >= self.plan.least and self.left() < 0.5 * self.expected(todo, 0):
                return


def choose_links(links: list[place.Link], wanted: str) -> list[place.Link]:
    """The first link, the one with that name, or all."""
    found = [link for link in links if wanted in ("all", "") or link.name.lower() == wanted.lower()]
    if not found:
        there = ", ".join(link.name for link in links)
        raise Failed(f"no link {wanted}; there are: {there}" if links else "no RDMA address: set RDMA_ADDR, or use the VM of lab/run")
    return found if wanted else found[:1]


def measure(plan: Plan, folder: Path, options: dict[str, object], runner_options: dict[str, tuple[str, ...]]) -> None:
    """Measures a plan. Raises Failed if nothing can be measured."""
    in_simulation = bool(options.get("simulated"))
    links = [simulated.LINK] if in_simulation else choose_links(place.links(), str(options.get("link") or ""))
    file = folder / "samples.jsonl"
    with tempfile.TemporaryDirectory() as scratch:
        kind = simulated.SimulatedRunner if in_simulation else remote.RemoteRunner if any(runner_options.values()) else Runner
        runner = kind(Path(scratch), plan.window, 6 + 10 * plan.window, **runner_options)
        away = "time is simulated" if in_simulation else "the programs are on other machines" if kind is remote.RemoteRunner else ""
        why = away or counters.absent()
        runner.count = not why
        runner.packages, read = (energy.Packages(), f"none: {why}") if away else energy.packages()
        session = Session(plan, links, runner, file)
        session.note("environment", place.describe(links))
        if in_simulation:
            session.note("environment", {"cpus": simulated.CPUS, "emulated": "time is simulated, and a scheduler is ideal (verbs-sim)"})
        for what in place.unsteady():
            print(f"compare: {what}", file=sys.stderr)
        session.note("environment", {"unsteady": place.unsteady()})
        session.note("environment", {"perf counters": f"none: {why}" if why else ", ".join(counters.EVENTS)})
        session.note("environment", {"energy of": read})
        session.note("options", options)
        try:
            session.run()
        finally:
            runner.children.end_all()
            session.note("commands", runner.command_lines)
