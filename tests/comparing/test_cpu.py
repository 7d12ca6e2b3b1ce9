# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of bench/comparison/cpu.py: compares it with processes that know their own use of the CPU. Nothing is
asserted about how long anything takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import unittest

from bench.comparison import cpu

# Waits for a line, works in bursts of 300 us of CPU, far below a tick, says what it used, waits for its end.
BURSTS = """
import resource, sys, time
sys.stdin.readline()
first, slept = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
for burst in range(400):
    limit = time.process_time() + 0.0003
    while time.process_time() < limit:
        pass
    time.sleep(0.0007)
slept = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - slept
print(time.process_time() - first, slept, flush=True)
sys.stdin.readline()
"""
SPINS = "import sys\nprint(1, flush=True)\nwhile True: pass\n"


def child(program: str) -> subprocess.Popen[str]:
    """Starts a process that listens to us."""
    return subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


class Bursts(unittest.TestCase):
    """A process that works for a known time in bursts between two ticks."""

    use: cpu.Use
    pid: int
    told: float
    slept: int
    switches: int

    @classmethod
    def setUpClass(cls) -> None:
        with child(BURSTS) as process:
            assert process.stdin and process.stdout
            first = cpu.begin([process.pid], [])
            process.stdin.write("\n")
            process.stdin.flush()
            told, slept = process.stdout.readline().split()
            cls.told, cls.slept = float(told), int(slept)
            last = cpu.end([process.pid], [])
            process.stdin.close()
            cls.pid = process.pid
        cls.switches = last.processes[cls.pid].voluntary - first.processes[cls.pid].voluntary
        cls.use = cpu.between(first, last, {}, os.cpu_count() or 1)

    def test_the_process_is_charged_what_it_says(self) -> None:
        share = self.use.processes[self.pid]
        seconds = self.use.seconds
        self.assertGreaterEqual(share.cpus * seconds, 0.97 * self.told)
        self.assertGreaterEqual(self.told, 0.12)
        self.assertAlmostEqual(share.user_cpus + share.system_cpus, share.cpus)

    def test_the_machine_has_been_at_work_for_no_less(self) -> None:
        least = self.told - self.use.error_cpus * self.use.seconds
        self.assertGreaterEqual(self.use.machine_cpus * self.use.seconds, least)

    def test_its_switches_are_those_that_it_counts(self) -> None:
        """And a few more, while it waits for its lines. On a busy machine not each sleep is a voluntary one."""
        self.assertGreater(self.slept, 0)
        self.assertGreaterEqual(self.switches, self.slept)
        self.assertLessEqual(self.switches, self.slept + 10)


class Spinning(unittest.TestCase):
    """One thread that never sleeps."""

    def test_never_more_than_one_cpu(self) -> None:
        with child(SPINS) as process:
            assert process.stdout
            process.stdout.readline()
            try:
                for _ in range(3):
                    first = cpu.read_process(process.pid)
                    time.sleep(0.2)
                    last = cpu.read_process(process.pid)
                    seconds = (last.until_ns - first.clock_ns) / 1e9
                    # Kernels bring the account of a running process up to date at the tick.
                    self.assertLessEqual(cpu.share(first, last).cpus, 1 + cpu.TICK / seconds)
            finally:
                process.kill()


class Arithmetic(unittest.TestCase):
    """Figures that were worked out by hand."""

    def snapshot(self, clock: float, idle: float, cpu_s: float) -> cpu.Snapshot:
        machine = cpu.Machine(int(clock * 1e9), round(idle / cpu.TICK), 0, 0, 0)
        process = cpu.Process(int(clock * 1e9), int(clock * 1e9), int(cpu_s * 1e9), 3, int(cpu_s / cpu.TICK), 0, 0)
        return cpu.Snapshot(machine, {1: process}, {7: int(cpu_s * 5e8)})

    def test_busy_is_what_is_not_idle(self) -> None:
        use = cpu.between(self.snapshot(10, 5, 0), self.snapshot(14, 10.5, 1), {7: "ksoftirqd"}, 2)
        self.assertAlmostEqual(use.machine_cpus, (4 * 2 - 5.5) / 4)
        self.assertAlmostEqual(use.processes[1].cpus, 0.25)
        self.assertAlmostEqual(use.processes[1].system_cpus, 0.25)
        self.assertEqual(use.kernel_threads, {"ksoftirqd": 0.125})

    def test_more_idle_than_time_is_no_work(self) -> None:
        use = cpu.between(self.snapshot(0, 0, 0), self.snapshot(1, 2.01, 0), {7: "x"}, 2)
        self.assertEqual(use.machine_cpus, 0)

    def test_a_process_that_has_left(self) -> None:
        process = subprocess.Popen(["true"])
        process.wait()
        with self.assertRaises(OSError):
            cpu.read_process(process.pid)

    def test_the_kernels_threads_have_names(self) -> None:
        self.assertTrue(all("/" not in name for name in cpu.kernel_threads().values()))
