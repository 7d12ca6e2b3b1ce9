# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of the test suites, and how they are run: as a process here, or in VMs of the lab.

Place: between tests/run and the test programs. Contract: run() ends within the limits of its suites, or soon after
them; stop() ends what run() has started in other threads. Logs are in build/tests/.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from suites.verdict import Verdict, of_junit, of_kernel, of_lab, of_tap

TOP = Path(__file__).resolve().parents[2]
LOGS = Path("build/tests")
# What chooses tests inside of a suite, and is passed on to the lab.
CHOICES = ("TESTS_ALL", "CK_RUN_CASE", "CK_RUN_SUITE", "CK_TIMEOUT_MULTIPLIER")
HERE, DEVICE, GUEST, TWO_HOSTS, LAB, LIVE = "here", "device", "guest", "two hosts", "lab", "live"
PYTEST = "/usr/bin/python3 -m pytest"  # Debian's


@dataclass(frozen=True)
class Suite:
    """Where a suite is run (HERE: needs no device; GUEST: on the lab's device alone; LIVE: by itself in guests of its
    own), its program with its arguments, its limit in seconds, what it shows, and how many processors it keeps busy:
    programs that poll, in a VM of two processors, take both. A program that is PYTEST gets its files as arguments."""

    where: str
    program: str
    limit_s: int
    shows: str = ""
    processors: int = 2
    by_default: bool = True  # in make check; the others are for make check-long


# In the order in which they are begun, as far as processors are left: first what takes no time.
SUITES = {
    "unit": Suite(HERE, "build/tests/unit-tests", 120, "functions that need no device, with UBSan", 1),
    "tracer": Suite(
        HERE,
        f"{PYTEST} {' '.join(f'tests/tracer/test_{name}.py' for name in ('coverage', 'harmless', 'option', 'picture'))}",
        180,
        "verbs-trace: that it knows every call of the libraries, and changes nothing of what a program does; its picture",
        1,
    ),
    "page": Suite(HERE, f"{PYTEST} tests/tracer/test_page.py", 300, "that picture in Chromium", 1, by_default=False),
    "captured": Suite(
        HERE, f"{PYTEST} tests/capture", 900, "`make capture`: ladders of packets against the fields that tshark shows", 1
    ),
    "python": Suite(
        HERE,
        f"{PYTEST} tests --ignore tests/tracer --ignore tests/capture",
        600,
        "what is written in Python: bench/, course/, tools/, install/, and these runners",
        1,
    ),
    "library": Suite(
        HERE, "tests/library", 60, "that libour_control prints nothing, ends nothing, and has no state of its own", 1
    ),
    "loops": Suite(HERE, "tests/loops", 120, "what a compiler makes of the loops that watch memory", 1),
    "fuzz": Suite(HERE, "tests/fuzzers", 600, "what a peer or a user may send, by libFuzzer; skipped without clang", 1),
    "fake": Suite(
        HERE, "tests/fakes", 1200, "every program over fake verbs: each call fails, and completions come in every order"
    ),
    "bugs": Suite(HERE, "tests/bugs", 3600, "that the checks of the bug labs notice the bugs, and accept the original", 1),
    "graded": Suite(
        HERE, "tests/graded", 10800, "what the grader says of right, wrong and dishonest solutions", by_default=False
    ),
    "lab": Suite(LAB, "lab/test --quick", 2400, "the lab itself", 1, by_default=False),
    "live": Suite(LIVE, f"{PYTEST} tests/live", 10800, "real programs over the real drivers: see below"),
    "accused": Suite(
        DEVICE,
        f"{PYTEST} {' '.join(f'tests/tracer/test_{name}.py' for name in ('sins', 'output', 'extended', 'stages'))}",
        3600,
        "the faults that verbs-trace reports, over the real drivers",
    ),
    "programs": Suite(
        DEVICE,
        f"{PYTEST} tests/tracer/test_programs.py",
        3600,
        "other projects' programs under verbs-trace",
        by_default=False,
    ),
    "devices": Suite(
        GUEST, "tests/devices", 3600, "devices/devices: its figures, and a device with each fault", by_default=False
    ),
    "symptoms": Suite(
        GUEST, "tests/symptoms", 3600, "that docs/symptoms.md quotes what its commands print", by_default=False
    ),
    "quoted": Suite(HERE, "tests/quoted", 3600, "the same of the labs, and of other pages", by_default=False),
    "mine": Suite(HERE, "tests/mine/run", 3600, "the tests of a student's own library, and faults that they must notice", by_default=False),
    "fabric": Suite(GUEST, "tests/fabric", 3600, "bench/fabric: hosts of its own, and a Slurm cluster", by_default=False),
    "two-hosts": Suite(TWO_HOSTS, f"{PYTEST} tests/hosts", 3600, "programs on two machines, over a link that loses packets"),
}

_running: set[int] = set()  # process groups
_lock = threading.Lock()


def on_host() -> bool:
    """Whether this machine's own device is used, rather than the lab's."""
    return bool(os.environ.get("RDMA_ADDR")) and os.environ.get("LAB") != "1"


def shares_a_device(name: str) -> bool:
    """Whether nothing else may be run beside it: both would look at what is left on the device."""
    return SUITES[name].where in (DEVICE, LIVE) and on_host()


def groups(names: list[str]) -> list[list[str]]:
    """The suites, in their order. Those in one list take turns in one guest, as each boot takes seconds; of all rows each
    has guests of its own."""
    found: list[list[str]] = []
    shared: list[str] = []
    for name in names:
        if SUITES[name].where not in (DEVICE, LIVE) or on_host() or os.environ.get("TESTS_ALL") == "1":
            found.append([name])
            continue
        if not shared:
            found.append(shared)
        shared.append(name)
    return found


