# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Scenes of the stages: what happens when, who does it, in which line. Each is told by a run over the simulated device.

    python3 -B -m course.scenes ping-sr-3              # lists its scenes
    python3 -B -m course.scenes ping-sr-3 silent       # shows one
    python3 -B -m course.scenes --write                # writes the pages docs/scenes/*.md anew

Place: `make scene` and `make scenes` call it; tests/sim/test_scenes.py compares the pages with new runs. Contract: scenes.toml has the
scenes. The calls and their callers are those of verbs-trace -jwi, their lines those of addr2line(1), the times are simulated. The
place of a call is the innermost line outside of common/ and program/; what these call on the way stands before the verb.
"""

from __future__ import annotations

import argparse
import atexit
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tools.folders import TOP, folder

sys.path[:0] = [str(TOP / "tools/verbs-sim"), str(TOP / "tools/verbs-trace/picture")]

import records  # noqa: E402
import verbs_sim  # noqa: E402
from records import Call  # noqa: E402
from verbs_sim import ADDRESS, Run  # noqa: E402

TABLE = TOP / "course/scenes.toml"
PAGES = TOP / "docs/scenes"
TRACE, TRACED = "tools/verbs-trace/verbs-trace", "-jwi"
CLOCK = 10**12  # the time that CLOCK_MONOTONIC shows when a run begins, in nanoseconds
DEVICES: dict[str, list[str]] = {"RoCE": [], "iWARP": ["--iwarp"], "adapter": ["--device", "adapter"]}
SEEDS = range(1, 301)
LIBRARY = ("common/", "program/")
# A call of these names that takes longer than the first has waited; any other that takes longer than the second was held up.
BLOCKING = re.compile(r"rdma_|ibv_get_cq_event|p?poll")
LONG_NS, VERY_LONG_NS = 2000, 10**9
# Calls that tell nothing in any scene.
ASIDE = re.compile(r"ibv_get_device_name|ibv_query_|rdma_event_str|ibv_wc_status_str|ibv_get_async_event")
# A brief scene leaves these rows out: looks that find nothing, a side that goes to sleep and wakes, and the tear-down.
ROUTINE = re.compile(r"\) (nothing(, \d+ times)?|waits|armed|an event of cq\d+)$|rdma_(ack_cm_event|destroy_)|ibv_(destroy|dealloc|dereg|ack)_")
BRIEF_NS = 10**8  # a brief scene shows sleeps that were longer
LONGEST_ROUND, ROUNDS = 16, 3  # rows that repeat are folded: at most LONGEST_ROUND of them, at least ROUNDS times
MANY = 999  # empty polls: each takes longer than the one before, in the simulation, so their number says nothing
MOST_REQUESTS = 4  # the most requests of a chain that are shown
REMOTE = {"RDMA_WRITE": "RDMA_WRITE of {} into the peer's memory", "RDMA_READ": "RDMA_READ of the peer's memory into {}"}
NEAR_NS = 10**6
HOW = """
Each table is a run over the simulated device, told by [verbs-trace](../../tools/verbs-trace/README.md): the time since the
scene began, in simulated time (`+`: after the last full time above), who calls, the line, the call behind the function of the library
that leads to it, and what it found. `mr1[0..64]` are bytes of a region. A call that waits has two rows. The command above a table
repeats the run. Written by `make scenes`; `make scene STAGE=... SCENE=...` shows one in a terminal.
"""


@dataclass(frozen=True)
class Scene:
    """A row of the table, for one stage."""

    name: str
    title: str
    why: str
    device: str = "RoCE"
    server: str = ""  # options; or the command of another program than the stage's, as each client's may be
    clients: tuple[str, ...] = ("-c 1",)
    fail: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    brief: bool = False  # leaves out calls that find nothing
    skip: str = "$^"  # rows that are left out
    begins: str = ""  # a pattern of the first row; empty: the run's first
    ends: str = ""  # a pattern of the next row after it, which is the last; empty: the run's last
    shows: str = ""  # a pattern that some row must have; the first seed that shows it is taken
    asks: str = ""  # a question of tools/verbs-sim/tests/probe, whose answer is shown, too


@dataclass(frozen=True)
class Place:
    """A line of a function that was under way."""

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Row:
    """A line of a scene."""

    at: int  # time in nanoseconds
    side: str
    thread: str
    places: tuple[Place, ...] = ()
    call: str = ""
    found: str = ""
    slept: int = 0  # nanoseconds that the call slept until it found that

    @property
    def place(self) -> Place | None:
        """The line to look at."""
        own = [place for place in self.places if not place.file.startswith(LIBRARY)]
        return next(iter([*own, *self.places]), None)

    @property
    def way(self) -> str:
        """The call, behind the function of the library that leads to it, if one does."""
        at = self.places.index(self.place) if self.place else 0
        library = self.places[at - 1].function if at else ""
        return f"{library} → {self.call}" if library else self.call

    @property
    def alike(self) -> tuple[str, ...]:
        """The parts of a row that are the same when it comes again."""
        return self.side, self.thread, str(self.place), self.way, re.sub(r"\d+(\.\d+)?", "#", self.found)

    @property
    def text(self) -> str:
        """The text to which the patterns of a scene apply."""
        return f"{self.side} {self.way} {self.found}"


# ---- Where calls come from ----


def places_of(callers: set[str]) -> dict[str, tuple[Place, ...]]:
    """The lines that an address of a program of the tree stands for, with functions that were inlined there, innermost first. Raises
    LookupError."""
    objects: dict[str, list[str]] = {}
    for caller in sorted(callers):
        program, _, offset = caller.rpartition("+")
        if not program.startswith("/") and (TOP / program).is_file():
            objects.setdefault(program, []).append(offset)
    found = {}
    for program, offsets in objects.items():
        command = ["addr2line", "-afie", program, *offsets]
        said = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True, timeout=60).stdout
        if f"\n{TOP}/" not in said:
            raise LookupError(f"{program} names no line of {TOP}: was it built in another folder, or without -g? Build it again: make clean all")
        for offset, lines in zip(offsets, re.split(r"^0x.*\n", said, flags=re.MULTILINE)[1:], strict=True):
            pairs = re.findall(rf"^(\w+)\n{TOP}/(\S+):(\d+).*$", lines, re.MULTILINE)
            found[f"{program}+{offset}"] = tuple(Place(name, file, int(line)) for name, file, line in pairs)
    return found


# ---- What calls have found ----


@dataclass
class Memory:
    """The regions of a process, and what its receives are for."""

    regions: dict[str, tuple[int, int]] = field(default_factory=dict)  # first byte and length
    receives: dict[tuple[str, str], str] = field(default_factory=dict)  # the key is the QP, or empty for a receive of an SRQ, and the wr_id

    def name(self, piece: dict[str, Any]) -> str:
        """The bytes of a region to which an SGE refers."""
        address, length = int(piece["addr"], 16), piece["length"]
        for region, (begins, size) in self.regions.items():
            if begins <= address and address + length <= begins + size:
                return f"{region}[{address - begins}..{address - begins + length}]"
        return f"{length} bytes"

    def names(self, request: dict[str, Any]) -> str:
        """The bytes to which a work request refers."""
        return " and ".join(map(self.name, request.get("sge", []))) or "no bytes"


def registered(call: Call, memory: Memory) -> str:
    """The name and length of a region."""
    memory.regions[str(call.result)] = int(call.args["addr"], 16), call.args["length"]
    return f"{call.result}: {call.args['length']} bytes"


def posted(call: Call, memory: Memory) -> str:
    """The work requests that a call posts."""
    told = []
    for request in call.args.get("wr", call.args.get("recv_wr", [])):
        if "opcode" in request:
            flags = [flag.lower() for flag in ("INLINE", "FENCE") if flag in str(request.get("flags"))]
            told.append(", ".join([REMOTE.get(request["opcode"], f"{request['opcode']} of {{}}").format(memory.names(request)), *flags]))
        else:
            memory.receives[call.args.get("qp", ""), request["wr_id"]] = memory.names(request)
            told.append(f"for {memory.names(request)}")
    more = [f"{len(told) - MOST_REQUESTS} more"] if len(told) > MOST_REQUESTS else []
    return "; ".join([*told[:MOST_REQUESTS], *more])


def completed(completion: dict[str, Any], memory: Memory) -> str:
    """One completion."""
    receive = next((memory.receives[qp, completion["wr_id"]] for qp in (completion["qp"], "") if (qp, completion["wr_id"]) in memory.receives), "")
    if completion["status"] != "SUCCESS":
        return f"**{completion['status']}** of the " + (f"receive for {receive}" if receive else "send")
    if receive:
        return f"RECV: {completion['bytes']} bytes in {receive}"
    return str(completion["opcode"]) + (f" of {completion['qp']}" if completion["opcode"] in REMOTE else "")


def polled(call: Call, memory: Memory) -> str:
    """All completions, or how long there was none."""
    if call.times > MANY:
        return f"nothing, for {span(call.took)}"
    if call.times > 1:
        return f"nothing, {call.times} times"
    return "; ".join(completed(one, memory) for one in call.args.get("wc", [])) or "nothing"


def happened(call: Call, _: Memory) -> str:
    """The event of the connection manager."""
    what = call.args["what"]
    return f"{what['type']} of {what.get('id', 'an id')}" + (f", status {what['status']}" if what.get("status") else "")


def ready(call: Call, _: Memory) -> str:
    """The descriptors that a wait has ended with."""
    if not call.result:
        return "nothing"
    looked_at = [one for one in call.args.get("fds", []) if one["revents"] != "0"]
    return " and ".join(one.get("of", f"descriptor {one['fd']}") for one in looked_at) + " readable"


def made(call: Call, _: Memory) -> str:
    """The object that a call has made."""
    for name in ("qp", "id"):
        if f"{name}_pointer" in call.args or name in RESULT_OF.get(call.name, ()):
            return str(call.args[name])
    return str(call.result) if "pointer" in call.returned else ""


RESULT_OF = {"rdma_create_qp": ("qp",)}
FOUND: dict[str, Callable[[Call, Memory], str]] = {
    "ibv_get_cq_event": lambda call, _: f"an event of {call.args['cq']}",
    "ibv_modify_qp": lambda call, _: records.text_of_arguments(call.args["attr"]),
    "ibv_poll_cq": polled,
    "ibv_post_recv": posted,
    "ibv_post_send": posted,
    "ibv_post_srq_recv": posted,
    "ibv_reg_mr": registered,
    "ibv_req_notify_cq": lambda call, _: "armed",
    "poll": ready,
    "ppoll": ready,
    "rdma_get_cm_event": happened,
}


def found(call: Call, memory: Memory) -> str:
    """Describes the outcome of a call. Keeps account of regions and receives."""
    if call.error:
        return "nothing" if call.error == "EAGAIN" and "_get_" in call.name else f"**{call.error}**"
    return "does not return" if call.unfinished else FOUND.get(name_of(call), made)(call, memory)


def name_of(call: Call) -> str:
    """The name of a call, as a program writes it."""
    return call.name.removesuffix("_iova2")


def told(call: Call) -> str:
    """The call with the object that it is for."""
    objects = [value for value in call.args.values() if isinstance(value, str) and records.OBJECT.fullmatch(value)]
    return f"{name_of(call)}({''.join(objects[:1])})"


def span(ns: int) -> str:
    """A time, in a unit that suits it."""
    for unit, name in ((10**9, "s"), (10**6, "ms")):
        if ns >= unit:
            return f"{ns / unit:.3f} {name}"
    return f"{ns / 1000:.1f} µs"


# ---- A run, and its rows ----


@cache
def tracer() -> str:
    """A copy beside its library, whose path has one length for everybody: the loader copies it into the heap, and verbs-trace locks more or
    less often if objects of the program have other addresses."""
    there = tempfile.mkdtemp(dir="/tmp")
    atexit.register(shutil.rmtree, there)
    for name in (TRACE, "tools/verbs-trace/libverbs-trace.so"):
        shutil.copy(TOP / name, there)
    return f"{there}/verbs-trace"


def play(scene: Scene, stage: str, seed: int, picture: str = "") -> tuple[Run, list[records.Trace]]:
    """A run of the scene, and what verbs-trace has written of each program; also draws it, if `picture` names a file."""
    where = folder(stage)
    sides = [("server", scene.server), *(("client", client) for client in scene.clients)]
    programs = [told if "/" in told else f"{where}/{side} -a {ADDRESS} {told}" for side, told in sides]
    with tempfile.TemporaryDirectory() as name:
        options = ["--seed", str(seed), *DEVICES[scene.device], "--leaks", "ignore"]
        for fault in scene.fail:
            options += ["--fail", fault]
        if scene.steps:
            steps = Path(name) / "steps"
            steps.write_text("".join(f"{step}\n" for step in scene.steps))
            options += ["--steps", str(steps)]
        run = verbs_sim.simulate([[tracer(), TRACED, *line.split()] for line in programs], *options)
        files = [f"{name}/{number}.json" for number in range(len(programs))]
        for file, trace in zip(files, traces_in(run.err), strict=True):
            Path(file).write_text(trace)
        if picture:
            subprocess.run([TRACE, "--html", picture, *files], cwd=TOP, check=True, timeout=60)
        return run, [records.read(file, number) for number, file in enumerate(files)]


def traces_in(err: str) -> list[str]:
    """The output of each program's verbs-trace, in the order in which the programs began. With files of theirs,
    the length of the paths would change the run."""
    traces: dict[int, list[str]] = {}
    for line in err.splitlines(True):
        if line.startswith("{"):
            traces.setdefault(json.loads(line)["pid"], []).append(line)
    return ["".join(lines) for lines in sorted(traces.values(), key=lambda lines: int(json.loads(lines[0])["start_ns"]))]


def of_process(trace: records.Trace, side: str) -> Iterator[Row]:
    """The rows of one program, in the order in which its calls ended."""
    process, memory = next(iter(trace.processes.values())), Memory()
    lines = places_of({caller for call in process.calls for caller in call.callers})
    threads: dict[int, str] = {}
    for call in sorted(process.calls, key=lambda call: call.end):
        places = tuple(place for caller in call.callers for place in lines.get(caller, ()))
        if call.thread not in threads:
            name = places[-1].function.removeprefix("our_") if places else "?"
            same = sum(other.split(" ")[0] == name for other in threads.values())
            threads[call.thread] = f"{name} {same + 1}" if same else name
        at, what = call.time + (trace.start or 0) - CLOCK, found(call, memory)
        if ASIDE.match(call.name) or not places:
            continue
        row = Row(at, side, threads[call.thread], places, told(call), what)
        if call.times or call.took < (LONG_NS if BLOCKING.match(call.name) else VERY_LONG_NS):
            yield row
            continue
        yield replace(row, found="waits")
        after = f"after {span(call.took)}" + (f": {what}" if what else "")
        yield replace(row, at=at + call.took, slept=call.took, found=after)


def within(rows: list[Row], scene: Scene) -> tuple[list[Row], list[Row], list[Row]]:
    """The rows before the scene, in it, and after it; if the scene does not begin or end, no row is in it."""
    first = next((at for at, row in enumerate(rows) if re.search(scene.begins, row.text)), len(rows))
    ends = [at for at, row in enumerate(rows) if at > first and re.search(scene.ends, row.text)]
    if not ends:
        return rows, [], []
    last = ends[0] if scene.ends else ends[-1]
    return rows[:first], [row for row in rows[first : last + 1] if matters(row, scene)], rows[last + 1 :]


def matters(row: Row, scene: Scene) -> bool:
    """Returns whether the scene shows the row."""
    if re.search(scene.skip, row.text):
        return False
    woken = row.slept < BRIEF_NS and row.found.endswith("readable")
    return not scene.brief or not (woken or ROUTINE.search(row.text))


def folded(rows: list[Row]) -> Iterator[Row]:
    """The rows, with those that come again and again told once."""
    at = 0
    while at < len(rows):
        yield rows[at]
        at += 1
        for length in range(1, LONGEST_ROUND + 1):
            once, end = [row.alike for row in rows[at : at + length]], at + length
            while len(once) == length and [row.alike for row in rows[end : end + length]] == once:
                end += length
            more = (end - at) // length - 1
            if more + 1 >= ROUNDS:
                yield from rows[at : at + length]
                what = "row" if length == 1 else f"{length} rows"
                yield Row(rows[end - 1].at, "", "", found=f"… the last {what} {more} times more")
                at = end
                break


def summed(rows: list[Row]) -> Iterator[Row]:
    """Sums up the calls of each side before or after a scene."""
    for side in dict.fromkeys(row.side for row in rows):
        names = [row.call.partition("(")[0] for row in rows if row.side == side and row.found != "waits"]
        if names:
            yield Row(0, side, "", found=f"… {len(names)} calls, from {names[0]} to {names[-1]}")


@dataclass(frozen=True)
class Told:
    """A scene that has been played."""

    scene: Scene
    command: str
    rows: list[Row]
    ends: list[str]  # the end of each program, and its messages


def command_of(scene: Scene, run: Run) -> str:
    """The command that repeats the run in bash."""
    command = re.sub(r"\S+/verbs-trace\b", "verbs-trace", run.command)
    return re.sub(r"--steps \S+", f"--steps <(printf '{'%s'.join(scene.steps)}')".replace("%s", "\\\\n"), command)


def answered(scene: Scene) -> list[str]:
    """The answer of the probe, with the command that asks it."""
    if not scene.asks:
        return []
    run = verbs_sim.simulate([["build/tests/probe", ADDRESS, scene.asks]], *DEVICES[scene.device], "--leaks", "ignore")
    return ["", f"$ {run.command}", *run.out.splitlines()]


def tell(scene: Scene, stage: str, picture: str = "") -> Told:
    """Plays a scene, with the first seed with which it shows what it has to. Raises LookupError."""
    clients = ["client"] if len(scene.clients) == 1 else [f"client {number}" for number in range(1, len(scene.clients) + 1)]
    sides = ["server", *clients]
    for seed in SEEDS:
        run, traces = play(scene, stage, seed, picture)
        rows = [row for trace, side in zip(traces, sides) for row in of_process(trace, side)]
        earlier, shown, later = within(sorted(rows, key=lambda row: row.at), scene)
        if shown and re.search(scene.shows, "\n".join(row.text for row in shown)):
            break
    else:
        raise LookupError(f"{stage} {scene.name}: with no seed up to {SEEDS[-1]} it begins, ends, and shows {scene.shows}")
    begins = shown[0].at
    rows = [*summed(earlier), *(replace(row, at=row.at - begins) for row in folded(shown)), *summed(later)]
    said = [line for line in run.err.splitlines() if not line.startswith(("verbs-sim: ", "verbs-trace: ", "{"))]
    ends = [f"{side}: status {status}" for side, status in zip(sides, run.statuses)]
    return Told(scene, command_of(scene, run), rows, [*ends, *said, *answered(scene)])


# ---- Pages ----


def moments(rows: list[Row]) -> Iterator[str]:
    """The time when each row begins; soon after a row that is told in milliseconds or seconds, the time since then."""
    last = 0
    for row in rows:
        if not row.call:
            yield ""
        elif row.at >= NEAR_NS and row.at - last < NEAR_NS:
            yield f"+ {span(row.at - last)}"
        else:
            last = row.at
            yield span(row.at)


def who(row: Row) -> str:
    """The side of a row, and its thread, if it has several."""
    return f"{row.side}, {row.thread}".removesuffix(", ")


def text_of(told: Told) -> str:
    """The scene as text for a terminal."""
    lines = []
    for moment, row in zip(moments(told.rows), told.rows):
        place = f"{row.place.function}, {row.place}" if row.place else ""
        lines.append((moment, who(row), place, row.way, row.found))
    widths = [max(map(len, column)) for column in zip(*lines)]
    aligned = [[line[0].rjust(widths[0]), *(part.ljust(width) for part, width in zip(line[1:], widths[1:]))] for line in lines]
    shown = "".join("  ".join(line).rstrip() + "\n" for line in aligned)
    ends = "".join(f"  {line}\n" for line in told.ends)
    return f"{told.scene.title} ({told.scene.device})\n\n{told.scene.why}\n$ {told.command}\n\n{shown}\n{ends}"


def markdown_of(told: Told) -> str:
    """The scene in Markdown, for a page."""
    device = "" if told.scene.device == "RoCE" else f" ({told.scene.device})"
    lines = []
    for moment, row in zip(moments(told.rows), told.rows):
        place = f"`{row.place.function}`, [{row.place}](../../{row.place.file}#L{row.place.line})" if row.place else ""
        lines.append(f"| {moment} | {who(row)} | {place} | {f'`{row.way}`' if row.call else ''} | {row.found} |\n")
    head = "| time | side, thread | where | call | what it found |\n|--:|---|---|---|---|\n"
    ends = "".join(f"    {line}".rstrip() + "\n" for line in told.ends)
    return f"## {told.scene.title}{device}\n\n{told.scene.why}\n    {told.command}\n\n{head}{''.join(lines)}\n{ends}"


@cache
def versions() -> str:
    """The versions of what a run depends on, beside the tree: with others the times differ, and perhaps the order of rows."""
    library = next(Path("/usr/lib").glob("*/librdmacm.so.1")).resolve().name
    compiler = subprocess.run(["cc", "-dumpfullversion"], capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    return f"Written with {library} and cc {compiler}.\n"


def page(stage: str, about: str, scenes: list[Scene]) -> str:
    """All scenes of a stage."""
    with ThreadPoolExecutor() as pool:
        told = pool.map(lambda scene: tell(scene, stage), scenes)
        parts = "\n".join(map(markdown_of, told))
    return f"# {stage}: scenes\n\n{about}{HOW}\n{parts}\n{versions()}"


def table() -> tuple[dict[str, str], dict[str, list[Scene]]]:
    """The text about each stage, and its scenes."""
    read = tomllib.loads(TABLE.read_text())
    stages: dict[str, list[Scene]] = {stage: [] for stage in read["about"]}
    for row in read["scene"]:
        row = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
        for stage in row.pop("stages"):
            stages[stage].append(Scene(**row))
    return read["about"], stages


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -B -m course.scenes", description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write all pages")
    parser.add_argument("--picture", metavar="FILE", default="", help="also draw the scene, as a page for the browser")
    parser.add_argument("stage", nargs="?")
    parser.add_argument("scene", nargs="?")
    asked = parser.parse_args()
    about, stages = table()
    if asked.write:
        PAGES.mkdir(exist_ok=True)
        for stage, scenes in stages.items():
            (PAGES / f"{stage}.md").write_text(page(stage, about[stage], scenes))
        return 0
    named = {scene.name: scene for scene in stages.get(asked.stage, [])}
    if asked.scene in named:
        try:
            print(text_of(tell(named[asked.scene], asked.stage, asked.picture)), end="")
        except LookupError as why:
            print(f"make scene: {why}", file=sys.stderr)
            return 1
        return 0
    known = [f"{scene.name:12} {scene.title} ({scene.device})" for scene in named.values()] or list(stages)
    print("\n".join([f"{asked.stage} has these scenes:" if named else "these stages have scenes:", *known]))
    return 0 if not asked.scene and (named or not asked.stage) else 2


if __name__ == "__main__":
    sys.exit(main())
