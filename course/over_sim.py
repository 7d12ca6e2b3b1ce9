# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs a student's client or server over the simulated device, against the project's own program of the other side.

Place: the grader runs it beside the jail, which only the student's program enters; make_sim.py calls it on this machine. Contract:
it prints "ok" with the number of runs, or "not ok", the reason, and the command that repeats the run. Exit status: 0 or 1.
A run is right if all programs end by themselves, with the status that is due, and leave nothing behind; each group of tests
says what else is due. In the grader the student's program writes only to a file of its own: all else is somebody else's word.
"""

import json
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import recovery
from .odd_peers import ODD

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools/verbs-sim"))

import verbs_sim  # noqa: E402
from verbs_sim import ADDRESS, OF_ITS_OWN, TOP, Lost, Run, calls_of, chosen, nth  # noqa: E402

SIDES = {"server": 0, "client": 1}  # places among the programs of a run
FEW = 2  # messages of a run in which something fails
MOST_MS = 1000  # simulated; a program that sleeps although there is something to do takes seconds
MOST_NAMED = 3  # calls that the report of a failure names
FALLIBLE = "ibv_(alloc|create|post|reg)|rdma_(accept|bind|connect|create|listen|resolve)"  # calls that fail if the simulation is told so
ENDS = 12  # moments at which the other side is killed, or this one is told to stop
ROCE_ONLY = ("ping-rc-0", "count-atomic-1")
STREAMS = ("blast-sr-2", "blast-rdma-1")
KILLED = 128 + 9
LEFT, WRONG = 121, 124  # exit statuses of verbs-sim, which may be about our programs
JAIL = Path("/submission")  # the jail's place in the root of the partners
SAID = Path("/tmp/said")  # the file with what the student's program writes to stderr in the jail
LONGEST = 2_000_000  # characters of SAID that are read
ENTER = ("build/course/enter", str(JAIL), "1", str(SAID))


def simulate(programs: list[list[str]], *options: str) -> Run:
    """A run, with what the student's program says in the jail."""
    if not any(ENTER[0] in words for words in programs):
        return verbs_sim.simulate(programs, *options)
    SAID.write_text("")
    run = verbs_sim.simulate(programs, "--users", *options)
    with SAID.open(errors="replace") as said:
        return replace(run, err=run.err + said.read(LONGEST))


@dataclass(frozen=True)
class Effort:
    """The number of runs to try, and their length."""

    seeds: int  # seeds for each kind of device
    messages: int  # messages of a run in which nothing fails, at least
    often: int  # times that a repeated call fails
    on_each: bool  # each call fails on each kind of device, not on one device after the other


WHOLE = Effort(25, 30, 3, True)
IN_LAB = Effort(8, 12, 2, False)  # an emulated machine takes a hundred times as long as this one: seconds for a run


@dataclass(frozen=True)
class Pair:
    """A server and its clients, one of which is the student's."""

    stage: str
    role: str
    program: tuple[str, ...] = ()  # the student's, and how it is started
    effort: Effort = WHOLE
    numbers: tuple[int, ...] = ()  # the other words of its tests, as in flaps:SEED:TAG

    @property
    def side(self) -> int:
        """The place of the student's program."""
        return SIDES[self.role]

    @property
    def devices(self) -> list[list[str]]:
        """Options of verbs-sim."""
        return [[]] if self.stage in ROCE_ONLY else [[], ["--iwarp"]]

    def start(self, role: str) -> list[str]:
        """The words that start the program of a role."""
        folder = self.stage if (TOP / self.stage).is_dir() else f"beyond/{self.stage}"
        return list(self.program) if role == self.role else [f"{folder}/{role}"]

    def programs(self, count: int, *more: str, of_server: str = "", of_clients: str = "", clients: int = 1) -> list[list[str]]:
        """The server, and its clients. If the student's program is a client, the others are the project's."""
        said = ["-q", "-j", "-a", ADDRESS, "-c", str(count), *more]
        server = [*self.start("server"), *said, "-n", str(clients), *of_server.split()]
        starts = [self.start("client"), *[Pair(self.stage, "").start("client")] * (clients - 1)]
        return [server, *([*words, *said, "-v", *of_clients.split()] for words in starts)]


