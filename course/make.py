# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""make.py NAME DIRECTORY: writes the starting tree of an exercise.

Place: `make exercise NAME=... DIR=...` calls it. Contract: the tree builds by itself, with `make` and the Debian
packages of tools/packages-build.txt; it holds nothing of the solution. The directory must not exist yet.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import cut
from .exercises import EXERCISES, TOP, Exercise

MAKEFILE = """# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Builds the client and the server of the exercise {name}. You write {file}.
CC ?= cc
CFLAGS ?= -O2 -g
FLAGS = -std=c11 -D_GNU_SOURCE -I. -DOUR_STAGE='"{stage}"' -Wall -Wextra -Wshadow $(CFLAGS)
ROOMS = $(wildcard common/*.c measure/*.c program/*.c verbs-trace/*.c)
PARTS = {parts}
WRAP = {wrap}
objects = $(patsubst %.c,build/%.o,$(1))

all: client server

client: $(call objects,{client} $(PARTS)) build/rooms.a
server: $(call objects,{server} $(PARTS)) build/rooms.a
client server:
	$(CC) $(CFLAGS) $(WRAP) $^ -lrdmacm -libverbs -pthread -o $@

build/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -c $< -o $@

build/rooms.a: $(call objects,$(ROOMS))
	@rm -f $@
	$(AR) rcs $@ $^

clean:
	rm -rf build client server
.PHONY: all clean
"""


def ask(question: str, **variables: str) -> list[str]:
    """The Makefile's answer."""
    unset = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    command = ["make", "--no-print-directory", "--silent", question]
    command += [f"{name}={value}" for name, value in variables.items()]
    answer = subprocess.run(command, cwd=TOP, env=environment, check=True, capture_output=True, text=True)
    return answer.stdout.split()


def without_solution(exercise: Exercise, source: str) -> str:
    """The student's file as it is at the beginning."""
    for name in exercise.removed:
        source = cut.remove(source, name)
    for name in exercise.emptied:
        source = cut.empty(source, name, exercise.words.get(name, "ENOSYS"))
    return source


def included(path: str) -> list[str]:
    """The headers of stages that a source includes."""
    names = re.findall(r'^#include "([^"]+)"', (TOP / path).read_text(), re.MULTILINE)
    found = []
    for name in names:
        if (TOP / name).exists():
            found.append(name)
    return found


def needed(sources: list[str]) -> list[str]:
    """The sources, and all headers that they include."""
    files = list(dict.fromkeys(sources))
    for path in files:
        files += [name for name in included(path) if name not in files]
    return files


def write(exercise: Exercise, directory: Path, solved: bool = False) -> None:
    """Writes the tree; with `solved`, for the grader, as the sources are."""
    of_role = {role: ask("print-parts", STAGE=exercise.stage, ROLE=role) for role in ("client", "server")}
    parts = [path for path in of_role["client"] if path in of_role["server"]]
    own = {role: [path for path in of_role[role] if path not in parts] for role in of_role}
    rooms = [f"{room}/{path.name}" for room in ("common", "measure", "program", "verbs-trace")
             for path in sorted((TOP / room).glob("*.c"))]  # fmt: skip
    for path in needed(parts + own["client"] + own["server"] + rooms):
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / path, directory / path)
    if not solved:
        source = (TOP / exercise.file).read_text()
        (directory / exercise.file).write_text(without_solution(exercise, source))
    values = {
        "name": exercise.name,
        "file": exercise.file,
        "stage": exercise.stage,
        "parts": " ".join(parts),
        "client": " ".join(own["client"]),
        "server": " ".join(own["server"]),
        "wrap": " ".join(f"-Wl,--wrap={verb}" for verb in ask("print-traced")),
    }
    makefile = MAKEFILE
    for name, value in values.items():
        makefile = makefile.replace("{" + name + "}", value)
    (directory / "Makefile").write_text(makefile)
    shutil.copyfile(exercise.task, directory / "README.md")
    (directory / "EXERCISE").write_text(exercise.name + "\n")


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make exercise", description="Writes the starting tree of an exercise.")
    parser.add_argument("name", choices=sorted(EXERCISES))
    parser.add_argument("directory", type=Path)
    options = parser.parse_args()
    if options.directory.exists():
        print(f"make exercise: {options.directory} exists already: choose another DIR", file=sys.stderr)
        return 2
    write(EXERCISES[options.name], options.directory)
    exercise = EXERCISES[options.name]
    print(f"{options.directory}: read README.md, write {exercise.file}, build with make")
    return 0


if __name__ == "__main__":
    sys.exit(main())
