# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs of the exercises "recover" and "exactly-once" over the simulated device: links flap and servers are killed.

Place: groups of tests of over_sim.py. Contract: a group yields a reason, or an empty string, with each run. Reasons rest on what our
programs wrote: the journal of the server, and the histories that the clients print (partners/adder.c).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools/verbs-sim"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from sim.linearizable import NEVER, Operation, linearization, words  # noqa: E402
from verbs_sim import ADDRESS, Run, calls_in, nth  # noqa: E402

if TYPE_CHECKING:
    from .over_sim import Pair

Simulate = Callable[..., Run]
Judge = Callable[[Run, int, set[int]], str]
SERVER = ("beyond/ping-reconnect-2/server", "-q", "-a", ADDRESS)
LATER = ("build/tests/sim/programs", "later")  # words before a program that begins some seconds later
FEW, MANY = 4, 40  # messages of a run with one fault, and with many
AWAY_S = 30  # longer than any device tries
WITHIN_MS = 1000 * (2 * AWAY_S + 30)  # simulated: a client is through by then
WAIT_S = 10
GONE_MS = 1000 * (5 + WAIT_S + 40)  # --timeout, -w, and an attempt to connect
SERVERS = 5  # one after the other
EACH = 3  # the server is killed at each third call; the seed says at which
FEW_FLAPS = 1  # runs with one fault, in the grader's machine
HANGS = 120  # verbs-sim's status
MOST_CALLS = 60_000  # for each flap: a client may poll for 5 s
SOME_CALLS = 20_000  # with SHORT: one that tries again without a pause makes more
# Whose host it happens to, and what.
SHORT = "PORT_DOWN=2s"
FLAPS = (("client", SHORT), ("server", f"SILENCE={AWAY_S}s"), ("server", "SIGKILL"), ("client", f"PARTITION=0/{AWAY_S}s"),
         ("client", f"PORT_DOWN={AWAY_S}s"), ("client", "GID_MOVE=1s"))  # fmt: skip
DEVICES: tuple[list[str], ...] = ([], ["--iwarp"], ["--device", "adapter"])


def lost_or_doubled(journals: dict[str, list[int]], count: int, tag: int) -> str:
    """Says what is wrong with the journals that the client has made the server write: numbers of messages, for each name of a client."""
    done = [number for numbers in journals.values() for number in numbers]
    if len(journals) > 1:
        return f"it came under {len(journals)} names, one after the other, so that nobody can tell what was done"
    if twice := [number for number in done if done.count(number) > 1]:
        return f"message {twice[0]} was done twice"
    if done != sorted(done):
        return f"the messages were done in the order {done}"
    if tag and (strange := [name for name in journals if name[:4] != f"{tag:04x}"]):
        return f"its name is 0x{strange[0]}; expected in your variant: 0x{tag:04x} and 12 digits more"
    return "" if len(done) == count else f"{len(done)} of {count} messages were done"


def flap(pair: Pair, simulate: Simulate, judge: Judge, faults: list[str], *options: str, count: int = FEW, servers: int = 1, wait_s: int = 600, most: int = MOST_CALLS) -> tuple[str, Run]:
    """A run of the client, with servers that begin one after the other. Returns what is wrong, and the run."""
    with tempfile.TemporaryDirectory() as name:
        own = [[*LATER, str(AWAY_S * late), *SERVER, "--journal", name, "-n", "0"] for late in range(servers)]
        client = [*pair.start("client"), *f"-q -v -a {ADDRESS} -c {count} -w {wait_s} --timeout 5".split()]
        numbers = {"server": "0", "client": str(servers)}
        fail = [f"--fail={numbers[who]}:{rest}" for who, _, rest in (fault.partition(":") for fault in faults)]
        run = simulate([*own, client], "--servers", str(servers), *options, *fail)
        journals = {file.name: [*map(int, file.read_text().split())] for file in Path(name).iterdir()}
        wrong = lost_or_doubled(journals, count, pair.numbers[1])
    reason = "it hangs" if run.exit == HANGS else judge(run, servers, {*run.statuses})
    if not reason and ("twice" in wrong or "names" in wrong):
        reason = wrong
    if not reason and "has answers to" in run.err:
        reason = "it goes on behind a message that has no answer, and does not send that one again"
    if not reason and run.statuses[servers]:
        reason = f"it gave up with status {run.statuses[servers]}; {wrong}"
    if not reason and run.ms > WITHIN_MS * max(1, len(faults)):
        reason = f"it took {run.ms / 1000:.0f} s: somebody waited for an answer that could not come"
    if not reason and run.calls[servers] > most * max(1, len(faults)):
        reason = f"it made {run.calls[servers]} calls: it tries again without a pause"
    return reason or wrong, run


