# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""One run on other machines, through a launcher such as ssh HOST, srun, kubectl exec, docker exec.

Place: below measure.py, instead of runner.py. Contract: runs only the suite's programs, at the same path as here. CPU
times are those that the programs report about themselves and their machine; other programs report none. timeout(1) ends
both sides even if the launcher fails.
"""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import replace
from typing import Any

from . import busy, outputs
from .children import Child
from .runner import Failed, Hung, Job, Pace, Runner
from .ways import UNTOLD, WAYS, Wish, commands

START = 0.5  # seconds until a program that was launched has connected, mostly
GRACE = 10  # seconds to start, connect and leave


def uses(text: str) -> dict[str, Any]:
    """The CPU use that a program reports; empty if it reports none."""
    try:
        result: dict[str, Any] = json.loads(text.splitlines()[0])
        return result if "process_cpu" in result and result["seconds"] else {}
    except (IndexError, ValueError, TypeError):
        return {}


def cpus(result: dict[str, Any]) -> float:
    """CPUs of the process."""
    used = result["process_cpu"]
    return float((used["user_seconds"] + used["system_seconds"]) / result["seconds"])


def figures(told: outputs.Figures, client: dict[str, Any], server: dict[str, Any]) -> outputs.Figures:
    """The figures of runner.figures that are known. The CPU use of the two machines is added up."""
    result = {name: told[name] for name in ("rate", "mb_per_second", "p50_us", "mean_us", "p99_us", "p99_9_us", "max_us") if name in told}
    if client and server:
        result["client_cpus"], result["server_cpus"] = cpus(client), cpus(server)
        if all(one["machine_cpu"] for one in (client, server)):
            result["machine_cpus"] = sum(one["machine_cpu"]["busy_seconds"] / one["seconds"] for one in (client, server))
        result["error_cpus"] = sum(0.02 / one["seconds"] for one in (client, server))
        for one in (client, server):
            switches = one["context_switches"]
            for name, number in (("switches", sum(switches.values())), ("voluntary", switches["voluntary"])):
                result[name] = result.get(name, 0.0) + number / one["seconds"]
        result["client_sleeps"] = told.get("sleeps", 0.0)
        if "p50_us" in told:
            result["cycle_us"] = server["round_trip_us"]["p50"]
    return result


class RemoteRunner(Runner):
    """Runs through launchers."""

    def launched(self, launcher: tuple[str, ...], argv: list[str], limit: int) -> list[str]:
        """A command with absolute paths and without quotes: ssh passes its arguments to a shell, others do not."""
        program = os.path.abspath(argv[0]) if "/" in argv[0] else argv[0]
        return [*launcher, "timeout", "-k", "5", str(limit), program, *argv[1:]]

    def wish_remote(self, job: Job, pace: Pace) -> Wish:
        """The work of the programs, in whole seconds. A run ends by its count or time: no signal can be sent to it."""
        seconds = max(1, math.ceil(self.window + pace.settle + (START if job.workers else 0)))
        return replace(self.wish(job, pace), seconds=float(seconds), until=seconds)

    def finish_remote(self, clients: list[Child], server: Child, limit: int) -> None:
        """Waits until all have ended. Reports a program that fails with its message or the launcher's, and also another
        one that fails within a second."""
        end = time.monotonic() + limit + 10
        running = [*clients, server]
        while running:
            running = [child for child in running if not self.children.wait(child, 0.05)]
            if any(child.status for child in (*clients, server)):
                whys = [
                    f"{child.name} failed ({child.status}): {child.said()}"
                    for child in (server, *clients)
                    if self.children.wait(child, 1.0) and child.status
                ]
                raise Failed("; ".join(whys))
            if running and time.monotonic() > end:
                raise Hung(f"{running[0].name} did not end within {limit + 10} s: {running[0].said()}")

    def run(self, job: Job) -> outputs.Figures:
        """Measures a sample. If a client cannot wait for its server to listen, it is started a second later."""
        if job.way.name in UNTOLD or job.way.family in ("qperf", "tcp"):
            raise Failed("this program cannot be run through a launcher")
        if job.clients > 1:
            raise Failed("several clients cannot be run through a launcher")
        pace = self.paces.setdefault(f"{job.way.name} {job.size} {job.link.name}", Pace())
        wish = self.wish_remote(job, pace)
        limit = wish.until + GRACE + (0 if job.way.ends_by_signal else round(self.limit))
        argvs = [busy.helped(job.helped, argv) for argv in commands(job.way, wish)]
        self.command_lines[job.name] = [" ".join(argv) for argv in argvs]
        hosts = dict.fromkeys((self.server_launch, self.client_launch)) if job.workers else ()
        work = busy.work(job.workers, job.helped)
        try:
            self.start_workers([self.launched(host, work, limit + math.ceil(busy.LIMIT_S)) for host in hosts])
            server = self.children.start("server", self.launched(self.server_launch, argvs[0], limit))
            if self.children.wait(server, 0.0 if job.way.ends_by_signal else 2.0):
                raise Failed(f"the server failed ({server.status}): {server.said()}")
            client = self.children.start("client0", self.launched(self.client_launch, argvs[1], limit))
            for wait in (pace.settle + START, self.window if hosts else 0):
                if hosts and self.children.wait(client, wait):
                    raise Failed(f"the client ended ({client.status}) before the window did: {client.said()}")
                for one in self.workers:
                    one.mark()
            self.finish_remote([client], server, limit)
            told = outputs.read(job.way.family, job.way.program, client.out.read_text())
            result = figures(told, uses(client.out.read_text()), uses(server.out.read_text()))
            busy.add(self.workers, result)
        except busy.Lost as error:
            raise Failed(str(error)) from error
        except outputs.Unreadable as error:
            pace.settle = 2 * pace.settle + 1  # longer the next time
            raise Failed(str(error)) from error
        finally:
            self.children.end_all()
        if not job.load:
            pace.message = 1 / told["rate"]
        return result


def possible(way: str) -> bool:
    """Returns whether a way can be run through a launcher."""
    return way not in UNTOLD and WAYS[way].family in ("ours", "perftest", "pingpong")
