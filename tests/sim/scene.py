# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Rows of tests/live over the simulated device: what such a test does is a step of verbs-sim, and while it looks at what has
come of it, no program runs.

Contract: a test sees simulated time: what it waits for has come at a moment of the simulation, which is the same in each
run. Its steps are in a file, by which a run that failed is repeated.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
from live.processes import WAIT_S, Found, Process
from sim.simulation import ALWAYS, OF_ITS_OWN, TOP, read

LEFT = 121  # the exit status of verbs-sim for something left
# These names are as in lab/README.md.
LIBRARY = "libverbs-sim.so"
DEVICES: dict[str, list[str]] = {
    "RoCE": [],
    "iWARP": ["--iwarp"],
    "both": [
        *("--device", "roce,name=rxe0,address=192.0.2.1,address=2001:db8:1::1"),
        *("--device", "iwarp,name=siw0,address=198.51.100.1,address=2001:db8:2::1"),
    ],
}
PATIENCE_S = 200  # simulated seconds for anything that a program has to say
LOOK_S = 0.02  # simulated seconds between two looks at a condition
QUICK_S = 1.5  # for an end that nothing delays: a program hears of a death at once, and of a signal within a second
LEAVES_S = 14  # for the answer to a disconnect request, which is repeated: docs/reliability.md
BUSY = 200  # calls of a program that no longer connects


def only_real(what: str) -> NoReturn:
    """Skips a test."""
    pytest.skip(f"only with real drivers: {what}")


class Scene:
    """A run that goes on step by step."""

    def __init__(self, transport: str, folder: Path) -> None:
        """Starts the run for RoCE, iWARP, or both. The folder has its steps, and what is said."""
        self.argv = ["tools/verbs-sim/verbs-sim", *ALWAYS, *DEVICES[transport], "--patience", str(PATIENCE_S), "--steps"]
        self.steps, self.err = (folder / "steps").open("w"), folder / "verbs-sim.err"
        with self.err.open("w") as err:
            self.sim = subprocess.Popen(
                [*self.argv, "-"], cwd=TOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, text=True
            )
        self.actors: dict[int, Actor] = {}
        self.state: dict[str, Any] = {"ms": 0, "programs": [], "objects": {}, "connected": 0}
        self.outside = False  # programs have descriptors whose other end is the test's

    def step(self, *words: object) -> None:
        """Does a step, and looks at what has come of it."""
        __tracebackhide__ = True
        line = " ".join(map(str, words)) + "\n"
        self.steps.write(line)
        assert self.sim.stdin and self.sim.stdout
        with contextlib.suppress(BrokenPipeError):
            self.sim.stdin.write(line)
            self.sim.stdin.flush()
        answer = self.sim.stdout.readline()
        if not answer:
            self.fail()
        self.state = json.loads(answer)

    def waits(self, *words: object) -> None:
        """Does the same as `step` for a step that waits."""
        __tracebackhide__ = True
        if self.outside:
            self.step("look")
        self.step(*words)

    def fail(self) -> NoReturn:
        """The run has ended, and says why."""
        __tracebackhide__ = True
        run = read(self.argv, self.sim.wait(), "", self.err.read_text())
        if "io_uring" in run.reason:
            only_real("io_uring")
        self.steps.close()
        pytest.fail(f"{run.reason}: {' '.join(self.argv)} {self.steps.name}\n{run.err}", pytrace=False)

    def close(self) -> None:
        """Ends all programs that still run. A program that has ended by itself has left nothing."""
        if self.sim.poll() is not None:
            return
        self.step("end")
        _, _ = self.sim.communicate(timeout=60)
        self.steps.close()
        run = read(self.argv, self.sim.returncode, "", self.err.read_text())
        if run.exit in OF_ITS_OWN and not (run.exit == LEFT and self.only_peers(run.left)):
            pytest.fail(f"{run.why()}\n{' '.join(self.argv)} {self.steps.name}", pytrace=False)

    def only_peers(self, left: str) -> bool:
        """Returns whether only the independent program has left objects: it destroys nothing after an error."""
        owners = {int(number) for number in re.findall(r"of program (\d+)", left)}
        return all(owner in self.actors and "build/tests/peer" in self.actors[owner].argv for owner in owners)

    # ---- What a test asks the kernel, and the clock ----

    def objects(self) -> dict[str, dict[str, int]]:
        """Does as kernel.objects."""
        return {"simulated": self.state["objects"]}

    def until(self, condition: Callable[[], Found], what: str, within: float = 0) -> Found:
        """Does as processes.until."""
        __tracebackhide__ = True
        end = self.monotonic() + (within or WAIT_S)
        while not (found := condition()):
            if self.monotonic() > end:
                pytest.fail(f"after {within or WAIT_S:.0f} simulated s, still not: {what}")
            self.sleep(LOOK_S)
        return found

    def monotonic(self) -> float:
        """Does as time.monotonic."""
        return float(self.state["ms"]) / 1000

    def sleep(self, seconds: float) -> None:
        """Does as time.sleep."""
        __tracebackhide__ = True
        self.waits("wait", f"{seconds:.9f}")


