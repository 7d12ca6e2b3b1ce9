# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Starts programs, waits for them, and ends them by their process ids.

Place: below runner.py. Contract: every wait has a limit; the CPU time of a child (user, system) is from wait4(2). After
end_all no child is left.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Child:
    """A process that was started here. While it runs, status is None; it is negative if a signal ended the process."""

    name: str
    argv: list[str]
    process: subprocess.Popen[bytes]
    out: Path
    err: Path
    status: int | None = None
    user_seconds: float = 0.0
    system_seconds: float = 0.0
    ended: float = 0.0

    @property
    def pid(self) -> int:
        """The process id, which stays the same after its end."""
        return self.process.pid

    def said(self) -> str:
        """Returns the end of its stderr, or of its stdout if stderr is empty, as one line."""
        for file in (self.err, self.out):
            lines = [line for line in file.read_text(errors="replace").splitlines() if line.strip()]
            if lines:
                return " | ".join(lines[-3:])[:400]
        return "(nothing)"


class Stopped(Exception):
    """The measurement has to stop."""


class Children:
    """The processes that were started and not yet waited for. A wait ends with Stopped when the descriptor `stop`, if
    there is one, becomes readable: this is how a thread is stopped.
    """

    def __init__(self, folder: Path, stop: int | None = None) -> None:
        self.folder = folder
        self.stop = stop
        self.running: list[Child] = []

    def start(self, name: str, argv: Sequence[str]) -> Child:
        """Starts a program in a session of its own: Ctrl-C at the terminal reaches only this process, which then ends
        the program."""
        out, err = self.folder / f"{name}.out", self.folder / f"{name}.err"
        with open(out, "wb") as stdout, open(err, "wb") as stderr:
            process = subprocess.Popen(
                list(argv), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True
            )
        child = Child(name, list(argv), process, out, err)
        self.running.append(child)
        return child

    def wait(self, child: Child, seconds: float, ending: bool = False) -> bool:
        """Returns whether it ends within this time. This wait does not react to `stop`."""
        if child.status is not None:
            return True
        stop = [] if ending or self.stop is None else [self.stop]
        descriptor = os.pidfd_open(child.pid)
        try:
            ready, _, _ = select.select([descriptor, *stop], [], [], max(0.0, seconds))
        finally:
            os.close(descriptor)
        if descriptor not in ready:
            if ready:
                raise Stopped
            return False
        _, status, usage = os.wait4(child.pid, 0)
        child.ended = time.monotonic()
        child.status = os.waitstatus_to_exitcode(status)
        child.process.returncode = child.status
        child.user_seconds, child.system_seconds = usage.ru_utime, usage.ru_stime
        self.running.remove(child)
        return True

    def tell(self, child: Child, number: int = signal.SIGINT) -> None:
        """Sends a signal if it still runs. We have not waited for it yet, so no other process can have its pid."""
        if child.status is None:
            os.kill(child.pid, number)

    def end(self, child: Child, seconds: float = 5.0) -> None:
        """Sends SIGTERM, and SIGKILL if it does not end."""
        for number, limit in ((signal.SIGTERM, seconds), (signal.SIGKILL, 60.0)):
            self.tell(child, number)
            if self.wait(child, limit, ending=True):
                return

    def end_all(self) -> None:
        """Ends all, the youngest first: clients before their server."""
        for child in reversed(list(self.running)):
            self.end(child)
