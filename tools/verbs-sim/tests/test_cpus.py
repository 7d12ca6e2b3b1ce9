# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""CPUs that programs share with workers: an ideal scheduler gives each its part, and CPU time is neither made nor lost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from verbs_sim import simulate

CPUS, SECONDS, QUANTUM_US = 2, 0.3, 1000
SPIN = f"""
import os, resource, time
end = time.monotonic() + {SECONDS}
while time.monotonic() < end: WAIT
used = resource.getrusage(resource.RUSAGE_SELF)
os.write(1, b"%f %d\\n" % (used.ru_utime + used.ru_stime, used.ru_nivcsw))
os._exit(0)
"""
SAID = re.compile(r"CPU time ([\d.]+) ms: programs ([\d./]+), workers ([\d.]+), idle ([\d.]+); workers lost ([\d.]+)")


@dataclass
class Shared:
    """The line that says who had the CPUs, in ms."""

    all: float
    programs: list[float]
    workers: float
    idle: float
    lost: float
    out: str


def share(folder: Path, wait: str, programs: int, workers: int) -> Shared:
    """Runs programs that look at the clock until their time is over, and between two looks do `wait`."""
    (folder / "spin.py").write_text(SPIN.replace("WAIT", wait))
    argv = ["/usr/bin/python3", str(folder / "spin.py")]
    run = simulate([argv] * programs, "--cpus", str(CPUS), "--quantum", str(QUANTUM_US), "--workers", str(workers), "--servers", "0")
    assert run.exit == 0, run.why()
    found = SAID.search(run.err)
    assert found
    whole, worked, idle, lost = (float(found[n]) for n in (1, 3, 4, 5))
    return Shared(whole, [float(one) for one in found[2].split("/")], worked, idle, lost, run.out)


@pytest.mark.parametrize("wait", ["pass", "time.sleep(0.001)"])
@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_all_time_is_somebodys(wait: str, workers: int, tmp_path: Path) -> None:
    """Also to the nanosecond, but for the rounding of five figures; and workers lose what the programs get, if none is idle."""
    shared = share(tmp_path, wait, 2, workers)
    assert abs(sum(shared.programs) + shared.workers + shared.idle - shared.all) < 5e-6
    assert abs(min(workers, CPUS) * shared.all / CPUS - shared.workers - shared.lost) < 5e-6
    if workers >= CPUS:
        assert abs(shared.lost - sum(shared.programs)) < 5e-6 and shared.idle < 1e-6


@pytest.mark.parametrize("programs, workers", [(1, 0), (1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (3, 2)])
def test_one_that_spins_gets_its_part(programs: int, workers: int, tmp_path: Path) -> None:
    """Less than two quanta and the start away from what division says; and it knows by itself."""
    shared = share(tmp_path, "pass", programs, workers)
    part = min(1, CPUS / (programs + workers)) * shared.all / CPUS
    for used, line in zip(shared.programs, shared.out.splitlines()):
        assert abs(used - part) < 3 * QUANTUM_US / 1000
        assert abs(float(line.split()[0]) * 1000 - used) < QUANTUM_US / 1000
        assert (int(line.split()[1]) > 0) == (programs + workers > CPUS)


def test_one_that_sleeps_or_yields_takes_next_to_nothing(tmp_path: Path) -> None:
    """Asleep it goes on when its time has come. After a yield, it waits for the quantum of whoever runs."""
    spins, asleep, yields = (share(tmp_path, wait, 2, 4) for wait in ("pass", "time.sleep(0.001)", "os.sched_yield()"))
    assert asleep.lost < 0.01 * spins.lost and yields.lost < 0.01 * spins.lost
    assert asleep.all < spins.all
    assert all(int(line.split()[1]) <= 2 for line in asleep.out.splitlines())
