# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs a test program within a limit on its own time, and leaves nothing of it behind.

Place: below record.py and measure.py. Contract: a program's own time is that in which it runs or sleeps, not that in
which it waits for a processor: on a busy machine it has the same limit. All that it started is killed when it ends, by
session: process groups are not enough, as Check makes one for each test.
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
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

TICK_S = 0.5
HERTZ = os.sysconf("SC_CLK_TCK")
Stop = Callable[[], bool]  # whether to end early
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class End:
    """How a program has ended: its exit status, None if it was stopped; whether it was late; its words."""

    status: int | None
    late: bool
    said: str


def _asleep(process: Path) -> bool:
    """Whether all threads of a process sleep: none of them runs or waits for a processor."""
    try:
        return all(path.read_text().rsplit(")", 1)[1].split()[0] == "S" for path in process.glob("task/*/stat"))
    except OSError:  # it has ended
        return True


def processes(session: int) -> list[tuple[int, float, bool]]:
    """Of a session's living processes: number, seconds of processor time, those of ended children included, and whether
    they sleep."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            found.append((int(path.parent.name), sum(map(int, fields[11:15])) / HERTZ, _asleep(path.parent)))
    return found


def _kill(session: int) -> None:
    """Kills all processes of a session, also those that are started meanwhile."""
    while left := processes(session):
        for pid, _, _ in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def _late(process: subprocess.Popen[bytes], limit_s: float, stop: Stop) -> bool:
    """Waits for the end, or until `stop` is true. Returns whether the limit was reached before."""
    own = used = 0.0
    while own < limit_s and not stop():
        try:
            process.wait(TICK_S)
            return False
        except subprocess.TimeoutExpired:
            living = processes(process.pid)
        before, used = used, max(used, sum(seconds for _, seconds, _ in living))
        own += TICK_S if all(asleep for _, _, asleep in living) else min(TICK_S, used - before)
    return own >= limit_s


def run(command: list[str], environment: dict[str, str], limit_s: float, stop: Stop, top: Path) -> End:
    """Runs a command in `top`. Ends it when its own time exceeds limit_s, or `stop` becomes true."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, cwd=top, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        try:
            late = _late(process, limit_s, stop)
        finally:
            status = process.poll()
            _kill(process.pid)
            process.wait()
        out.seek(0)
        return End(status, late, out.read().decode(errors="replace"))


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
