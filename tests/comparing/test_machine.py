# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of what is measured and said of the machine: cpu.py against processes that know their own use of the CPU, of
which nothing is asserted about how long it takes; counters.py with software events of perf, or with outputs of it; and place.py
of a processor that saves power, with files made up, as virtual machines have none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest.mock import patch

from bench.comparison import children, counters, cpu, place

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
        """There are a few more switches, while it waits for its lines. On a busy machine not each sleep is a voluntary switch."""
        self.assertGreater(self.slept, 0)
        self.assertGreaterEqual(self.switches, self.slept)
        self.assertLessEqual(self.switches, self.slept + 10)


class Spinning(unittest.TestCase):
    """Tests with one thread that never sleeps."""

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
    """Tests with figures that were worked out by hand."""

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


# ---- perf -------------------------------------------------------------------------------------------------

# Output of perf 6.1: a counter, one that is shared with others, one that does not exist, one whose process slept.
WRITTEN = """461636060,ns,duration_time,461636060,100.00,0.000,/sec
923272120,,cycles:u,461000000,100.00,2.000,GHz
<not supported>,,instructions,0,100.00,,
<not counted>,msec,task-clock,0,100.00,,
"""


class Counters(unittest.TestCase):
    """Tests of the counters that perf reads."""

    def test_what_was_not_counted_is_left_out(self) -> None:
        self.assertEqual(counters.parse(WRITTEN), {"duration_time": 461636060, "cycles": 923272120})
        self.assertEqual(counters.parse("Error:\n"), {})

    def test_without_perf_that_is_said(self) -> None:
        with patch("shutil.which", return_value=None):
            self.assertIn("not installed", counters.absent())

    def test_an_event_that_there_is_not_is_named(self) -> None:
        said = subprocess.CompletedProcess([], 0, "", WRITTEN)
        with patch("shutil.which", return_value="perf"), patch("subprocess.run", return_value=said):
            self.assertRegex(counters.absent(("cycles", "instructions")), "offers instructions$")
            self.assertEqual(counters.absent(("cycles",)), "")

    def test_a_process_that_spins(self) -> None:
        if shutil.which("perf") is None or counters.absent(("task-clock",)):
            return  # the rest was tested without it
        with tempfile.TemporaryDirectory() as folder:
            all_children = children.Children(Path(folder))
            self.addCleanup(all_children.end_all)
            spinning = all_children.start("spinning", [sys.executable, "-c", "while True: pass"])
            perf = counters.begin(all_children, [spinning.pid], ("task-clock", "page-faults"))
            time.sleep(0.5)
            found = counters.end(all_children, perf)
            all_children.end_all()
        self.assertEqual(set(found), {"perf_task_clock", "perf_page_faults"})
        self.assertTrue(0 < found["perf_task_clock"] <= 1010, found)  # milliseconds of CPU time in each second


# ---- A processor that saves power -------------------------------------------------------------------------


def write(cpus: Path, files: dict[str, str]) -> None:
    """Writes files as in /sys/devices/system/cpu."""
    for name, text in files.items():
        (cpus / name).parent.mkdir(parents=True, exist_ok=True)
        (cpus / name).write_text(text + "\n")


def state(number: int, name: str, us: int, disabled: int = 0) -> dict[str, str]:
    folder = f"cpu0/cpuidle/state{number}"
    return {f"{folder}/name": name, f"{folder}/latency": str(us), f"{folder}/disable": str(disabled)}


def test_nothing_is_known(tmp_path: Path) -> None:
    assert place.unsteady(tmp_path) == [] and place.turbo(tmp_path) == "" and place.idle_states(tmp_path) == []


def test_each_is_named_with_its_remedy(tmp_path: Path) -> None:
    write(tmp_path, {"cpu0/cpufreq/scaling_governor": "powersave", "intel_pstate/no_turbo": "0", **state(0, "POLL", 0), **state(1, "C1", 2), **state(2, "C6", 150)})
    governor, idle, turbo = place.unsteady(tmp_path)
    assert "powersave" in governor and governor.endswith("cpupower frequency-set -g performance")
    assert "(C6 takes 150 us)" in idle and "cpupower idle-set -D 10" in idle
    assert turbo.endswith(f"echo 1 >{tmp_path}/intel_pstate/no_turbo")


def test_all_is_steady(tmp_path: Path) -> None:
    write(tmp_path, {"cpu0/cpufreq/scaling_governor": "performance", "cpufreq/boost": "0", **state(1, "C1", 2), **state(2, "C6", 150, disabled=1)})
    assert place.unsteady(tmp_path) == [] and place.turbo(tmp_path) == "off" and place.idle_states(tmp_path) == [("C1", 2)]


def test_boost(tmp_path: Path) -> None:
    write(tmp_path, {"cpufreq/boost": "1"})
    assert place.unsteady(tmp_path)[0].endswith(f"echo 0 >{tmp_path}/cpufreq/boost")
