# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Rows of tests/live over the simulated device: what such a test starts is a scene, which is run when the test asks what has
come of it, and again from its beginning when it has started more.

Contract: the same seed is the same run, so that what a test has seen of a program is still so when more are started. What
a test asks that has no answer here, such as a signal at some moment, skips it.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
from processes import Process
from sim.simulation import OF_ITS_OWN, simulate

LEFT = 121  # verbs-sim's exit status
# As in lab/README.md.
DEVICES: dict[str, list[str]] = {
    "RoCE": [],
    "iWARP": ["--iwarp"],
    "both": [
        *("--device", "roce,name=rxe0,address=192.0.2.1,address=2001:db8:1::1"),
        *("--device", "iwarp,name=siw0,address=198.51.100.1,address=2001:db8:2::1"),
    ],
}
ENDLESS = "1000000000"  # messages
# The shell leaves its place to the program, in the same process.
REDIRECTED = 'exec "$@" <"$0.in" >"$0.out" 2>"$0.err"'


def only_real(what: str) -> NoReturn:
    """Ends a test."""
    pytest.skip(f"only with real drivers: {what}")


class Scene:
    """The programs that a test has started, in order."""

    def __init__(self, transport: str) -> None:
        """RoCE, iWARP, or both."""
        self.options = DEVICES[transport]
        self.actors: list[Actor] = []
        self.seen = 0  # how many of them the last run had

    def play(self) -> None:
        """Runs it, unless nothing is new."""
        __tracebackhide__ = True
        if self.seen == len(self.actors):
            return
        self.seen = len(self.actors)
        if any(ENDLESS in actor.argv for actor in self.actors):
            only_real("a run that ends only by a signal")
        run = simulate([actor.command() for actor in self.actors], *self.options, within_s=90)
        if "io_uring" in run.reason:
            only_real("io_uring")
        if run.exit in OF_ITS_OWN and not (run.exit == LEFT and self.only_peers(run.left)):
            pytest.fail(run.why(), pytrace=False)
        for number, actor in enumerate(self.actors):
            actor.told = number in run.told
            actor.status = run.statuses[number]


    def only_peers(self, left: str) -> bool:
        """Whether all that was left is of the independent program, which tidies nothing up after an error."""
        owners = {int(number) for number in re.findall(r"of program (\d+)", left)}
        return all("build/tests/peer" in self.actors[owner].argv for owner in owners)


class Actor(Process):
    """A program of a scene."""

    def __init__(self, scene: Scene, name: str, argv: Sequence[str], folder: Path, **how: Any) -> None:
        """As Process has it."""
        if {*how} - {"stdin", "env"} or not isinstance(how.get("stdin", ""), str):
            only_real("a descriptor of the test")
        self.name, self.argv, self.scene = name, list(argv), scene
        self.env: Mapping[str, str] = how.get("env", {})
        self.status, self.told, self.signalled = None, False, False
        self.files = {kind: folder / f"{name.replace('/', '-').replace(' ', '-')}.{kind}" for kind in ("in", "out", "err")}
        self.files["in"].write_text(how.get("stdin", ""))
        scene.actors.append(self)

    def command(self) -> list[str]:
        """Its files are emptied first."""
        shell = ["sh", "-c", REDIRECTED, str(self.files["in"].with_suffix(""))]
        return [*shell, "env", *(f"{name}={value}" for name, value in self.env.items()), *self.argv] if self.env else [*shell, *self.argv]

    @property
    def out(self) -> str:
        """All of its stdout."""
        self.scene.play()
        return super().out

    @property
    def err(self) -> str:
        """All of its stderr."""
        self.scene.play()
        return super().err

    def has_ended(self, within: float = 0) -> bool:
        """Whether it has ended by itself, or was told to stop by the test."""
        self.scene.play()
        return not self.told or self.signalled

    def awaits(self, text: str, times: int = 1, within: float = 0, where: str = "err") -> Process:
        """Whether it has said this so often."""
        __tracebackhide__ = True
        said = self.out if where == "out" else self.err
        if said.count(text) < times:
            pytest.fail(f"{self.name} did not say {text!r} {times} times:\n{said}")
        return self

    def signal(self, *names: str) -> Process:
        """Programs that sleep are told to stop when the others have ended."""
        if {*names} - {"INT", "TERM"} or len(names) > 1:
            only_real("a signal at some moment")
        self.signalled = True
        self.scene.play()
        if not self.told:
            only_real("a signal while others run")
        return self

    def kill(self) -> Process:
        """Needs a moment."""
        only_real("a program that is killed at some moment")

    def hang_up(self) -> Process:
        """Needs a pipe."""
        only_real("a pipe of the test")

    def close(self) -> None:
        """There is nothing to end."""

    def memory_kib(self, which: str = "VmRSS") -> int:
        """Of a program that runs."""
        only_real("the memory of a program that runs")

    def is_busy(self) -> Process:
        """A program that runs."""
        only_real("a program that runs")

    def holds(self) -> tuple[int, dict[str, dict[str, int]]]:
        """Of the kernel's devices."""
        only_real("what the kernel holds")

    def threads(self) -> int:
        """Of a program that runs."""
        only_real("the threads of a program that runs")

    def _stacks(self) -> str:
        return "it was told to stop"

    def _outcome(self) -> str:
        if self.status is not None and self.status > 128:
            return f"killed by {signal.Signals(self.status - 128).name}"
        return f"exit status {self.status}"


class SceneRun:
    """As conftest.Run of tests/live."""

    def __init__(self, transport: str, folder: Path) -> None:
        """`folder` is for what the programs write."""
        self.scene, self.folder, self.number = Scene(transport), folder, 0

    def __call__(self, program: str, *options: object, **how: Any) -> Process:
        """Options are split into words."""
        self.number += 1
        words = [word for option in options for word in str(option).split()]
        name = f"{self.number} {program.removeprefix('build/tests/').removeprefix('beyond/')}"
        return Actor(self.scene, name, [os.path.normpath(program) if "/" in program else program, *words], self.folder, **how)

    def forget(self, process: Process) -> None:
        """Thousands of them."""
        only_real("thousands of programs")
