# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""One run in simulated time: what an ideal scheduler would do to each way of waiting.

Place: below measure.py, instead of runner.py. Contract: figures have the names of those of runner.py, and are exact. A round is a
seed, which decides how long the simulated device and a wake-up take; neither costs CPU time.
"""

from __future__ import annotations

import re
from collections import Counter

from . import outputs, remote
from .place import Link
from .runner import Failed, Hung, Job, Runner
from .ways import Wish, commands

CPUS = 2
LINK = Link("simulated", "192.0.2.1")
VERBS_SIM = "tools/verbs-sim/verbs-sim"
MESSAGES = {10: 10, 0: 11000}  # by load; others: those of a fifth of a second
LIMIT_S = 600.0
TIME = re.compile(r"CPU time ([\d.]+) ms: programs ([\d.]+)/([\d.]+), workers ([\d.]+), idle [\d.]+; workers lost ([\d.]+)")


def figures(out: str, err: str) -> outputs.Figures:
    """All of the run is the window. Raises Failed."""
    found, lines = TIME.search(err), {name: line for line in out.splitlines() for name in ("client", "agent") if f'"{name}"' in line}
    if not found or len(lines) < 2:
        raise Failed(f"verbs-sim: {err.strip()[-200:]}")
    told = outputs.ours(lines["client"])
    whole, *each = (float(one) / 1000 for one in found.groups())
    server, client, workers, lost = (one / whole * CPUS for one in each)
    result = remote.figures(told, remote.uses(lines["client"]), remote.uses(lines["agent"]))
    result.update(server_cpus=server, client_cpus=client, worker_cpus=workers, lost_cpus=lost)
    return {**result, "machine_cpus": server + client, "error_cpus": 0.0, "window_seconds": whole / CPUS}


class SimulatedRunner(Runner):
    """Runs the suite's programs by verbs-sim."""

    seeds: Counter[Job] = Counter()

    def run(self, job: Job) -> outputs.Figures:
        """Measures a sample."""
        if job.way.program != "build/ways" or job.helped or job.clients > 1:
            raise Failed("this is not simulated")
        server, client = commands(job.way, Wish(LINK.address, 18515, "", "", job.load, job.size, 1, 0, 0.0))
        client[client.index("-c") + 1] = str(MESSAGES.get(job.load, job.load // 5))
        self.command_lines[job.name] = [" ".join(argv) for argv in (server, client)]
        self.seeds[job] += 1
        options = ["--seed", str(self.seeds[job]), "--cpus", str(CPUS), "--workers", str(round(job.workers * CPUS))]
        child = self.children.start("verbs-sim", [VERBS_SIM, *options, "--", *server, ":::", *client])
        try:
            if not self.children.wait(child, LIMIT_S):
                raise Hung(f"verbs-sim did not end within {LIMIT_S:.0f} s")
            return figures(child.out.read_text(), child.err.read_text())
        except outputs.Unreadable as error:
            raise Failed(str(error)) from error
        finally:
            self.children.end_all()
