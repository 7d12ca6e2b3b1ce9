# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A tree with only one stage, which builds by itself: the starting point of exercises and bugs.

Place: used by make.py and bug.py. Contract: it contains the sources of the stage's programs, and no others. It builds
with `make` and the Debian packages of [build] in tools/packages.txt.
"""

import re
import shutil
import subprocess
from pathlib import Path

from tools import stages

TOP = Path(__file__).resolve().parents[1]

MAKEFILE = """# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Builds the client and the server{purpose}.
CC ?= cc
CFLAGS ?= -O2 -g
# This library shows the verbs, with -t; `make verbs-trace` in the project's directory builds it.
VERBS_TRACE = {tool}
FLAGS = -std=c11 -D_GNU_SOURCE -I. -DOUR_VERBS_TRACE='"$(VERBS_TRACE)"' \\
	-Wall -Wextra -Wshadow $(CFLAGS)
ROOMS = $(filter-out %_main.c,$(wildcard {rooms}))
PARTS = {parts}
objects = $(patsubst %.c,build/%.o,$(1))

all: client server

client: $(call objects,{client} $(PARTS)) build/rooms.a
server: $(call objects,{server} $(PARTS)) build/rooms.a
client server:
	$(CC) $(CFLAGS) $^ -lrdmacm -libverbs -pthread -o $@

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


def included(path: str) -> list[str]:
    """The headers of stages that a source includes."""
    names = re.findall(r'^#include "([^"]+)"', (TOP / path).read_text(), re.MULTILINE)
    return [name for name in names if (TOP / name).exists()]


def needed(sources: list[str]) -> list[str]:
    """The sources, and all headers that they include."""
    files = list(dict.fromkeys(sources))
    for path in files:
        files += [name for name in included(path) if name not in files]
    return files


def rooms_sources() -> list[str]:
    """The sources of the rooms, without the mains."""
    return [f"{room}/{path.name}" for room in stages.variable("ROOMS") for path in sorted((TOP / room).glob("*.c")) if not path.name.endswith("_main.c")]


def write(directory: Path, stage: str, purpose: str) -> None:
    """Writes the sources and a Makefile."""
    of_role = {role: stages.parts(stage, role) for role in ("client", "server")}
    parts = [path for path in of_role["client"] if path in of_role["server"]]
    own = {role: [path for path in of_role[role] if path not in parts] for role in of_role}
    rooms = rooms_sources()
    for path in needed(parts + own["client"] + own["server"] + rooms):
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / path, directory / path)
    values = {
        "purpose": purpose,
        "rooms": " ".join(f"{room}/*.c" for room in stages.variable("ROOMS")),
        "parts": " ".join(parts),
        "client": " ".join(own["client"]),
        "server": " ".join(own["server"]),
        "tool": str(TOP / "tools/verbs-trace/verbs-trace"),
    }
    makefile = MAKEFILE
    for name, value in values.items():
        makefile = makefile.replace("{" + name + "}", value)
    (directory / "Makefile").write_text(makefile)


SANITIZE = {"asan": "-fsanitize=address,undefined -fno-sanitize-recover=all", "tsan": "-fsanitize=thread"}


def simulated(sanitizer: str) -> str:
    """The flags with which a program is built for the simulated device; it is linked with partners/host.c."""
    wrapped = ",".join(f"--wrap={name}" for name in ("rdma_create_qp", "getaddrinfo", "write", "pwrite", "fflush", "fclose", "rename"))
    return f"-g -O1 -fno-omit-frame-pointer -w {SANITIZE[sanitizer]} -Wl,{wrapped}"


def for_simulation(tree: Path, sanitizer: str) -> str:
    """Adds to a tree what a program meets on other machines. Returns the CFLAGS with which make has to build it."""
    shutil.copyfile(TOP / "course/partners/host.c", tree / "common/host.c")
    shutil.copyfile(TOP / "build/course/partners/host.o", tree / "build/common/host.o")
    return f"CFLAGS={simulated(sanitizer)}"


def link(tree: Path, stage: str, own: str) -> dict[str, str]:
    """Makes a tree for one source: all headers, and few files with the objects of all other sources, because the lab's machine takes
    long for each file. Returns the words that link each program, in which own.o is the object of that source."""
    parts = {role: stages.parts(stage, role) for role in stages.ROLES}
    rooms = rooms_sources()
    for path in needed([*rooms, *parts["client"], *parts["server"]]):
        if path.endswith(".h"):
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(TOP / path, tree / path)
    merged = {"rooms.a": ["ar", "qcs"], **{f"{role}.o": ["ld", "-r", "-o"] for role in parts}}
    for name, command in merged.items():
        sources = rooms if name == "rooms.a" else parts[name.removesuffix(".o")]
        objects = [TOP / "build" / Path(path).with_suffix(".o") for path in sources if path != own]
        subprocess.run([*command, tree / name, *objects], check=True)
    shutil.copyfile(TOP / "build/course/partners/host.o", tree / "host.o")
    return {role: "own.o " * (own in rooms or own in parts[role]) + f"{role}.o rooms.a" for role in parts}


def add_objects(tree: Path, own: list[str]) -> None:
    """Puts the objects of the project's sources into a tree, but for those of `own`, which make then compiles."""
    for source in sorted(tree.rglob("*.c")):
        name = source.relative_to(tree)
        if str(name) not in own:
            target = tree / "build" / name.with_suffix(".o")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(TOP / "build" / name.with_suffix(".o"), target)
