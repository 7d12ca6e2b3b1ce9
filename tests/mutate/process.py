# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs a test program within a limit, and leaves nothing of it behind.

Place: below record.py and measure.py. Contract: all that a program has started is killed when it ends, by session:
process groups are not enough, as Check makes one for each test.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

TICK_S = 0.5
Stop = Callable[[], bool]  # whether to end early
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class End:
    """How a program has ended: its exit status, None if it was stopped; whether it was late; its words."""

    status: int | None
    late: bool
    said: str


def living(session: int) -> list[int]:
    """The processes of a session, but for those that have ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            state, _, _, its_session = path.read_text().rsplit(")", 1)[1].split()[:4]
            if int(its_session) == session and state not in "ZX":
                found.append(int(path.parent.name))
    return found


def _kill(session: int) -> None:
    """Kills all processes of a session, also those that are started meanwhile."""
    while left := living(session):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def run(command: list[str], environment: dict[str, str], limit_s: float, stop: Stop, top: Path) -> End:
    """Runs a command in `top`. Ends it after the limit, or when `stop` becomes true. A tick counts as one, however long it
    took: a machine that stood still makes nothing late."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, cwd=top, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        ticks = 0
        try:
            while process.poll() is None and ticks * TICK_S < limit_s and not stop():
                ticks += 1
                with suppress(subprocess.TimeoutExpired):
                    process.wait(TICK_S)
        finally:
            status = process.poll()
            _kill(process.pid)
            process.wait()
        out.seek(0)
        return End(status, status is None and ticks * TICK_S >= limit_s, out.read().decode(errors="replace"))


def each(work: Callable[[Item, Stop], Result], items: Iterable[Item], at_once: int) -> Iterator[Result]:
    """The results of work for each of the items, as they end. If this is interrupted, work is told to stop."""
    stop = threading.Event()
    with ThreadPoolExecutor(at_once) as pool:
        jobs = [pool.submit(work, item, stop.is_set) for item in items]
        try:
            for job in as_completed(jobs):
                yield job.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