def stop() -> None:
    """Ends all that is running."""
    with _lock:
        for group in _running:
            os.killpg(group, signal.SIGTERM)


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


@contextmanager
def _started(command: list[str], log: Path, limit_s: int, stdout: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """A command that runs in a process group of its own."""
    limited = ["timeout", "-k", "30", str(limit_s), *command]
    with log.open("w") as said, _lock:
        process = subprocess.Popen(
            limited, stdin=subprocess.DEVNULL, stdout=stdout or said, stderr=said, text=True, start_new_session=True
        )
        _running.add(process.pid)
    try:
        yield process
    finally:
        process.wait()
        with _lock:
            _running.discard(process.pid)


def _start(command: list[str], log: Path, limit_s: int) -> int:
    """Runs the command. Returns its exit status."""
    with _started(command, log, limit_s) as process:
        return process.wait()


def _settings(name: str) -> list[str]:
    """The command that gives a test program called `name` its variables. Forgets its last results."""
    for kind in ("tap", "skipped", "log", "kernel", "xml"):
        (LOGS / f"{name}.{kind}").unlink(missing_ok=True)
    tap, skipped = LOGS / f"{name}.tap", LOGS / f"{name}.skipped"
    return ["env", f"CK_TAP_LOG_FILE_NAME={tap}", f"TESTS_SKIPPED={skipped}"]


def _with_pytest(name: str) -> bool:
    return SUITES[name].program.startswith(PYTEST)


def _command(name: str) -> list[str]:
    command = [*_settings(name), *SUITES[name].program.split()]
    if _with_pytest(name):
        command += [f"--junitxml={LOGS / name}.xml"]
        command += ["-m", "not by_name"] if os.environ.get("TESTS_ALL") else []
        command += ["-k", os.environ["CK_RUN_CASE"]] if "CK_RUN_CASE" in os.environ else []
    return command


def _in_lab(limit_s: int) -> list[str]:
    passed_on = [word for choice in CHOICES for word in ("--env", choice)]
    return ["lab/run", *passed_on, "--timeout", str(limit_s), "--"]


def _judge(name: str, status: int, log: Path) -> Verdict:
    if _with_pytest(name):
        return of_junit(name, status, _read(LOGS / f"{name}.xml"), _read(log))
    tap, skipped = _read(LOGS / f"{name}.tap"), _read(LOGS / f"{name}.skipped")
    return of_tap(name, status, tap, skipped, _read(log))


def _judge_kernel(name: str) -> Verdict:
    path = LOGS / f"{name}.kernel"
    return of_kernel(str(path), _read(path))


def _skip(name: str, reason: str) -> list[Verdict]:
    return [Verdict(name, skipped=1, lines=[f"  skipped {name}: {reason}"])]


def _in_turn(names: list[str]) -> Iterator[tuple[list[Verdict], float]]:
    """Runs suites in one guest; if it dies in one of them, those after it in another guest."""
    while names:
        turns = [[":::", name, str(SUITES[name].limit_s), *_command(name)] for name in names]
        limit_s = sum(SUITES[name].limit_s for name in names)
        command = [*_in_lab(limit_s), "tests/support/in-turn", *sum(turns, [])]
        begun = time.monotonic()
        with _started(command, LOGS / "guest.log", limit_s + 60, subprocess.PIPE) as process:
            assert process.stdout
            for line in process.stdout:
                name, status = line.split()
                yield [_judge(name, int(status), LOGS / f"{name}.log"), _judge_kernel(name)], time.monotonic() - begun
                names, begun = names[1:], time.monotonic()
            ended = process.wait()
        if names:
            yield [_judge(names[0], ended, LOGS / "guest.log"), _judge_kernel(names[0])], time.monotonic() - begun
            names = names[1:]


def run(names: list[str]) -> Iterator[tuple[list[Verdict], float]]:
    """Runs a list of groups(). As each suite ends: a verdict for each program of it, and for each kernel under it; and how
    many seconds it took. A LIVE suite by itself brings its own guests."""
    if (len(names) > 1 or SUITES[names[0]].where in (DEVICE, GUEST)) and not on_host():
        yield from _in_turn(names)
        return
    begun = time.monotonic()
    yield _run_one(names[0]), time.monotonic() - begun


def _run_one(name: str) -> list[Verdict]:
    """Runs a suite here, or in VMs that it has for itself."""
    suite = SUITES[name]
    log = LOGS / f"{name}.log"
    if suite.where in (TWO_HOSTS, LAB) and on_host():
        return _skip(name, "RDMA_ADDR names one machine; the lab has two: LAB=1")
    if suite.where == GUEST and on_host():
        return _skip(name, "it takes devices away: LAB=1")
    if suite.where == LAB:
        status = _start(suite.program.split(), log, suite.limit_s)
        return [of_lab(status, _read(log))]
    if name == "fuzz":
        compiler = ["make", "--no-print-directory", "-s", "print-fuzz-cc"]
        fuzz_cc = subprocess.run(compiler, capture_output=True, text=True, check=True).stdout.strip()
        missing = subprocess.run(["tests/fuzzers", "--missing", fuzz_cc], capture_output=True, text=True)
        if missing.returncode:
            return _skip(name, missing.stdout.strip())
    return [_judge(name, _start(_command(name), log, suite.limit_s), log)]
