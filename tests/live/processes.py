# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs as processes, and waiting for what they do.

Contract: each wait has a bound; one that fails says what did not come, and what the program was doing. A process is
only signalled through its pidfd, so that no other one can be hit. What it writes goes to files: it never waits for a
reader.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from live import kernel
import pytest

WAIT_S = 60.0  # the longest wait for anything that has to come: emulated machines are slow
Found = TypeVar("Found")


def until(condition: Callable[[], Found], what: str, within: float = 0) -> Found:
    """Repeats a condition until it holds, for so many seconds (0: as usual), and returns what it returned."""
    __tracebackhide__ = True
    within = within or WAIT_S
    end = time.monotonic() + within
    while not (found := condition()):
        if time.monotonic() > end:
            pytest.fail(f"after {within:.0f} s, still not: {what}")
        time.sleep(0.02)
    return found


class Process:
    """A program that was started. Its methods return it, so that they can be chained."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        folder: Path,
        stdin: str | int | None = None,
        stdout: int | None = None,
        under: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`stdin` is text, or a descriptor, and nothing without it; `stdout` a descriptor, if not a file; `under` what to
        run it with; `env` variables besides ours."""
        self.name, self.argv = name, list(argv)
        self.status: int | None = None
        self.files = {kind: folder / f"{name.replace('/', '-')}.{kind}" for kind in ("in", "out", "err")}
        self.files["in"].write_text(stdin if isinstance(stdin, str) else "")
        with self.files["in"].open() as given, self.files["out"].open("w") as out, self.files["err"].open("w") as err:
            self.popen = subprocess.Popen(
                [*under, *self.argv],
                env={**os.environ, **(env or {})},
                stdin=stdin if isinstance(stdin, int) else given,
                stdout=out if stdout is None else stdout,
                stderr=err,
                start_new_session=True,
            )
        self.pid = self.popen.pid
        self.pidfd = os.pidfd_open(self.pid)

    @property
    def out(self) -> str:
        """The program's stdout so far."""
        return self.files["out"].read_text(errors="replace")

    @property
    def err(self) -> str:
        """The program's stderr so far."""
        return self.files["err"].read_text(errors="replace")

    @property
    def said(self) -> list[str]:
        """The lines of stderr that are no trace."""
        return re.findall(r"^[^ \n]+: [a-z].*", self.err, re.M)  # the lines of a trace have more spaces, or a number

    @property
    def json(self) -> list[dict[str, Any]]:
        """The results that it has printed (-j)."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    def has_ended(self, within: float = 0) -> bool:
        """Returns whether the process has ended, or does so in time."""
        if self.status is None:
            poll = select.poll()
            poll.register(self.pidfd, select.POLLIN)
            if poll.poll(within * 1000):
                self.status = self.popen.wait()
        return self.status is not None

    def promised(self) -> float:
        """The seconds within which the program has to end: see sim/scene.py."""
        return WAIT_S

    def ends(self, *statuses: int, within: float = 0) -> Process:
        """Waits until the process has ended by itself, with one of these exit statuses."""
        __tracebackhide__ = True
        within = within or self.promised()
        if not self.has_ended(within):
            pytest.fail(f"{self.name} did not end within {within:.0f} s: {self._stacks()}")
        if self.status not in statuses:
            pytest.fail(f"{self.name}: {self._outcome()}, not {' or '.join(map(str, statuses))}")
        return self

    def awaits(self, text: str, times: int = 1, within: float = 0, where: str = "err") -> Process:
        """Waits until stderr, or "out", has the text so many times, which it must have before the program ends."""
        __tracebackhide__ = True
        within = within or WAIT_S
        end = time.monotonic() + within
        wanted, seen, rest = text.encode(), 0, b""
        with self.files[where].open("rb") as file:
            while True:
                over = self.has_ended() or time.monotonic() > end  # look at this before the read, which then has all
                data = rest + file.read()
                seen += data.count(wanted)
                rest = data[max(0, len(data) - len(wanted) + 1) :] if wanted else b""
                if seen >= times:
                    return self
                if over:
                    why = f"within {within:.0f} s: {self._outcome()}"
                    pytest.fail(f"{self.name} did not say {text!r} {times} times {why}")
                time.sleep(0.01)

    def signal(self, *names: str) -> Process:
        """Sends the process "INT" and the like."""
        for name in names:
            signal.pidfd_send_signal(self.pidfd, signal.Signals[f"SIG{name}"])
        return self

    def kill(self) -> Process:
        """Kills the process, and waits until it is gone."""
        __tracebackhide__ = True
        return self.signal("KILL").ends(-signal.SIGKILL)

    def hang_up(self) -> Process:
        """Ends the stdin of the process, which was a pipe."""
        if self.popen.stdin:
            self.popen.stdin.close()
        return self

    def close(self) -> None:
        """Ends the process, whatever it does."""
        if not self.has_ended():
            self.signal("CONT", "KILL")
            self.has_ended(WAIT_S)
        self.hang_up()
        os.close(self.pidfd)

    def memory_kib(self, which: str = "RssAnon") -> int:
        """Returns its resident memory, without queues that it shares with the device; or, "VmHWM", the peak."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition(f"{which}:")[2].split()[0])

    def is_busy(self) -> Process:
        """Waits until it has used a tenth of a second of CPU time: one that still connects sleeps."""

        def ticks() -> int:
            return sum(map(int, Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))

        begun = ticks()
        until(lambda: self.has_ended() or ticks() > begun + os.sysconf("SC_CLK_TCK") // 10, f"{self.name} is busy")
        return self

    def _times_run(self) -> dict[str, int]:
        """Returns how often each of its threads was given a CPU, as the kernel counts."""
        found = {}
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # the process has ended just now
                found[thread.name] = int((thread / "schedstat").read_text().split()[2])
        return found

    def _is_asleep(self) -> bool:
        """Returns whether all threads sleep at this moment."""
        states = []
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                states.append((thread / "stat").read_text().rpartition(")")[2].split()[0])
        return set(states) == {"S"}

    def runs(self) -> int:
        """Returns how often its threads have run so far, of those that are left: each time until they slept, or had to make room."""
        return sum(self._times_run().values())

    def sleeps(self, within: float = 10) -> Process:
        """Waits until all of its threads are asleep at two looks, and none of them has run in between."""
        __tracebackhide__ = True
        last: dict[str, int] = {}

        def has_slept() -> bool:
            nonlocal last
            before, last = last, self._times_run() if self._is_asleep() else {}
            return bool(last) and last == before

        until(has_slept, f"{self.name} sleeps", within)
        return self

    def holds(self) -> tuple[int, dict[str, dict[str, int]]]:
        """The program's descriptors; and the objects on the devices, whoever holds them: also those of a thread that has ended."""
        return len(os.listdir(f"/proc/{self.pid}/fd")), kernel.objects()

    def threads(self) -> int:
        """Returns how many there are. One that has served a client may still have to close its descriptors."""
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def _stacks(self) -> str:
        """Returns the kernel stack of each of its threads."""
        found = []
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                calls = Path(f"/proc/{self.pid}/task/{thread}/stack").read_text().splitlines()[:4]
            except OSError:  # the process has ended just now, or we are not root
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
        """A report for a person: the command that was run, and its end."""
        self.has_ended()
        err, out = self.err.splitlines(), self.out.splitlines()
        lines = [f"$ {' '.join(self.argv)}", f"[{self._outcome()}]"]
        if len(err) > 30:
            lines.append(f"[stderr has {len(err)} lines: what is no trace, and the last five]")
            err = [*self.said[:25], *err[-5:]]
        lines += [f"  stderr: {line}" for line in err]
        return "\n".join([*lines, *(f"  stdout: {line[:400]}" for line in out[:10])])
