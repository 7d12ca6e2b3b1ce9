# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The object files show who calls whom: the rooms of the house, the layers of common/ and those of verbs-sim call downwards only."""

import subprocess
from pathlib import Path

import pytest

from tools.folders import files, folder as stage_folder
from tools.stages import stages

TOP = Path(__file__).resolve().parents[2]

# The layers from the bottom to the top. Stages are above all rooms, in the order of the course.
LAYERS = ["report", "call", "memory", "device", "shared_device", "qp", "transfer", "events", "connection", "reconnect", "control", "group", "process"]
ROOMS = ["common", "program", "program/measure", "program/serve"]
# These files are above all rooms, and not part of any program that is always built.
NOT_HERE = {"program/serve/client_main.c", "program/serve/server_main.c"}

# The folders of verbs-sim. Above them are those of its two libraries, or its program.
SIM = ["core", "device", "cm", "transfer"]
# Functions of libc that kernel/ replaces: for those below it they are libc's.
OF_LIBC = {"open", "fstat", "access"}


def folder(source: str) -> str:
    """Returns the room or the stage of a source."""
    return str(Path(source).parent)


def calls(sources: list[str]) -> dict[str, set[str]]:
    """Returns for each source the others that define its external symbols."""
    objects = {str(TOP / "build" / Path(source).with_suffix(".o")): source for source in sources}
    said = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout
    home: dict[str, str] = {}
    wanted: dict[str, set[str]] = {}
    for line in said.splitlines():
        file, symbol = line.rsplit(":", 1)
        kind, name = symbol[17:].split()
        if kind == "U":
            wanted.setdefault(objects[file], set()).add(name)
        elif kind.isupper():
            home[name] = objects[file]
    return {source: {home[name] for name in wanted.get(source, set()) - OF_LIBC if name in home} for source in sources}


def upward(graph: dict[str, set[str]], order: list[str]) -> list[str]:
    """The calls from a folder to one that is later in the order."""
    rank = {name: place for place, name in enumerate(order)}
    return [f"{source} -> {one}" for source in graph for one in graph[source] if rank[folder(one)] > rank[folder(source)]]


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Sources that call each other in a circle, if any do."""
    done: set[str] = set()

    def visit(source: str, path: list[str]) -> list[str]:
        if source in path:
            return path[path.index(source) :]
        found: list[str] = []
        if source not in done:
            found = next(filter(None, (visit(one, [*path, source]) for one in sorted(graph[source] - {source}))), [])
            done.add(source)
        return found

    return next(filter(None, (visit(source, []) for source in graph)), [])


def test_calls_go_downwards() -> None:
    order = [*ROOMS, *map(stage_folder, stages())]
    graph = calls([source for source in files(".c") if folder(source) in order and source not in NOT_HERE])
    assert len(graph) > 100
    assert not upward(graph, order)
    assert not circle(graph)


def test_the_layers_of_the_library() -> None:
    sources = [f"common/{name}.c" for name in LAYERS]
    assert sorted(sources) == [name for name in files(".c") if folder(name) == "common"]
    graph = calls(sources)
    assert not [f"{one} -> {other}" for one in graph for other in graph[one] if sources.index(other) > sources.index(one)]


@pytest.mark.parametrize("tool", ["tools/devices", "tools/verbs-trace/tool"])
def test_the_files_of_a_tool_call_each_other_in_no_circle(tool: str) -> None:
    assert not circle(calls([source for source in files(".c") if folder(source) == tool]))


@pytest.mark.parametrize("last", [["calls"], ["calls", "kernel"], ["runner"]], ids="-".join)
def test_the_layers_of_the_simulation(last: list[str]) -> None:
    order = [f"tools/verbs-sim/{name}" for name in (*SIM, *last)]
    graph = calls([source for source in files(".c") if folder(source) in order])
    assert {folder(source) for source in graph} == set(order)
    assert not upward(graph, order)
    assert not circle(graph)