def alone(pair: Pair, simulate: Simulate, judge: Judge, how: str, *device: str) -> tuple[str, Run]:
    """The server or its host is gone, and none comes: when -w is over, the client ends, and says so by its status."""
    reason, run = flap(pair, simulate, judge, [f"server:ibv_post_send:2:{how}"], *device, wait_s=WAIT_S)
    reason = reason if not run.statuses[1:2] == [1] else judge(run, 1, {*run.statuses})
    if not reason and run.ms > GONE_MS:
        reason = f"it ended after {run.ms / 1000:.0f} s"
    if not reason and run.statuses[1] == 0:
        reason = "it ended with status 0"
    return (f"nobody comes back: {reason}; expected: status 1, soon after the {WAIT_S} s of -w" if reason else ""), run


def flaps(pair: Pair, simulate: Simulate, judge: Judge) -> Iterator[tuple[str, Run]]:
    """A flap at one call in each run, and then a run with one at each call; a server that is gone for good."""
    seed, chance, whole = pair.numbers[0], Random(pair.numbers[0]), pair.effort.on_each
    for device in DEVICES:
        reason, run = flap(pair, simulate, judge, [], *device, "--trace")
        yield reason, run
        yield flap(pair, simulate, judge, [f"client:ibv_post_send:2:{SHORT}"], *device, most=SOME_CALLS)
        calls = calls_in(run.err, 1)
        first = calls.index("rdma_connect") + 1  # a client that was never connected may give up
        numbers = range(first, len(calls) + 1)
        for number in numbers if whole else chance.sample(numbers, FEW_FLAPS):
            who, how = FLAPS[(number + seed) % len(FLAPS)]
            at = nth(calls, number) if who == "client" else 1 + number % run.calls[0]
            yield flap(pair, simulate, judge, [f"{who}:{at}:{how}"], *device, "--seed", str(seed + number), servers=1 + (how == "SIGKILL"))
        kinds = [how for who, how in FLAPS if who == "client"]
        names = ["ibv_post_send", *dict.fromkeys(calls)]
        many = [f"client:{name}:{calls[:first].count(name) + number}:{chance.choice(kinds)}" for number, name in enumerate(names, 1)]
        yield flap(pair, simulate, judge, many, *device, "--seed", str(seed), count=MANY)
    yield alone(pair, simulate, judge, "SIGKILL")
    yield alone(pair, simulate, judge, "SILENCE", "--iwarp")


def history(out: str) -> list[Operation]:
    """The additions of all clients, as these have printed them."""
    asked = {words[1:3]: words[3:] for words in (tuple(line.split()) for line in out.splitlines()) if words[:1] == ("asks",)}
    got = {words[1:3]: words[3:] for words in (tuple(line.split()) for line in out.splitlines()) if words[:1] == ("got",)}
    return [
        Operation(int(called), int(got[key][1]) if key in got else NEVER, "FETCH_AND_ADD", (int(word), int(addend), 0), int(got[key][0]) if key in got else None)
        for key, (word, addend, called) in asked.items()
    ]


