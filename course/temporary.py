# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Folders with copies of a submission, and processes, that a grader has only for a time. They end with the grader.

Place: used by grade.py and grade_all.py. Contract: a signal that ends the grader first removes both. If SIGKILL ends it,
the kernel ends its processes, and the next grader removes its folders.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from .exercises import TOP

SCRATCH = TOP / "build/grading"
GRACE_S = 20  # seconds that the lab needs to end its machine
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_running: set[subprocess.Popen[str]] = set()  # commands that any thread is running
_stopped = threading.Event()


def _leave(number: int, _: FrameType | None) -> None:
    """Ends the program by an exception, so that it undoes what it did. A second signal does not disturb that."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def leave_on_signals() -> None:
    """Call it first. A signal that the caller has set to be ignored (nohup) stays ignored."""
    for each in SIGNALS:
        if signal.getsignal(each) != signal.SIG_IGN:
            signal.signal(each, _leave)


def _locked(path: Path, how: int) -> int | None:
    """A descriptor of a folder with a lock on it, or None if another process has the lock, or the folder has gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, how)
        return descriptor
    except BlockingIOError:
        os.close(descriptor)
        return None


def _made(scratch: Path) -> tuple[Path, int]:
    """A new folder and the lock that its owner holds. Removes folders that nobody has a lock on."""
    scratch.mkdir(parents=True, exist_ok=True)
    turn = _locked(scratch, fcntl.LOCK_EX)  # a folder is never there without its lock for others
    for old in scratch.iterdir():
        lock = _locked(old, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock is not None:
            shutil.rmtree(old, ignore_errors=True)
            os.close(lock)
    path = Path(tempfile.mkdtemp(dir=scratch))
    mine = _locked(path, fcntl.LOCK_EX)
    assert turn is not None and mine is not None
    os.close(turn)
    return path, mine


@contextmanager
def folder(scratch: Path = SCRATCH) -> Iterator[Path]:
    """A folder that is removed at the end."""
    path, lock = _made(scratch)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def run(command: list[str], limit_s: float) -> tuple[int | None, str]:
    """Runs a command in a process group of its own, which ends with this process. Returns its exit status (None if it was
    late), and stdout and stderr. Any thread may call it; its commands end with the thread."""
    process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)  # fmt: skip
    _running.add(process)
    try:
        if _stopped.is_set():
            return None, ""
        said = process.communicate(timeout=limit_s)[0]
        return process.returncode, said
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        if process.poll() is None:
            _end(process)
        _running.discard(process)


def stop() -> None:
    """Ends the commands of all threads, and those that they would start next."""
    _stopped.set()
    for process in [*_running]:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a command and its process group: by SIGTERM, and by SIGKILL if that takes too long."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(process.pid, number)
        try:
            process.communicate(timeout=GRACE_S)
            return
        except subprocess.TimeoutExpired:
            pass
