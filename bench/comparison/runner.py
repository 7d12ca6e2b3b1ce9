# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""One run: a server, its clients, and the resources that they use in a window without set-up and tear-down.

Place: below measure.py. Contract: run() returns figures, or raises Failed with the programs' messages; no program is
left after it. If the window turns out not to lie within the transfer, the run is repeated with a longer transfer.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import busy, counters, cpu, outputs, place
from .children import Child, Children
from .energy import Packages
from .ways import Way, Wish, commands

TRIES = 5
PORT = 12321  # the port that store_server uses
MARGIN = 0.1  # seconds between window and end


class Failed(Exception):
    """A program failed, or could not be measured; the message is for people."""


class Hung(Failed):
    """The run did not end within its limit. It is not repeated."""


class TooShort(Exception):
    """The transfer ended before the window did."""


class TooEarly(Exception):
    """The window began before the transfer, or in its warm-up."""


@dataclass
class Pace:
    """Results of earlier runs of a program: when its transfer begins, and how long a message takes."""

    settle: float = 0.4
    message: float = 0.0001
    longer: float = 1.0


@dataclass(frozen=True)
class Job:
    """One run."""

    way: Way
    link: place.Link
    load: int  # messages a second for each client; 0: no limit
    size: int
    clients: int = 1
    depth: int = 16
    workers: float = 0.0  # for each CPU
    helped: str = ""

    @property
    def name(self) -> str:
        """Its command lines are kept by this name."""
        return f"{self.way.name} {self.helped}".strip()


@dataclass
class Runner:
    """Runs servers and clients."""

    folder: Path
    window: float
    limit: float
    server_launch: tuple[str, ...] = ()
    client_launch: tuple[str, ...] = ()
    count: bool = field(default=False, init=False)  # true: read the processor's counters
    packages: Packages = field(default=Packages(), init=False)  # the packages whose energy to read

    def __post_init__(self) -> None:
        self.children = Children(self.folder)
        self.port = 18515
        self.cpus = os.cpu_count() or 1
        self.threads = cpu.kernel_threads()
        self.paces: dict[str, Pace] = {}
        self.command_lines: dict[str, list[str]] = {}
        self.workers: list[busy.Workers] = []  # those of this run

    def wish(self, job: Job, pace: Pace) -> Wish:
        """Returns the parameters of a run, with a new port: the last one may still be in TIME_WAIT."""
        self.port = self.port + 1 if self.port < 28000 else 18515
        seconds = (pace.settle + self.window + 0.5) * (1.0 if job.way.ends_by_signal else pace.longer)
        count = max(500, round(seconds / pace.message))
        gid = job.link.gid_index() if job.way.family == "pingpong" else ""
        return Wish(
            job.link.address, self.port, job.link.device, gid, job.load, job.size, job.clients, count, seconds, job.depth
        )  # fmt: skip

    def start_workers(self, commands_: list[list[str]]) -> None:
        """Starts workers, one command for each machine, and measures them alone."""
        self.workers = [busy.Workers(self.children, self.children.start(f"workers{n}", argv)) for n, argv in enumerate(commands_)]
        for one in self.workers:
            one.alone()

    def start_server(self, job: Job, argv: list[str], port: int) -> Child:
        """Starts the server, and returns when it listens."""
        server = self.children.start("server", argv)
        with_cm = job.way.family in ("perftest", "threads") or (job.way.family == "ours" and not job.way.name.startswith("ping-rc-0"))
        limit = time.monotonic() + min(self.limit, 30)
        while not place.listening(port, with_cm):
            if self.children.wait(server, 0.05) or time.monotonic() > limit:
                raise Failed(f"the server did not begin to listen: {server.said()}")
        return server

    def use_of(self, children: list[Child], settle: float) -> tuple[cpu.Use, float, outputs.Figures]:
        """The resources used in a window that begins after `settle` seconds, when it began, and the power, if known."""
        if self.children.wait(children[-1], settle):
            raise TooShort
        try:
            pids = [pid for child in children for pid in cpu.with_children(child.pid)]
            energy = self.packages.read()
            for one in self.workers:
                one.mark()
            first = cpu.begin(pids, list(self.threads))
            if self.children.wait(children[-1], self.window):
                raise TooShort
            last = cpu.end(pids, list(self.threads))
            for one in self.workers:
                one.mark()
            power = {"watts": self.packages.watts(energy, self.packages.read())} if self.packages.folders else {}
        except OSError as error:
            raise TooShort from error
        return cpu.between(first, last, self.threads, self.cpus), first.machine.clock_ns / 1e9, power

    def finish(self, job: Job, server: Child, clients: list[Child]) -> None:
        """Waits for the clients and then the server to end; raises Failed if one does not, or fails."""
        for client in clients if job.way.ends_by_signal else []:
            self.children.tell(client)
        for client in clients:
            if not self.children.wait(client, self.limit):
                raise Hung(f"the client did not end within {self.limit:.0f} s")
            if client.status == -signal.SIGINT:
                raise TooEarly  # the client did not even have a handler for the signal
            if client.status:
                raise Failed(f"the client failed ({client.status}): {client.said()}")
        if job.way.family in ("qperf", "threads"):
            self.children.end(server)
            return
        if job.clients > 1 and not self.children.wait(server, 2):
            self.children.tell(server)  # the server waits for a client that was stopped before the accept
        if not self.children.wait(server, 20):
            raise Failed("the server did not end after its clients")
        if server.status:
            raise Failed(f"the server failed ({server.status}): {server.said()}")

    def attempt(self, job: Job, pace: Pace) -> outputs.Figures:
        """Runs a server and its clients to their ends; raises TooShort or TooEarly if the window was not within the transfer."""
        wish = self.wish(job, pace)
        argvs = [busy.helped(job.helped, argv) for argv in commands(job.way, wish)]
        self.command_lines[job.name] = [" ".join(argv) for argv in argvs]
        self.start_workers([busy.work(job.workers, job.helped)] if job.workers else [])
        server = self.start_server(job, argvs[0], PORT if job.way.family == "threads" else wish.port)
        clients = [self.children.start(f"client{n}", argvs[1]) for n in range(job.clients)]
        use: cpu.Use | None = None
        begun = 0.0
        power: outputs.Figures = {}
        perf = counters.begin(self.children, [child.pid for child in (server, *clients)]) if self.count else None
        try:
            use, begun, power = self.use_of([server, *clients], pace.settle)
        except TooShort:
            pass
        stopped = time.monotonic()
        counted = counters.end(self.children, perf) if perf else {}
        self.finish(job, server, clients)
        told = self.read(job, clients)
        pace.message = 1 / told[0]["rate"] if not job.load else pace.message
        if use is None:
            raise TooShort
        ended = stopped if job.way.ends_by_signal else clients[0].ended - MARGIN
        lasted = told[0].get("seconds", ended) + (told[0].get("warm_up", 0.0) / job.load if job.load else 0.0)
        if ended - lasted > begun:
            raise TooEarly
        result = {**figures(job, told, use, server, clients), **counted, **power}
        busy.add(self.workers, result)
        return result

    def read(self, job: Job, clients: list[Child]) -> list[outputs.Figures]:
        """The clients' figures. A client that succeeds without figures was still in its warm-up."""
        try:
            return [outputs.read(job.way.family, job.way.program, one.out.read_text()) for one in clients]
        except outputs.Unreadable as error:
            if job.way.ends_by_signal:
                raise TooEarly from error
            raise Failed(str(error)) from error

    def run(self, job: Job) -> outputs.Figures:
        """Measures a sample. perftest may fail to connect on a busy machine, or crash there: it gets three attempts."""
        first = Pace() if job.way.ends_by_signal else Pace(0.8)
        pace = self.paces.setdefault(f"{job.name} {job.size} {job.workers} {job.link.name}", first)
        failures, why = 0, []
        for _ in range(TRIES):
            try:
                return self.attempt(job, pace)
            except TooShort:
                pace.longer = min(pace.longer * 1.5, 8.0)
                why.append("too short")
            except TooEarly:
                pace.settle = min(pace.settle * 1.7, 8.0)
                why.append("begun late")
            except busy.Lost as error:
                raise Failed(str(error)) from error
            except Failed as error:
                failures += 1
                pace.message *= 5 if isinstance(error, Hung) else 1  # perhaps the run had too many messages
                if isinstance(error, Hung) or job.way.family != "perftest" or failures == 3:
                    raise
            finally:
                self.children.end_all()
        raise Failed(f"could not measure within the transfer ({', '.join(why)}): the machine is too slow, or busy")


