# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A server, hostile clients of all kinds around it, and honest ones beside them, one after the other.

Place: between tests/siege and ways.py; runs in the virtual machine, or on a host with a device. Contract: a
Siege ends whatever it has started, by process id.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from random import Random
from typing import Any

from sieges.judge import (
    BESIEGED,
    ENDED,
    KINDS,
    RELIEVED,
    Honest,
    Seen,
    driver_hangs,
    driver_is_deaf,
    held_by,
    is_surprise,
)
from sieges.ways import ONE, Way, Where, ways_to
from tools.folders import folder

PATIENCE_S = 120  # of anything that has to come; the kernel may take a minute to destroy an id
CLIENT_S = 120  # of an honest client
STOOD_STILL_S = 5
KILLED_S = 20  # that a killed program takes to end
LONGEST_S = 30  # of a hostile program that ends by itself


def listed(kind: str) -> list[dict[str, Any]]:
    """The kernel's objects of one kind."""
    text = subprocess.run(["rdma", "-j", "resource", "show", kind], capture_output=True, text=True, check=True)
    return list(json.loads(text.stdout or "[]"))


def holds(pid: int) -> str:
    """A process' descriptors and RDMA objects."""
    counts = {"fd": len(os.listdir(f"/proc/{pid}/fd"))}
    tasks = set(map(int, os.listdir(f"/proc/{pid}/task")))
    counts |= held_by(tasks, {kind: listed(kind) for kind in ("ctx", *KINDS)})
    return " ".join(f"{kind} {count}" for kind, count in counts.items())


def memory_kib(pid: int) -> int:
    """Its resident memory."""
    found = re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) if found else 0


def stacks(pid: int) -> list[str]:
    """In which functions of the kernel a process' threads wait, the innermost first."""
    found = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        try:
            frames = (task / "stack").read_text(encoding="ascii").splitlines()
        except OSError:  # it has ended, or this kernel does not tell
            continue
        found.append(" < ".join(re.sub(r"^\S+ |\+0x.*", "", frame) for frame in frames))
    return found


class Watch:
    """How long a siege still lasts: the time for which the machine itself stands still does not count."""

    def __init__(self, seconds: float) -> None:
        self.begun = self.last = time.monotonic()
        self.end = self.begun + seconds
        self.pauses: list[tuple[float, float]] = []  # from, to

    def look(self) -> None:
        """To be called several times a second."""
        now = time.monotonic()
        if now - self.last > STOOD_STILL_S:
            self.pauses.append((self.last, now))
            self.end += now - self.last
        self.last = now