def told(reason: str, run: Run) -> str:
    """A reason, and what goes with it."""
    said = [line for line in run.err.splitlines() if line.strip() and "verbs-sim: " not in line]
    first = next((n for n, line in enumerate(said) if "ERROR: " in line or "WARNING: " in line), max(0, len(said) - 3))
    journal = re.search(r"--journal (\S+)", run.command)  # a folder of this run, which is gone by then
    again = f"rm -rf {journal[1]}; mkdir {journal[1]}; " if journal else ""
    return f"{reason}; the programs said: {' / '.join(said[first : first + 3]) or 'nothing'}; see it: {again}tools/verbs-sim/{run.command}"


def ended_badly(run: Run, side: int, statuses: set[int]) -> str:
    """The reason why a run did not end as it should, or empty. A server that serves others has to end when it is told to stop."""
    left = [what for what in run.left.split(", ") if what.endswith(f"of program {side}")]
    wrong = [what for what in run.wrong.split("; ") if what.startswith(f"program {side}: ")]
    if left or wrong:
        return f"it left over: {', '.join(left)}" if left else f"what it does works by chance: {', '.join(wrong)}"
    if side and side in run.told:
        return "it did not end by itself"
    if run.reason or (run.exit in OF_ITS_OWN and run.exit not in (LEFT, WRONG)):
        return run.reason or f"verbs-sim ended with status {run.exit}; programs that had to be told to stop: {run.told}"
    return "" if {*run.statuses} <= statuses else f"server and client exited with {run.statuses}"


def counted(run: Run, role: str, count: int) -> list[bool]:
    """Says for each program of ours with that role if it has counted all messages."""
    figures = [json.loads(line) for line in run.out.splitlines() if line.startswith("{")]
    return [each["count"] + each["warm_up"] == count for each in figures if each["role"] == role]


def orderings(pair: Pair) -> Iterator[str]:
    """All messages of two clients or more arrive in time, whatever the order of events. Half the seeds, if the other half is the
    other role's: orderings:0 and orderings:1."""
    partner = "agent" if pair.role == "client" else "client"
    for seed in range(1, pair.effort.seeds + 1):
        if pair.numbers and seed // 2 % 2 != pair.numbers[0]:
            continue
        count = pair.effort.messages + seed
        clients = 8 if pair.stage == "ping-srq-4" else 2
        for device in pair.devices:
            more = ["--immediate"] if pair.stage == "ping-rdma-3" and not device and seed % 2 else []
            pool, buffers = "--pool 16" * (clients > 2), f" -b {1 + seed % 7}" * (pair.stage in STREAMS)
            programs = pair.programs(count, *more, of_server=pool, of_clients="-w 9" + buffers, clients=clients)  # with some seeds clients come first
            run = simulate(programs, *device, "--strict", "--seed", str(seed))
            reason = ended_badly(run, pair.side, {0})
            if not reason and run.told:
                reason = f"program {run.told[0]} had to be told to stop: it waited forever"
            if not reason and run.ms > MOST_MS:
                reason = f"they took {run.ms:.0f} ms: somebody slept although there was something to do"
            if not reason and counted(run, partner, count) != [True] * clients:
                reason = f"our {partner} did not count {count} messages"
            yield told(reason, run) if reason else ""