def agents_cycle(job: Job, server: Child) -> float:
    """The time from one message to the next at the agent of a ping, as perftest measures it; 0 if there is none."""
    if job.way.family != "ours" or job.way.stream or job.clients > 1:
        return 0.0
    try:
        return outputs.ours(server.out.read_text()).get("p50_us", 0.0)
    except outputs.Unreadable:
        return 0.0


def figures(
    job: Job, told: list[outputs.Figures], use: cpu.Use, server: Child, clients: list[Child]
) -> outputs.Figures:
    """All figures of a run, by the names that the report uses."""
    result = {name: sum(one[name] for one in told) for name in ("rate", "mb_per_second") if name in told[0]}
    for name in ("p50_us", "mean_us", "p99_us", "p99_9_us", "max_us"):
        if all(name in one for one in told):
            result[name] = sorted(one[name] for one in told)[len(told) // 2]
    shares = [use.processes[client.pid] for client in clients]
    served = [share for pid, share in use.processes.items() if pid not in [client.pid for client in clients]]
    everybody = [*shares, *served]
    cycle = agents_cycle(job, server)
    if cycle:
        result["cycle_us"] = cycle
    result["machine_cpus"], result["error_cpus"] = use.machine_cpus, use.error_cpus
    result["irq_cpus"], result["softirq_cpus"] = use.irq_cpus, use.softirq_cpus
    result["client_cpus"] = sum(share.cpus for share in shares)
    result["server_cpus"] = sum(share.cpus for share in served)
    result["user_cpus"] = sum(share.user_cpus for share in everybody)
    result["system_cpus"] = sum(share.system_cpus for share in everybody)
    result["switches"] = sum(share.voluntary + share.involuntary for share in everybody)
    result["voluntary"] = sum(share.voluntary for share in everybody)
    result["client_sleeps"] = sum(one.get("sleeps", 0.0) for one in told)
    result["window_seconds"] = use.seconds
    result["server_life_cpu_s"] = server.user_seconds + server.system_seconds
    result["client_life_cpu_s"] = sum(client.user_seconds + client.system_seconds for client in clients)
    result.update({f"kernel_{name}_cpus": used for name, used in use.kernel_threads.items()})
    return result
