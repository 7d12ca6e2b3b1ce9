# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Builds what a changed source file goes into, beside the tree, which is neither copied nor changed.

Place: between tests/mutate and make. Contract: what `make -n` prints is run with other file names: the changed source,
and all that is made of it, are in a folder of their own. The rest has to be built before.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
# A fault may cause a warning. All programs and tests are wanted.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CI")}
ENVIRONMENT |= {"LC_ALL": "C", "TESTS_ALL": "1"}
CPUS = os.cpu_count() or 1
COMPARED = ("-O2", "-g0", "-fno-sanitize=all")


class DoesNotBuild(Exception):
    """The compiler or the linker refuses the fault."""


def output(*command: str, top: Path = TOP) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=top, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True).stdout


def make(*words: str, top: Path = TOP) -> None:
    """Has make build something."""
    output("make", "--no-print-directory", "-s", f"-j{CPUS}", *words, top=top)


class Graph:
    """The commands by which make builds its targets: the words of each, by the file that it makes."""

    def __init__(self, *targets: str, top: Path = TOP) -> None:
        """Asks make, which runs nothing."""
        self.top = top
        self.commands: dict[str, list[str]] = {}
        said = output("make", "--no-print-directory", "-n", "-B", "V=1", *targets, top=top)
        for line in said.replace("\\\n", " ").splitlines():
            words = shlex.split(line.rpartition("&&")[2])
            at = words.index("-o") + 1 if "-o" in words[:-1] else 2 if "".join(words[1:2]).startswith("rcs") else 0
            if at and words[0] != "mkdir":
                self.commands[words[at]] = words
        self.made_of = cache(self._made_of)

    def _made_of(self, source: str) -> dict[str, list[str]]:
        """The commands whose results depend on a source, in make's order."""
        found: dict[str, list[str]] = {}
        for out, words in self.commands.items():
            if any(word == source or word in found for word in words):
                found[out] = words
        return found

    def sources(self) -> set[str]:
        """The C files that are compiled, but for those that make itself writes."""
        tracked = set(output("git", "ls-files", "*.c", top=self.top).splitlines())
        return {word for words in self.commands.values() for word in words} & tracked

    def arguments(self, source: str) -> list[str]:
        """What a parser has to know of the source's first command."""
        words = next(iter(self.made_of(source).values()))
        return [word for word in words if word[:2] in ("-I", "-D") or word.startswith("-std")]

    def build(self, out: str, source: str, folder: Path) -> Path:
        """Makes a file with the changed source that is in the folder. Raises DoesNotBuild."""
        made, path = self.made_of(source), folder / out
        if out not in made:
            return self.top / out
        if not path.exists():
            for word in made[out]:
                if word in made and word != out:
                    self.build(word, source, folder)
            self._run(made[out], source, folder, path)
        return path

    def object_code(self, source: str, folder: Path) -> bytes:
        """The object file of the changed source, optimized and without line numbers. Raises DoesNotBuild."""
        out = folder / "compared.o"
        self._run([*next(iter(self.made_of(source).values())), *COMPARED], source, folder, out)
        return out.read_bytes()

    def _run(self, words: list[str], source: str, folder: Path, out: Path) -> None:
        made = self.made_of(source)
        command = [str(folder / word) if word == source or word in made else word for word in words]
        command[command.index("-o") + 1 if "-o" in command else 2] = str(out)
        if source in words:  # its path may be in its text, and it may include its neighbours
            command[1:1] = ["-iquote", str(Path(source).parent), f"-fmacro-prefix-map={folder}/="]
        out.parent.mkdir(parents=True, exist_ok=True)
        environment = ENVIRONMENT | {"CCACHE_DISABLE": "1"}  # nobody compiles it again
        if subprocess.run(command, cwd=self.top, env=environment, stderr=subprocess.DEVNULL).returncode:
            raise DoesNotBuild(out.name)