def sweep(pair: Pair) -> Iterator[str]:
    """Each call fails once, and so does a completion: the program ends with 0 or 1, and names the call if the failure was the end."""
    side = pair.side
    for place, device in enumerate(pair.devices):
        programs = pair.programs(FEW)
        calls = calls_of(programs, side, *device, run=simulate)
        sends = [number for number, call in enumerate(calls, 1) if call == "ibv_post_send"][:FEW] if side else []
        numbers = chosen(calls, pair.effort.often)
        if not pair.effort.on_each:
            numbers = numbers[place :: len(pair.devices)]
        for number, how in [*((number, "") for number in numbers), *((number, ":RETRY_EXC_ERR") for number in sends)]:
            run = simulate(programs, *device, "--fail", f"{side}:{nth(calls, number)}{how}")
            reason = ended_badly(run, side, {0, 1} if run.fault else {0})
            if not reason and not run.fault and re.match(FALLIBLE, calls[number - 1]):
                reason = f"call {number} did not fail: somebody has changed the simulation"
            # soft-iWARP's library has no other status for a peer that is gone.
            gone = "general error" if "--iwarp" in device else "transport retry counter exceeded"
            due = gone if how else run.fault.split()[0] if run.fault else ""
            if not reason and due not in run.err and (how or any(run.statuses)):
                reason = f"it does not say: {due}"
            own = re.sub(r"(?m)^\s+#\d+ .*", "", run.err)  # this leaves out the stacks of a sanitizer
            named = {call for call in calls if call.startswith(("ibv_", "rdma_")) and call in own}
            if not reason and len(named) > MOST_NAMED:
                reason = f"it names {len(named)} calls, of which one has failed"
            yield told(f"after {run.fault or 'no failure'}: {reason}", run) if reason else ""


