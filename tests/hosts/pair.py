# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Two virtual machines of the lab, asked by files, and frozen and thawed by pid.

Place: below case.py. Contract: a machine that does not answer in time, or has ended, is a Lost;
after that the pair can only be closed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
LOGS = TOP / f"build/tests/hosts/{os.getpid()}"  # several may run at the same time
BOOT_S = 240
ANSWER_S = 90


class Lost(Exception):
    """A machine does not answer any more."""


def children(pid: int) -> list[int]:
    """Process ids of the children of a process."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


class Host:
    """One of the two hosts."""

    def __init__(self, number: int, lab: subprocess.Popen[bytes]) -> None:
        self.number = number
        self.lab = lab
        self.box = LOGS / f"box-{number}"
        self.requests = 0

    def send(self, requests: Any) -> None:
        """Sends a request, and does not wait for the answer."""
        self.requests += 1
        new = self.box / "new"
        new.write_text(json.dumps(requests), encoding="utf-8")
        new.rename(self.box / f"request-{self.requests}")

    def receive(self, seconds: float) -> list[Any]:
        """The answers to what was sent last."""
        path = self.box / f"answer-{self.requests}"
        end = time.monotonic() + seconds
        while not path.exists():
            if self.lab.poll() is not None:
                raise Lost(f"the lab ended with status {self.lab.returncode}, see {LOGS}/lab.log")
            if time.monotonic() > end:
                raise Lost(f"host {self.number} did not answer in {seconds:.0f} s")
            time.sleep(0.02)
        answers: list[Any] | str = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(answers, str):
            raise Lost(f"host {self.number}: {answers}")
        return answers

    def ask(self, *requests: Any, seconds: float = ANSWER_S) -> list[Any]:
        """Sends a request, and waits for the answers."""
        self.send(requests)
        return self.receive(seconds)

    def shell(self, text: str, seconds: int = 30) -> str:
        """Runs a command, which has to succeed; returns its output."""
        self.send([["shell", text, seconds]])
        return self.succeeds(text, seconds + ANSWER_S)

    def succeeds(self, text: str, seconds: float) -> str:
        """The output of the command that was sent last."""
        done = self.receive(seconds)[0]
        if done["status"]:
            raise Lost(f"host {self.number}: {text}: exit status {done['status']}: {done['err']}")
        return str(done["out"])

    def machine(self) -> int:
        """The process id of this machine's QEMU, a child of our lab/run."""
        for pid in children(self.lab.pid):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"-name" in words and words[words.index(b"-name") + 1] == b"lab%d" % self.number:
                return pid
        raise Lost(f"host {self.number} has no machine")


class Pair:
    """Both hosts, from boot to end."""

    def __init__(self, kernel: str | None) -> None:
        shutil.rmtree(LOGS, ignore_errors=True)
        words = [str(TOP / "lab/run"), "--hosts", "2", "--console", str(LOGS / "console")]
        words += ["--kernel", kernel] if kernel else []
        for number in (1, 2):
            (LOGS / f"box-{number}").mkdir(parents=True)
            words += [":::"] if number == 2 else ["--"]
            words += [sys.executable, "-B", "tests/hosts/guest.py", str(LOGS / f"box-{number}")]
        with open(LOGS / "lab.log", "wb") as log:
            self.lab = subprocess.Popen(
                words, cwd=TOP, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        self.hosts = [Host(1, self.lab), Host(2, self.lab)]
        self.both("echo 1 >/proc/sys/net/ipv6/conf/all/keep_addr_on_down", BOOT_S)
        self.kernel = self.hosts[0].shell("uname -r").strip()

    def both(self, text: str, seconds: int = 30) -> None:
        """Runs a command on both hosts at once."""
        for host in self.hosts:
            host.send([["shell", text, seconds]])
        for host in self.hosts:
            host.succeeds(text, seconds + ANSWER_S)

    def freeze(self, host: Host) -> None:
        """Stops a whole machine."""
        os.kill(host.machine(), signal.SIGSTOP)

    def thaw(self, host: Host) -> None:
        """Lets a stopped machine go on."""
        os.kill(host.machine(), signal.SIGCONT)

    def close(self) -> None:
        """Ends both: asked to, or by lab/run's end, which takes its machines with it."""
        self.lab.terminate()
        try:
            self.lab.wait(30)
        except subprocess.TimeoutExpired:
            self.lab.kill()
            self.lab.wait()
        for host in self.hosts:
            shutil.rmtree(host.box)
