#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""run_cases.py CASES PROGRAMS RESULTS: runs a submission against partners of ours, in the lab's guest.

Place: grade.py starts it there, as root. Contract: CASES and RESULTS are JSON files; PROGRAMS is a folder with the
submission's client and server. They run confined: another root without the project in it, nobody's rights, process
ids of their own, limits on time, processes and files. Nothing they print is believed here.
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

TOP = Path(__file__).resolve().parents[1]
JAIL = Path("/run/submission")
TRACER = ("verbs-trace/verbs-trace", "verbs-trace/libverbs-trace.so")
NOBODY = "65534:65534"
LISTENS_S = 20
LONGEST = 200_000  # bytes of output that are kept
LIMITS = ["--memlock=unlimited", "--nproc=32", "--fsize=50000000", "--core=0"]


def command(*words: str) -> None:
    """Runs a command that has to succeed."""
    subprocess.run(words, check=True)


def prepare(programs: Path) -> None:
    """Another root: the system's programs, read-only, the submission, and a place to write."""
    JAIL.mkdir()
    command("mount", "-t", "tmpfs", "tmpfs", str(JAIL))
    for name in ("usr", "etc", "sys", "proc", "dev", "bin", "lib", "lib64"):
        source, target = Path("/") / name, JAIL / name
        if source.is_symlink():
            target.symlink_to(os.readlink(source))
        elif source.is_dir():
            target.mkdir()
            command("mount", "--rbind", str(source), str(target))
            if name in ("usr", "etc"):
                command("mount", "-o", "remount,bind,ro", str(target))
    (JAIL / "work").mkdir()
    (JAIL / "tmp").mkdir()
    (JAIL / "tmp").chmod(0o1777)
    for path in [TOP / name for name in TRACER] + list(programs.iterdir()):
        shutil.copy(path, JAIL / "work" / path.name)
    for device in Path("/dev/infiniband").iterdir():
        device.chmod(0o666)


def confined(program: str, arguments: list[str], trace: str) -> list[str]:
    """The command for the submission's program."""
    return [
        "choom", "-n", "900", "--", "unshare", "--pid", "--fork", "--kill-child", "prlimit", *LIMITS,
        "chroot", f"--userspec={NOBODY}", "--groups=", str(JAIL),
        "/usr/bin/env", "-i", "LANG=C", "PATH=/usr/bin",
        "/work/verbs-trace", "-j", "-o", f"/tmp/{trace}", f"/work/{program}", *arguments,
    ]  # fmt: skip


class Side:
    """One process of a case: the submission's, or a partner."""

    def __init__(self, what: dict[str, Any], name: str, scratch: Path) -> None:
        self.trace = name if what["program"] in ("client", "server") else ""
        program, arguments = what["program"], what["arguments"]
        run = confined(program, arguments, name) if self.trace else [str(TOP / program), *arguments]
        self.out, self.err = scratch / f"{name}.out", scratch / f"{name}.err"
        environment = {**os.environ, **what.get("environment", {})}
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                run, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd="/"
            )

    def await_listening(self) -> None:
        """Waits until the program says that it listens, or has ended, or should have."""
        end = time.monotonic() + LISTENS_S
        while time.monotonic() < end and self.process.poll() is None:
            if b"listening on" in self.err.read_bytes():
                return
            time.sleep(0.05)  # no program announces this

    def leaf(self) -> int:
        """The submission's own process: the last of a line of children."""
        pid = self.process.pid
        while True:
            try:
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            except (FileNotFoundError, ProcessLookupError):  # it has just ended
                children = []
            if not children:
                return pid
            pid = int(children[0])

    def interrupt(self) -> None:
        """Ctrl-C."""
        if self.process.poll() is None:
            try:
                os.kill(self.leaf(), signal.SIGINT)
            except ProcessLookupError:
                pass

    def end(self, seconds: float) -> dict[str, Any]:
        """Waits for its end, but no longer than that. Returns what is known of it."""
        try:
            status: int | str = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()  # with --kill-child and its own process ids, all it started ends, too
            self.process.wait()
            status = "late"
        result: dict[str, Any] = {"status": status}
        for name, path in (("out", self.out), ("err", self.err)):
            result[name] = path.read_bytes()[:LONGEST].decode(errors="replace")
        if self.trace:
            path = JAIL / "tmp" / self.trace
            result["trace"] = path.read_text(errors="replace").splitlines() if path.is_file() else []
        return result


def run(case: dict[str, Any], number: int, scratch: Path) -> dict[str, Any]:
    """Runs a case: a server, then a client; either may be missing."""
    address = os.environ["LAB_ROCE_ADDR" if case["transport"] == "RoCE" else "LAB_IWARP_ADDR"]
    sides: dict[str, Side] = {}
    result: dict[str, Any] = {}
    for role in ("server", "client"):
        if role in case:
            case[role]["arguments"] += ["-a", address, "-p", str(21000 + number)]
            sides[role] = Side(case[role], f"{number}-{role}", scratch)
            if role == "server":
                sides[role].await_listening()
    if case.get("interrupt"):
        sides["server"].interrupt()
    for role in ("client", "server"):
        if role in sides:
            late = result.get("client", {}).get("status") == "late"
            result[role] = sides[role].end(2 if late else case["seconds"])
    return result


def main() -> None:
    """Runs all cases."""
    # Where a submission takes all memory, it is the one to go.
    Path("/proc/self/oom_score_adj").write_text("-900")
    cases, programs, results = (Path(word) for word in sys.argv[1:4])
    prepare(programs)
    scratch = Path("/run/results")
    scratch.mkdir()
    every = json.loads(cases.read_text())
    results.write_text(json.dumps([run(case, number, scratch) for number, case in enumerate(every)]))


if __name__ == "__main__":
    main()