def wrong_history(operations: list[Operation]) -> str:
    """Says why the additions cannot have been executed once each, or nothing."""
    for word in sorted({one.arguments[0] for one in operations}):
        value, lost = 0, [one for one in operations if one.arguments[0] == word and one.returned == NEVER]
        for one in sorted((one for one in operations if one.arguments[0] == word and one.result is not None), key=lambda one: int(str(one.result))):
            found, addend = int(str(one.result)), one.arguments[1]
            if found < value:
                return f"an addition to word {word} found {found}, though the additions before it had made {value} of it: an addition was forgotten"
            if found > value and not lost:
                return f"an addition to word {word} found {found}, but all additions that found less make only {value} of it: one was executed twice, or its repetition had another answer"
            value = found + addend
    impossible = linearization(operations, words, frozenset()) is None
    return "the results contradict the order in which they came: an addition that was asked for later was executed earlier" if impossible else ""


def additions(pair: Pair, simulate: Simulate, judge: Judge, faults: list[str], *options: str, count: int = FEW, servers: int = 1) -> tuple[str, Run]:
    """A run of servers that begin one after the other on the same folder, and of two clients that add."""
    inside = Path("/submission/tmp") if len(pair.program) > 1 else None  # in the grader's jail the server sees this as /tmp
    with tempfile.TemporaryDirectory(dir=inside) as name:
        Path(name).chmod(0o1777)
        seen = name.removeprefix("/submission") if inside else name
        own = [[*LATER, str(AWAY_S * late), *pair.start("server"), *f"-q -a {ADDRESS} -n 0 --journal {seen}".split()] for late in range(servers)]
        client = f"build/course/adder -q -v -a {ADDRESS} -c {count} -w 600 --timeout 5".split()
        clients = [["env", f"ADDER={number},{pair.numbers[1]}", *client] for number in (1, 2)]
        fail = [f"--fail={fault.replace('client', str(servers))}" for fault in faults]
        run = simulate([*own, *clients], "--servers", str(servers), *options, *fail)
    reason = "it hangs" if run.exit == HANGS else judge(replace(run, told=[]), servers - 1, {*run.statuses})
    operations = history(run.out)
    answers = [one for one in operations if one.returned != NEVER]
    reason = reason or wrong_history(operations)
    if not reason and (any(run.statuses[servers:]) or len(answers) != 2 * count):
        reason = f"our clients ended with {run.statuses[servers:]}, and had {len(answers)} of {2 * count} answers"
    return reason, run


def once(pair: Pair, simulate: Simulate, judge: Judge) -> Iterator[tuple[str, Run]]:
    """The server is killed at a call, one in each run; the first client's link flaps; several servers are killed, one after the other."""
    seed, chance, whole = pair.numbers[0], Random(pair.numbers[0]), pair.effort.on_each
    for device in DEVICES:
        reason, run = additions(pair, simulate, judge, [], *device, "--seed", str(seed), "--trace")
        yield reason, run
        calls = calls_in(run.err, 0)
        here = [number for number, call in enumerate(calls, 1) if call in ("poll", "ibv_post_send")]  # around what changes a file, and answers
        for number in range(5 + seed % EACH, len(calls) + 1, EACH) if whole else chance.sample(here, FEW_FLAPS):
            yield additions(pair, simulate, judge, [f"0:{nth(calls, number)}:SIGKILL"], *device, "--seed", str(seed + number), servers=2)
        how = chance.choice([how for who, how in FLAPS if who == "client"])
        yield additions(pair, simulate, judge, [f"client:ibv_post_send:{chance.randrange(1, FEW)}:{how}"], *device, "--seed", str(seed))
        kills = [f"{server}:{nth(calls, chance.choice(here))}:SIGKILL" for server in range(SERVERS - 1)]
        yield additions(pair, simulate, judge, kills, *device, "--seed", str(seed), count=FEW * SERVERS, servers=SERVERS)
