# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs as processes, and waiting for what they do.

Contract: each wait has a bound; one that fails says what did not come, and what the program was doing. A process is
only signalled through its pidfd, so that no other one can be hit. What it writes goes to files: it never waits for a
reader.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

WAIT_S = 60.0  # for anything that has to come: emulated machines are slow
TRACED = re.compile(r"\b(ibv|rdma)_\w+\(")
Found = TypeVar("Found")


def until(condition: Callable[[], Found], what: str, within: float = WAIT_S) -> Found:
    """Repeats a condition until it holds, and returns what it returned."""
    __tracebackhide__ = True
    end = time.monotonic() + within
    while not (found := condition()):
        if time.monotonic() > end:
            pytest.fail(f"after {within:.0f} s, still not: {what}")
        time.sleep(0.02)
    return found


class Process:
    """A program that was started. Its methods return it, so that they can be chained."""

    def __init__(
        self, name: str, argv: Sequence[str], folder: Path, stdin: str | int | None = None, stdout: int | None = None
    ) -> None:
        """`stdin` is text, or a descriptor, and nothing without it; `stdout` a descriptor, if not a file."""
        self.name, self.argv = name, list(argv)
        self.status: int | None = None
        self.files = {kind: folder / f"{name.replace('/', '-')}.{kind}" for kind in ("in", "out", "err")}
        self.files["in"].write_text(stdin if isinstance(stdin, str) else "")
        with self.files["in"].open() as given, self.files["out"].open("w") as out, self.files["err"].open("w") as err:
            self.popen = subprocess.Popen(
                self.argv,
                stdin=stdin if isinstance(stdin, int) else given,
                stdout=out if stdout is None else stdout,
                stderr=err,
                start_new_session=True,
            )
        self.pid = self.popen.pid
        self.pidfd = os.pidfd_open(self.pid)

    @property
    def out(self) -> str:
        """Its stdout so far."""
        return self.files["out"].read_text(errors="replace")

    @property
    def err(self) -> str:
        """Its stderr so far."""
        return self.files["err"].read_text(errors="replace")

    @property
    def said(self) -> list[str]:
        """The lines of stderr that are no trace."""
        return [line for line in self.err.splitlines() if re.match("[^ ]+: [a-z]", line) and not TRACED.search(line)]

    @property
    def json(self) -> list[dict[str, Any]]:
        """The results that it has printed (-j)."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    def has_ended(self, within: float = 0) -> bool:
        """Whether it has ended, or does so in time."""
        if self.status is None:
            poll = select.poll()
            poll.register(self.pidfd, select.POLLIN)
            if poll.poll(within * 1000):
                self.status = self.popen.wait()
        return self.status is not None

    def ends(self, *statuses: int, within: float = WAIT_S) -> Process:
        """Waits until it has ended by itself, with one of these exit statuses."""
        __tracebackhide__ = True
        if not self.has_ended(within):
            pytest.fail(f"{self.name} did not end within {within:.0f} s: {self._stacks()}")
        if self.status not in statuses:
            pytest.fail(f"{self.name}: {self._outcome()}, not {' or '.join(map(str, statuses))}")
        return self

    def awaits(self, text: str, times: int = 1, within: float = WAIT_S) -> Process:
        """Waits until stderr has the text so many times, which it must have before the program ends."""
        __tracebackhide__ = True
        end = time.monotonic() + within
        with self.files["err"].open("rb") as file:
            data = b""
            while True:
                over = self.has_ended() or time.monotonic() > end  # before the read, which then has all
                data += file.read()
                if data.count(text.encode()) >= times:
                    return self
                if over:
                    why = f"within {within:.0f} s: {self._outcome()}"
                    pytest.fail(f"{self.name} did not say {text!r} {times} times {why}")
                time.sleep(0.01)

    def signal(self, *names: str) -> Process:
        """Sends it "INT" and the like."""
        for name in names:
            signal.pidfd_send_signal(self.pidfd, signal.Signals[f"SIG{name}"])
        return self

    def kill(self) -> Process:
        """Kills it, and waits until it is gone."""
        __tracebackhide__ = True
        return self.signal("KILL").ends(-signal.SIGKILL)

    def close(self) -> None:
        """Ends it, whatever it does."""
        if not self.has_ended():
            self.signal("CONT", "KILL")
            self.has_ended(WAIT_S)
        os.close(self.pidfd)

    def _stacks(self) -> str:
        """Where in the kernel each of its threads is."""
        found = []
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                calls = Path(f"/proc/{self.pid}/task/{thread}/stack").read_text().splitlines()[:4]
            except OSError:  # it has ended just now, or we are not root
                continue
            found.append(" < ".join(call.split()[-1].split("+")[0] for call in calls) or "running")
        return f"its threads are in the kernel at: {'; '.join(found) or 'not known'}"

    def _outcome(self) -> str:
        if self.status is None:
            return "it runs"
        if self.status < 0:
            return f"killed by {signal.Signals(-self.status).name}"
        return f"exit status {self.status}"

    def report(self) -> str:
        """For a person: what was run, and what came of it."""
        self.has_ended()
        err, out = self.err.splitlines(), self.out.splitlines()
        lines = [f"$ {' '.join(self.argv)}", f"[{self._outcome()}]"]
        if len(err) > 30:
            lines.append(f"[stderr has {len(err)} lines: what is no trace, and the last five]")
            err = [*self.said[:25], *err[-5:]]
        lines += [f"  stderr: {line}" for line in err]
        return "\n".join([*lines, *(f"  stdout: {line[:400]}" for line in out[:10])])