class Siege:
    """One server and all that is done to it."""

    def __init__(self, where: Where, seed: str, scratch: Path, kinds: list[str]) -> None:
        self.where = where
        self.seed = seed
        self.scratch = scratch
        self.ways = {name: way for name, way in ways_to(where).items() if name in kinds}
        self.seen = Seen(where.name, where.transport, until=BESIEGED)
        self.seen.about["kernel"] = f"Linux {os.uname().release} ({os.uname().version})"
        self.over = threading.Event()  # for the hostile
        self.running: set[subprocess.Popen[str]] = set()
        self.lock = threading.Lock()
        self.threads: list[threading.Thread] = []
        self.before = ""
        self.heard = 0  # bytes of what the server has said

    def open_server(self) -> bool:
        """Starts it; whether it serves an honest client by now."""
        stage = self.where.stage
        log = self.scratch / "server"
        words = [f"{folder(self.where.name)}/server", "-a", self.where.address, "-p", str(self.where.port), "-n", "0"]
        words += ["--timeout", str(stage.silence_s), *stage.server]
        if stage.asks:
            words += ["--max-memory", "100m"]
        with open(log, "wb") as err, open(self.scratch / "server.out", "wb") as out:
            self.server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        listens = self.await_(lambda: "listening on" in log.read_text(errors="replace"))
        first = self.honest()  # what is made once for all clients is no growth
        if not listens or first.status:
            self.server.kill()
            self.server.wait()
            self.seen.lost = f"no beginning: {first.said or 'no client is served'}; {log.read_text(errors='replace')}"
            return False
        # The server may still be closing what the first one used.
        self.await_(self.rests)
        self.seen.kib = [memory_kib(self.server.pid)]
        return True

    def await_(self, what: object) -> bool:
        """Repeats a condition until it holds; false if it does not in PATIENCE_S."""
        assert callable(what)
        end = time.monotonic() + PATIENCE_S
        while not what():
            if time.monotonic() > end or self.server.poll() is not None:
                return False
            time.sleep(0.1)
        return True

    def rests(self) -> bool:
        """Whether the server holds what it held a second ago."""
        self.before = holds(self.server.pid)
        time.sleep(1)
        return holds(self.server.pid) == self.before

    def begin(self) -> None:
        """Lets the hostile ones come: each kind by itself, or one after the other where one is served at a time."""
        ways = list(self.ways)
        self.seen.hostile = dict.fromkeys(ways, 0)
        groups = [[name] for name in ways]
        if self.where.stage.serves == ONE:
            groups = [[name for name in ways if name == "nonsense"], [name for name in ways if name != "nonsense"]]
        for names in filter(None, groups):
            rng = Random(f"{self.seed} {self.where.name} {self.where.transport} {names}")
            turns = {name: self.ways[name] for name in names}
            self.threads.append(threading.Thread(target=self.go_on, args=(turns, rng)))
            self.threads[-1].start()

    def go_on(self, ways: dict[str, Way], rng: Random) -> None:
        """One hostile program after the other."""
        while not self.over.is_set():
            name = rng.choice(list(ways))
            self.once(ways[name], rng)
            with self.lock:
                self.seen.hostile[name] += 1

    def start(self, argv: list[str], **streams: int) -> subprocess.Popen[str]:
        """A program that is ended with the siege."""
        process: subprocess.Popen[str] = subprocess.Popen(argv, text=True, **streams)  # type: ignore[call-overload]
        with self.lock:
            self.running.add(process)
        return process

    def once(self, way: Way, rng: Random) -> None:
        """One hostile program, from its start to its end."""
        argv = way.command(self.where, rng)
        out = subprocess.PIPE if argv[0].endswith("crowd") else subprocess.DEVNULL
        process = self.start(argv, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.DEVNULL)
        if self.over.is_set():
            process.kill()
        if process.stdout:
            self.count(process.stdout.readline())
        if way.lasts_s:
            self.over.wait(rng.uniform(0.05, way.lasts_s))
        if way.end:
            name = rng.choice(way.end)
            process.send_signal(signal.Signals[f"SIG{name}"])
            self.over.wait(0.5 if name == "STOP" else 0)
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(0 if way.end and name in ("STOP", "KILL") else LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()
        self.bury(process)

    def bury(self, process: subprocess.Popen[str]) -> None:
        """Waits for one that was killed; if the kernel does not let it end, for no longer than KILLED_S."""
        try:
            process.wait(KILLED_S)
        except subprocess.TimeoutExpired:
            with self.lock:
                self.seen.stuck += 1
        if process.stdout:
            process.stdout.close()
        with self.lock:
            self.running.discard(process)

    def count(self, line: str) -> None:
        """What a crowd says has become of its requests."""
        found = re.match(r"crowd: (\d+) connected, (\d+) refused, (\d+) failed", line)
        if found:
            with self.lock:
                self.seen.requests += sum(map(int, found.groups()))

    def honest(self) -> Honest:
        """One honest client, to its end."""
        begun = time.monotonic()
        argv = self.where.client(*self.where.stage.client, "-q")
        process = self.start(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, said = process.communicate(self.where.stage.typed, timeout=CLIENT_S)
        except subprocess.TimeoutExpired:
            waits = stacks(self.server.pid)
            said = f"did not end in {CLIENT_S} s; the server's threads wait in: {'; '.join(waits)}"
            self.seen.driver = driver_hangs(waits)
            process.kill()
            self.bury(process)
        with self.lock:
            self.running.discard(process)
        status = -1 if process.returncode is None else process.returncode
        if status and self.where.transport == "iWARP" and self.server.poll() is None:
            tcp = Path("/proc/net/tcp").read_text(encoding="ascii")
            self.seen.driver = self.seen.driver or driver_is_deaf(tcp, self.where.port)
        return Honest(status, said.strip(), begun, time.monotonic())

    def beside(self, watch: Watch) -> None:
        """Honest clients until it is over, and a look at the memory at half time."""
        half = (watch.begun + watch.end) / 2
        while time.monotonic() < watch.end and self.server.poll() is None and not self.seen.driver:
            if len(self.seen.kib) == 1 and time.monotonic() > half:
                self.seen.kib.append(memory_kib(self.server.pid))
            self.seen.honest.append(self.honest())

    def relieve(self) -> None:
        """Ends the hostile ones."""
        self.over.set()
        with self.lock:
            running = list(self.running)
        for process in running:
            process.kill()
        for thread in self.threads:
            thread.join()

    def look(self) -> None:
        """What is left after it, while the server still runs."""
        seen = self.seen
        self.relieve()
        if seen.driver:  # there is nothing more to see
            return self.listen()
        if self.server.poll() is None:
            seen.after = self.honest()
            self.await_(lambda: holds(self.server.pid) == self.before)
        if self.server.poll() is None:
            seen.held = [self.before, holds(self.server.pid)]
            if seen.held[0] != seen.held[1]:
                seen.driver = seen.driver or driver_hangs(stacks(self.server.pid))
            seen.kib.append(memory_kib(self.server.pid))
        else:
            seen.ended_early = True
        self.listen()
        seen.until = RELIEVED

    def listen(self) -> None:
        """Takes in what the server has said since the last time: of thousands of lines, the surprising ones."""
        with open(self.scratch / "server", "rb") as log:
            log.seek(self.heard)
            said = log.read()
        whole = said[: said.rfind(b"\n") + 1]
        self.heard += len(whole)
        lines = whole.decode("utf-8", "replace").splitlines()
        self.seen.said += filter(is_surprise, (line.split(": ", 1)[-1] for line in lines))

    def close(self) -> Seen:
        """How the server ends."""
        seen = self.seen
        if seen.driver:
            self.server.kill()
            return seen
        if self.server.poll() is None:
            self.server.terminate()
            try:
                self.server.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.server.kill()
                seen.hung = True
        seen.status = self.server.poll() or 0
        self.listen()
        seen.until = ENDED
        return seen