def ends(pair: Pair) -> Iterator[str]:
    """The other side is killed, this one is told to stop, or the device is removed."""
    side = pair.side
    for device in pair.devices:
        programs = pair.programs(FEW, "--timeout", "5")
        calls = simulate(programs, *device).calls
        for who, how in ((1 - side, "SIGKILL"), (side, "SIGTERM"), (side, "REMOVAL")):
            for number in range(1, calls[who] + 1, max(1, calls[who] // ENDS)):
                run = simulate(programs, *device, "--fail", f"{who}:{number}:{how}")
                reason = ended_badly(run, side, {0, 1, KILLED} if how == "SIGKILL" else {0, 1})
                yield told(reason, run) if reason else ""


def odd(pair: Pair) -> Iterator[str]:
    """Odd peers, hosts and devices: see odd_peers.py."""
    for row in ODD:
        if row.role != pair.role or not re.fullmatch(row.stages, pair.stage):
            continue
        line = row.line.format(server=shlex.join(pair.start("server")), client=shlex.join(pair.start("client")), a=f"-a {ADDRESS}")
        programs = [shlex.split(words) for words in line.split(":::")]
        for device in (device for device in pair.devices if row.device in ("", "--iwarp" if device else "--roce")):
            run = simulate(programs, *device, "--strict")
            statuses = [status for status, due in zip(run.statuses, row.statuses.split()) if due not in (str(status), "-")]
            reason = ended_badly(run, pair.side and len(programs) - 1, {*run.statuses})
            others = [other.said for other in ODD if other.said not in ("", row.said) and other.said in run.err]
            if not reason and row.said and others:
                reason = f"{row.what}: it says '{others[0]}', which it is not about"
            if not reason and (statuses or row.said not in run.err):
                reason = f"{row.what}: they exited with {run.statuses}; expected: {row.statuses}" + f", and '{row.said}'" * bool(row.said)
            if not reason and (made := run.calls[pair.side and len(programs) - 1]) > row.calls:
                reason = f"{row.what}: it made {made} calls; expected: at most {row.calls}"
            yield told(reason, run) if reason else ""


Call = dict[str, Any]


def traced(programs: list[list[str]], *options: str) -> tuple[Run, list[list[Call]]]:
    """Runs programs with verbs-trace. Returns the run, and the calls of each. In the jail a program writes its trace to its own file."""
    enters = [len(ENTER) * (words[0] == ENTER[0]) for words in programs]
    with tempfile.TemporaryDirectory(dir=JAIL / "tmp" if any(enters) else None) as name:
        Path(name).chmod(0o1777)
        files = [Path(name) / str(n) for n in range(len(programs))]
        under = []
        for words, enter, file in zip(programs, enters, files):
            seen = str(file).removeprefix(str(JAIL)) if enter else str(file)
            under.append([*words[:enter], f"{TOP}/tools/verbs-trace/verbs-trace", "-j", "-o", seen, *words[enter:]])
        run = simulate(under, *options)
        return run, [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


def attributes(calls: list[Call], call: str, of: str) -> dict[str, Any]:
    """All attributes that a program gave a call, of all such calls together. verbs-trace leaves out zeros."""
    found: dict[str, Any] = {}
    for each in calls:
        if each.get("call") == call and not each["result"]:
            found |= each["args"].get(of, {})
    return found


def wrong_calls(own: list[Call], other: list[Call]) -> Iterator[str]:
    """Attributes with which the calls succeed, and that are wrong all the same."""
    for each in own:
        if each.get("accusation", "leak") != "leak":  # the accusation "leak" is not true here for a QP of rdma_create_qp
            yield f"verbs-trace accuses it: {each['text']}"
    if attributes(own, "rdma_connect", "conn_param").get("private_data", {"bytes": 32})["bytes"] < 32:
        yield "its private data ends before the extension"
    if any(each.get("call") == "ibv_modify_srq" for each in own) and not attributes(own, "ibv_modify_srq", "srq_attr").get("srq_limit"):
        yield "ibv_modify_srq sets a limit of 0: there is no event"
    mine, theirs = (attributes(calls, "ibv_modify_qp", "attr") for calls in (own, other))
    if "rq_psn" in mine:
        if (mine["rq_psn"], mine.get("sq_psn")) != (theirs.get("sq_psn"), theirs.get("rq_psn")):
            yield "the first PSNs of the two sides do not fit: sq_psn of one is rq_psn of the other"
        if not mine.get("timeout") or not mine.get("retry_cnt") or not mine.get("rnr_retry"):
            yield "with a timeout of 0 it waits forever for an ack; with a retry count of 0 it does not try again"


def calls_(pair: Pair) -> Iterator[str]:
    """The program's calls have the right attributes, as verbs-trace sees them."""
    side = pair.side
    for device in pair.devices:
        run, every = traced(pair.programs(pair.effort.messages), *device, "--strict")
        reason = ended_badly(run, side, {0}) or next(wrong_calls(every[side], every[1 - side]), "")
        yield told(reason, run) if reason else ""


def of_recovery(group: Callable[..., Iterator[tuple[str, Run]]]) -> Callable[[Pair], Iterator[str]]:
    """A group of recovery.py."""
    return lambda pair: (told(reason, run) if reason else "" for reason, run in group(pair, simulate, ended_badly))


OF_EVERY_STAGE = {"calls": calls_, "orderings": orderings, "sweep": sweep, "odd": odd, "ends": ends}
TESTS = OF_EVERY_STAGE | {"flaps": of_recovery(recovery.flaps), "once": of_recovery(recovery.once)}


def check(stage: str, role: str, tests: str, *program: str, effort: Effort = WHOLE) -> tuple[int, str]:
    """Returns how many runs were as they should be, and the reason why the next one was not, or empty."""
    number, (group, *numbers) = 0, tests.split(":")
    try:
        for number, reason in enumerate(TESTS[group](Pair(stage, role, program, effort, tuple(map(int, numbers)))), 1):
            if reason:
                return number - 1, " ".join(reason.split())
    except (Lost, ValueError, LookupError) as odd_end:
        return number, " ".join(f"{type(odd_end).__name__}: {odd_end}".split())[:600]
    return number, ""


def main() -> int:
    """Returns the exit status."""
    stage, role, program, tests = sys.argv[1:]
    number, reason = check(stage, role, tests, *ENTER, program, effort=IN_LAB)
    print(f"not ok: {reason}" if reason else f"ok: {number} runs")
    return int(bool(reason))


if __name__ == "__main__":
    sys.exit(main())