class Actor(Process):
    """A program of a scene."""

    def __init__(
        self,
        scene: Scene,
        name: str,
        argv: Sequence[str],
        folder: Path,
        stdin: str | int | None = None,
        stdout: int | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Takes the arguments of Process."""
        self.name, self.argv, self.scene = name, list(argv), scene
        self.files = {kind: folder / f"{name.replace('/', '-').replace(' ', '-')}.{kind}" for kind in ("in", "out", "err")}
        self.files["in"].write_text(stdin if isinstance(stdin, str) else "")
        self.files["out"].write_text("")
        self.kept: int | None = None
        self.stopped = False
        given: object = self.files["in"]
        if isinstance(stdin, int):
            theirs, self.kept = os.pipe() if stdin == subprocess.PIPE else (os.dup(stdin), None)
            given, scene.outside = f"/proc/{os.getpid()}/fd/{theirs}", True
        written: object = self.files["out"]
        if stdout is not None:
            written, scene.outside = f"/proc/{os.getpid()}/fd/{stdout}", True
        scene.step("start", f"<{given}", f">{written}", f"2>{self.files['err']}", *self.environment(env or {}), *self.argv)
        self.number = len(scene.state["programs"]) - 1  # other programs may have forked
        scene.actors[self.number] = self
        if isinstance(stdin, int):
            os.close(theirs)

    @staticmethod
    def environment(env: Mapping[str, str]) -> list[str]:
        """Returns the environment of the program. Another library is preloaded before the simulation's."""
        more = {name: value + (f":tools/verbs-sim/{LIBRARY}" if name == "LD_PRELOAD" else "") for name, value in env.items()}
        return ["env", *(f"{name}={value}" for name, value in more.items())] if more else []

    @property
    def now(self) -> dict[str, Any]:
        """Returns the state of the program, from verbs-sim."""
        found: dict[str, Any] = self.scene.state["programs"][self.number]
        return found

    @property
    def status(self) -> int | None:  # type: ignore[override]
        """Returns the exit status in the form of subprocess."""
        status: int | None = self.now["status"]
        return 128 - status if status is not None and status > 128 else status

    @property
    def pid(self) -> int:  # type: ignore[override]
        """The pid of the program, while it runs."""
        return int(self.now["pid"])

    def has_ended(self, within: float = 0) -> bool:
        """Returns whether the program ends within a simulated time."""
        __tracebackhide__ = True
        if self.status is None and within:
            self.scene.waits("wait", within, self.number)
        return self.status is not None

    def promised(self) -> float:
        """The simulated time from now on. What keeps another program waiting may do so before this one has its turn, and behind it."""
        others = [actor for actor in self.scene.actors.values() if actor is not self and actor.status is None]
        own, theirs = self.seconds(), max((actor.seconds()["--timeout"] for actor in others), default=0)
        sends = own["-D"] if not own["--rate"] else min(own["-D"] or 1e9, own["-c"] / own["--rate"])
        leaves = LEAVES_S * any(actor.stopped or "build/tests/" in actor.argv[0] for actor in (self, *others))
        return QUICK_S + sends + own["--timeout"] + 2 * theirs + leaves + (0 if others else own["-w"])

    def seconds(self) -> Counter[str]:
        """The program's options that have a number."""
        return Counter({name: int(value) for name, value in zip(self.argv, self.argv[1:]) if value.isdecimal()})

    def awaits(self, text: str, times: int = 1, within: float = 0, where: str = "err") -> Process:
        """Waits until the program has printed a text so often."""
        __tracebackhide__ = True
        if text:
            self.scene.waits("until", self.number, where, times, text)
        return self

    def signal(self, *names: str) -> Process:
        """Sends signals at this moment."""
        __tracebackhide__ = True
        for name in names:
            self.stopped = name == "STOP" or (self.stopped and name != "CONT")
            self.scene.step("signal", self.number, f"SIG{name}")
        return self

    def hang_up(self) -> Process:
        """Ends the program's stdin, which was a pipe."""
        if self.kept is not None:
            os.close(self.kept)
            self.kept = None
        return self

    def close(self) -> None:
        """Ends the program, whatever it does."""
        if self.status is None:
            self.signal("KILL")
        self.hang_up()

    def is_busy(self) -> Process:
        """Waits until the program has made some calls: simulated programs use little CPU time."""
        __tracebackhide__ = True
        begun = self.now["calls"]
        self.scene.until(lambda: self.status is not None or self.now["calls"] > begun + BUSY, f"{self.name} is busy")
        return self

    def runs(self) -> int:
        """Returns how often the program's threads have gone on after a sleep."""
        return int(self.now["runs"])

    def sleeps(self, within: float = 10) -> Process:
        """Checks that no thread of the program has gone on between two looks."""
        __tracebackhide__ = True
        last = -1

        def has_slept() -> bool:
            nonlocal last
            before, last = last, self.runs() if self.now["asleep"] else -1
            return last == before != -1

        self.scene.until(has_slept, f"{self.name} sleeps", within)
        return self

    def holds(self) -> tuple[int, dict[str, dict[str, int]]]:
        """The program's descriptors; and the objects of the simulated device."""
        return len(os.listdir(f"/proc/{self.pid}/fd")), self.scene.objects()

    def threads(self) -> int:
        """Returns the number of simulated threads."""
        return int(self.now["threads"])

    def _stacks(self) -> str:
        return "verbs-sim --trace shows its calls"


class SceneRun:
    """Starts programs as conftest.Run of tests/live does."""

    def __init__(self, transport: str, folder: Path) -> None:
        """`folder` is for what the programs write."""
        self.scene, self.folder, self.number = Scene(transport, folder), folder, 0

    def __call__(self, program: str, *options: object, **how: Any) -> Process:
        """Options are split into words."""
        __tracebackhide__ = True
        self.number += 1
        words = [word for option in options for word in str(option).split()]
        name = f"{self.number} {program.removeprefix('build/tests/').removeprefix('beyond/')}"
        return Actor(self.scene, name, [os.path.normpath(program) if "/" in program else program, *words], self.folder, **how)

    def forget(self, process: Process) -> None:
        """Ends a program, and keeps nothing of it."""
        process.close()
        for file in process.files.values():
            file.unlink()
