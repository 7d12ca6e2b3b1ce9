# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""CPU time of the machine and of single processes, measured from outside, in the same way for all programs.

Place: below runner.py. Contract: two snapshots make a Use; a process must live at both. The machine's busy time is the
time of all CPUs less their idle time; the kernel counts idle time exactly if it stops the tick of an idle CPU. The
busy columns of /proc/stat are samples; they are used only to divide the time into kinds.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds
PROC = Path("/proc")
CPUCLOCK_SCHED = 2  # constants for clock ids of processes, see clock_getcpuclockid(3)
CLOCK = "time of all CPUs less idle, iowait and steal of /proc/stat, in units of 10 ms"


@dataclass(frozen=True)
class Process:
    """The CPU time that a process has used so far. cpu_ns is the scheduler's count, read between clock_ns and until_ns;
    user and system are ticks."""

    clock_ns: int
    until_ns: int
    cpu_ns: int
    user_ticks: int
    system_ticks: int
    voluntary: int
    involuntary: int


@dataclass(frozen=True)
class Machine:
    """The first line of /proc/stat, and the time when it was read."""

    clock_ns: int
    idle_ticks: int
    irq_ticks: int
    softirq_ticks: int
    switches: int


@dataclass(frozen=True)
class Snapshot:
    """The machine, processes by pid, and kernel threads by pid, with the nanoseconds that they have run."""

    machine: Machine
    processes: dict[int, Process]
    kernel: dict[int, int]


@dataclass(frozen=True)
class Share:
    """The use by a process in an interval: CPUs (1 is one whole CPU), and context switches per second."""

    cpus: float
    user_cpus: float
    system_cpus: float
    voluntary: float
    involuntary: float


@dataclass(frozen=True)
class Use:
    """The use in an interval. machine_cpus is the use of all CPUs together: 2 is two whole CPUs."""

    seconds: float
    machine_cpus: float
    error_cpus: float
    irq_cpus: float
    softirq_cpus: float
    switches: float
    processes: dict[int, Share] = field(default_factory=dict)
    kernel_threads: dict[str, float] = field(default_factory=dict)


def read_machine() -> Machine:
    """Reads /proc/stat."""
    now = time.monotonic_ns()
    lines = (PROC / "stat").read_text().splitlines()
    columns = [int(word) for word in lines[0].split()[1:]]
    switches = next(int(line.split()[1]) for line in lines if line.startswith("ctxt "))
    idle = columns[3] + columns[4] + columns[7]
    return Machine(now, idle, columns[5], columns[6], switches)


def read_switches(pid: int) -> tuple[int, int]:
    """Voluntary and involuntary context switches of all threads that a process has."""
    sums = [0, 0]
    for task in os.listdir(PROC / str(pid) / "task"):
        for line in (PROC / str(pid) / "task" / task / "status").read_text().splitlines():
            if "voluntary_ctxt_switches" in line:
                sums[line.startswith("non")] += int(line.split()[1])
    return sums[0], sums[1]


def read_process(pid: int) -> Process:
    """The CPU time of a process. Raises OSError if there is none. The clock is read before and after the process's
    account."""
    before = time.monotonic_ns()
    cpu = time.clock_gettime_ns((~pid << 3) | CPUCLOCK_SCHED)
    after = time.monotonic_ns()
    fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return Process(before, after, cpu, int(fields[11]), int(fields[12]), *read_switches(pid))


def with_children(pid: int) -> list[int]:
    """The process and its children, because qperf's server serves in a child."""
    try:
        return [pid, *map(int, (PROC / str(pid) / "task" / str(pid) / "children").read_text().split())]
    except OSError:
        return [pid]


def kernel_threads() -> dict[int, str]:
    """The pids of the kernel's threads, with their names without the number that distinguishes threads of the same
    kind."""
    names = {}
    for entry in os.listdir(PROC):
        try:
            stat = (PROC / entry / "stat").read_text() if entry.isdigit() else ""
        except OSError:
            continue
        if stat.rpartition(")")[2].split()[1:2] == ["2"]:
            name = stat[stat.index("(") + 1 : stat.rindex(")")]
            names[int(entry)] = name.split("/")[0].split(":")[0].rstrip("0123456789_")
    return names


def read_kernel(pids: list[int]) -> dict[int, int]:
    """Nanoseconds run by each of the kernel threads that are still there."""
    run = {}
    for pid in pids:
        try:
            run[pid] = int((PROC / str(pid) / "schedstat").read_text().split()[0])
        except (OSError, IndexError):
            continue
    return run


def begin(pids: list[int], threads: list[int]) -> Snapshot:
    """A snapshot at the beginning. The machine is read last, so that the cost of this function is not in the interval."""
    kernel = read_kernel(threads)
    processes = {pid: read_process(pid) for pid in pids}
    return Snapshot(read_machine(), processes, kernel)


def end(pids: list[int], threads: list[int]) -> Snapshot:
    """A snapshot at the end. The machine is read first."""
    machine = read_machine()
    processes = {pid: read_process(pid) for pid in pids}
    return Snapshot(machine, processes, read_kernel(threads))


def share(first: Process, last: Process) -> Share:
    """User and system time: the scheduler's count, divided in the ratio of the ticks, which are samples. The interval
    is the longest that it can have been, so that one thread never has more than one CPU."""
    seconds = (last.until_ns - first.clock_ns) / 1e9
    cpus = (last.cpu_ns - first.cpu_ns) / 1e9 / seconds
    user = last.user_ticks - first.user_ticks
    system = last.system_ticks - first.system_ticks
    part = user / (user + system) if user + system else 0.0
    return Share(
        cpus,
        cpus * part,
        cpus * (1 - part),
        (last.voluntary - first.voluntary) / seconds,
        (last.involuntary - first.involuntary) / seconds,
    )


def between(first: Snapshot, last: Snapshot, names: dict[int, str], cpus: int) -> Use:
    """The use between two snapshots."""
    seconds = (last.machine.clock_ns - first.machine.clock_ns) / 1e9
    idle = (last.machine.idle_ticks - first.machine.idle_ticks) * TICK
    kernel: dict[str, float] = {}
    for pid, run in last.kernel.items():
        used = (run - first.kernel.get(pid, run)) / 1e9 / seconds
        if used > 0.001:
            kernel[names[pid]] = kernel.get(names[pid], 0.0) + used
    return Use(
        seconds,
        max(0.0, cpus - idle / seconds),
        2 * TICK / seconds,
        (last.machine.irq_ticks - first.machine.irq_ticks) * TICK / seconds,
        (last.machine.softirq_ticks - first.machine.softirq_ticks) * TICK / seconds,
        (last.machine.switches - first.machine.switches) / seconds,
        {pid: share(first.processes[pid], one) for pid, one in last.processes.items()},
        kernel,
    )


def steadiness(times: int = 20) -> float:
    """Measures how much longer a fixed piece of work takes on average than at best: 1 if no other process uses these CPUs. This
    shows a hypervisor that takes CPU time away, which no account of this machine does."""
    took = []
    sum(range(20000))  # once before: an emulator has to translate new code first
    for _ in range(times):
        begun = time.monotonic_ns()
        sum(range(20000))
        took.append(time.monotonic_ns() - begun)
    return sum(took) / times / min(took)


def background(seconds: float, cpus: int) -> float:
    """CPUs that the machine uses while this process sleeps."""
    first = begin([], [])
    time.sleep(seconds)
    return between(first, end([], []), {}, cpus).machine_cpus
