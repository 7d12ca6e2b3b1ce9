#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Does on one of two hosts what tests/hosts asks for.

Place: the command of each virtual machine of pair.py. Contract: requests are files in a directory
that both sides see, "request-1" and so on; each is a list of [verb, argument...] in JSON, and the
list of answers goes to "answer-1"; or a string, what is wrong. Programs are signaled by pid. What
it does itself comes before them, so that what is to last for a second lasts for no longer.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import Any, Callable

TRACE_OF_SEND = re.compile(r"^\S+: .*ibv_post_send", re.MULTILINE)
SENTENCE = re.compile(r"^[^ ]+: [a-zA-Z].*$", re.MULTILINE)  # a trace has more spaces, or a number
HERE = "/tmp/sweep"
FIRST = -20  # the lowest nice value


def be_ordinary() -> None:
    """Gives a child the nice value of an ordinary process."""
    os.setpriority(os.PRIO_PROCESS, 0, 0)


class Started:
    """A program in the background, and the files that it writes to."""

    def __init__(self, name: str, argv: list[str], env: dict[str, str]) -> None:
        self.path = f"{HERE}/{name}"
        with open(f"{self.path}.out", "wb") as out, open(f"{self.path}.err", "wb") as err:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={**os.environ, **env},
                preexec_fn=be_ordinary,
            )  # fmt: skip

    def text(self, kind: str) -> str:
        """Returns the program's output so far."""
        with open(f"{self.path}.{kind}", encoding="utf-8", errors="replace") as file:
            return file.read()

    def tasks(self) -> list[int]:
        """The ids of its threads: an object of the kernel's has that of the thread that made it."""
        try:
            return [int(task) for task in os.listdir(f"/proc/{self.process.pid}/task")]
        except FileNotFoundError:
            return []

    def state(self) -> dict[str, Any]:
        """All that is known of the process."""
        err = self.text("err")
        return {
            "tasks": self.tasks(),
            "status": self.process.poll(),
            "sends": len(TRACE_OF_SEND.findall(err)),
            "said": SENTENCE.findall(err)[:20],
            "out": self.text("out")[-4000:],
        }

    def kill(self) -> str:
        """Ends a program that hangs; returns where in the kernel each of its threads was."""
        where = []
        tasks = f"/proc/{self.process.pid}/task"
        if self.process.poll() is not None:
            return "had ended"
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/stack", encoding="ascii", errors="replace") as file:
                calls = [line.split()[-1].split("+")[0] for line in file.read().splitlines()[:5]]
            where.append("<".join(calls) or "running")
        self.process.kill()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            where.append("SIGKILL did not end it")
        return "; ".join(where)


class Guest:
    """The verbs that the host may ask for."""

    def __init__(self) -> None:
        self.started: dict[str, Started] = {}

    def start(self, name: str, argv: list[str], env: dict[str, str]) -> int:
        """Starts a program in the background."""
        self.started[name] = Started(name, argv, env)
        return self.started[name].process.pid

    def state(self, name: str) -> dict[str, Any]:
        """Returns the program's state."""
        return self.started[name].state()

    def signal(self, name: str, number: int) -> None:
        """Sends a signal to a program that runs."""
        if self.started[name].process.poll() is None:
            self.started[name].process.send_signal(number)

    def kill(self, name: str) -> str:
        """Ends a program."""
        return self.started[name].kill()

    def shell(self, text: str, seconds: int) -> dict[str, Any]:
        """Runs a command of the shell to its end."""
        try:
            done = subprocess.run(
                ["bash", "-c", text],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False,
            )
        except subprocess.TimeoutExpired:
            return {"status": -1, "out": "", "err": f"did not end in {seconds} s"}
        return {"status": done.returncode, "out": done.stdout, "err": done.stderr}

    def forget(self) -> None:
        """Ends what still runs, and removes its files."""
        for started in self.started.values():
            if started.process.poll() is None:
                started.process.send_signal(signal.SIGCONT)
                started.kill()
            for kind in ("out", "err"):
                os.unlink(f"{started.path}.{kind}")
        self.started = {}

    def answer(self, verb: str, *arguments: Any) -> Any:
        """Answers one request."""
        verbs: dict[str, Callable[..., Any]] = {
            "start": self.start, "state": self.state, "signal": self.signal,
            "kill": self.kill, "shell": self.shell, "forget": self.forget,
        }  # fmt: skip
        return verbs[verb](*arguments)


def main() -> None:
    """Answers until the machine ends."""
    box = sys.argv[1]
    guest = Guest()
    os.setpriority(os.PRIO_PROCESS, 0, FIRST)
    os.makedirs(HERE, exist_ok=True)
    number = 1
    while True:
        path = f"{box}/request-{number}"
        while not os.path.exists(path):
            time.sleep(0.05)
        with open(path, encoding="utf-8") as file:
            requests = json.load(file)
        try:
            answers: Any = [guest.answer(*request) for request in requests]
        except OSError as error:
            answers = str(error)
        with open(f"{box}/answer-{number}.new", "w", encoding="utf-8") as file:
            json.dump(answers, file)
        os.rename(f"{box}/answer-{number}.new", f"{box}/answer-{number}")
        number += 1


if __name__ == "__main__":
    main()
