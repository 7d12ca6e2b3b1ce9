# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Copies of the tree, each with all that the tests need, in which a fault is planted, built and removed again.

Place: between tests/mutate and make. Contract: the tree itself is never changed. The copies of another state of it go.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from copy import copy
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
WORK = TOP / "build/mutate"
# A fault may cause a warning. Memory that is freed is overwritten, so that its use shows.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CI")}
ENVIRONMENT |= {"LC_ALL": "C", "MALLOC_PERTURB_": "165"}
CPUS = os.cpu_count() or 1
ODD = ("sim/odd", "sim/odd-thread", "sim/odd-address", "sim/ends", "probe")
SIMULATION = ("verbs-sim", "tracer-build", *(f"build/tests/{name}" for name in ODD))  # never with gcov
TESTED = ("all", "tests-build", "pairs-build")
STATE = ("*.c", "*.h", "*.mk", "Makefile", "tests/*.py", ":!tests/mutate")


class DoesNotBuild(Exception):
    """The compiler or the linker refuses the fault."""


def output(*command: str) -> str:
    """What a command prints, in the tree."""
    return subprocess.run(command, cwd=TOP, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True).stdout


def state_of_the_tree() -> str:
    """A digest of the programs and their tests."""
    digest = hashlib.sha256()
    for name in output("git", "ls-files", *STATE).splitlines():
        digest.update(name.encode() + (TOP / name).read_bytes() if (TOP / name).exists() else b"")
    return digest.hexdigest()[:16]


class Copy:
    """One of them."""

    def __init__(self, name: str, *variables: str) -> None:
        """Makes and builds it, with these variables of make for the programs."""
        state = WORK / f"state-{state_of_the_tree()}"
        for other in WORK.glob("state-*"):
            if other != state:
                shutil.rmtree(other)
        self.top = state / name
        for file in output("git", "ls-files").splitlines():
            original, here = TOP / file, self.top / file
            if original.exists() and not (here.exists() and here.read_bytes() == original.read_bytes()):
                here.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(original, here)
        self.make(CPUS, *SIMULATION)
        self.make(CPUS, *TESTED, *variables)

    def make(self, jobs: int, *words: str) -> None:
        """Has make build something. Raises DoesNotBuild."""
        command = ["make", "--no-print-directory", "-s", f"-j{jobs}", *words]
        if subprocess.run(command, cwd=self.top, env=ENVIRONMENT, capture_output=True, check=False).returncode:
            raise DoesNotBuild(" ".join(words))

    def commands(self) -> dict[str, list[str]]:
        """By which each source of the programs is compiled."""
        entries = json.loads((self.top / "compile_commands.json").read_text())
        return {entry["file"]: shlex.split(entry["command"]) for entry in entries if not entry["file"].startswith("build/")}

    def object_code(self, file: str) -> bytes:
        """Of the file as it is now, optimized and without line numbers. Raises DoesNotBuild."""
        words, out = self.commands()[file], "build/compared.o"
        flags = [word for word in words if word[:2] in ("-I", "-D") or word.startswith("-std")]
        command = [words[0], *flags, "-O2", "-g0", "-c", file, "-o", out]
        if subprocess.run(command, cwd=self.top, env=ENVIRONMENT, stderr=subprocess.DEVNULL, check=False).returncode:
            raise DoesNotBuild(file)
        return (self.top / out).read_bytes()

    def second(self, name: str) -> Copy:
        """Another one, which has been built, too. One of this name is replaced."""
        other = copy(self)
        other.top = self.top.with_name(name)
        if other.top.exists():
            shutil.rmtree(other.top)
        output("cp", "-a", str(self.top), str(other.top))
        return other

    def restore(self, first: Copy, since: float) -> None:
        """Takes what was changed or built since this time from the first copy, which spares building it again. Ends what a
        test has left."""
        for link in Path("/proc").glob("[0-9]*/exe"):
            with suppress(OSError):  # it has ended, or is another user's
                if link.readlink().is_relative_to(self.top):
                    os.kill(int(link.parent.name), signal.SIGKILL)
        for path in self.top.rglob("*"):
            before = first.top / path.relative_to(self.top)
            if path.is_file() and path.stat().st_mtime > since and before.exists():
                path.unlink()  # one that runs cannot be written to
                shutil.copy2(before, path)
