# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Is a history of operations linearizable? Each one took effect at once, at some moment between its call and its return, and what
it returned is what a sequential model would have returned then.

Place: tests/sim. Contract: the algorithm is that of Wing and Gong, "Testing and verifying concurrent objects" (1993), with the
memory of Lowe, "Testing for linearizability" (2017), as Porcupine has it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass

NEVER = math.inf


@dataclass(frozen=True)
class Operation:
    """`returned` NEVER: its caller did not live to see the result, which is unknown; it may have taken effect or not."""

    called: float
    returned: float
    name: str
    arguments: tuple[int, ...] = ()
    result: Hashable = None


Model = Callable[[Hashable, Operation], Hashable]  # the state behind an operation; None: it would not have had this result


def linearization(history: list[Operation], model: Model, state: Hashable) -> list[Operation] | None:
    """An order in which the operations may have taken effect; None: there is none."""
    history = sorted(history, key=lambda one: one.called)
    done = sum(1 << i for i, one in enumerate(history) if one.returned != NEVER)
    seen = {(0, state)}
    path: list[tuple[int, Hashable]] = []  # the operations that have taken effect, and the states before them
    taken, first = 0, 0
    while taken & done != done:
        latest = min(one.returned for i, one in enumerate(history) if not taken >> i & 1)
        for i in range(first, len(history)):
            if history[i].called > latest:
                continue
            behind = None if taken >> i & 1 else model(state, history[i])
            if behind is not None and (taken | 1 << i, behind) not in seen:
                seen.add((taken | 1 << i, behind))
                path.append((i, state))
                taken, state, first = taken | 1 << i, behind, 0
                break
        else:
            if not path:
                return None
            i, state = path.pop()
            taken, first = taken & ~(1 << i), i + 1
    return [history[i] for i, _ in path]


# ---- Models ----


def words(state: Hashable, one: Operation) -> Hashable:
    """Atomic operations on words of memory, which are 0 before. State: the words that are not, with their addresses."""
    assert isinstance(state, frozenset)
    memory = dict(state)
    address, *numbers = one.arguments
    was = memory.get(address, 0)
    if one.result not in (None, was):
        return None
    if one.name == "FETCH_AND_ADD":
        memory[address] = was + numbers[0]
    elif was == numbers[0]:
        memory[address] = numbers[1]
    return frozenset((at, value) for at, value in memory.items() if value)


def register(state: Hashable, one: Operation) -> Hashable:
    """A record with one writer, who writes 1, 2, 3 and so on. A reader gets the numbers at both ends of what it has read."""
    assert isinstance(state, int)
    if one.name == "write":
        return one.arguments[0] if one.arguments[0] == state + 1 else None
    return state if one.result == (state, state) else None


def journal(state: Hashable, one: Operation) -> Hashable:
    """A list to which numbers are appended, each once."""
    assert isinstance(state, tuple)
    if one.name == "append":
        return None if one.arguments[0] in state else (*state, one.arguments[0])
    return state if one.result == state else None


# ---- Histories of runs with --trace ----

POSTED = r" {program}\.\d+ +\d+ ibv_post_send$"
BROUGHT = r" {program}\.0 +\d+ = QP \d+: (?P<name>\w+) of (?P<address>0x[\da-f]+), (?P<one>\d+), (?P<other>\d+) brings (?P<first>\d+) \.\.\. (?P<last>\d+)$"
COMPLETED = r" {program}\.\d+ +\d+ = completion (?:RDMA_READ|atomic), status 0$"


def brought(trace: str, program: int) -> list[tuple[float, float, re.Match[str]]]:
    """READs and atomic operations of a program that has one of them at a time: when they were posted and completed, and what they brought."""
    posted, bringing, found = NEVER, None, []
    posts, brings, completes = (re.compile(pattern.replace("{program}", str(program))) for pattern in (POSTED, BROUGHT, COMPLETED))
    for us, line in re.findall(r"^\[ *([\d.]+) us\]( .*)$", trace, re.MULTILINE):
        if posts.match(line):
            posted = float(us)
        elif match := brings.match(line):
            bringing = match
        elif bringing and completes.match(line):
            found.append((posted, float(us), bringing))
            bringing = None
    return found + ([(posted, NEVER, bringing)] if bringing else [])


def atomics(trace: str, programs: range) -> list[Operation]:
    """The operations for the model `words`."""
    return [
        Operation(posted, completed, what["name"], (int(what["address"], 16), int(what["one"]), int(what["other"])), None if completed == NEVER else int(what["first"]))
        for program in programs
        for posted, completed, what in brought(trace, program)
    ]


def reads(trace: str, programs: range, accepts_all: bool = False) -> list[Operation]:
    """For the model `register`: of records whose numbers are doubled, big-endian, and odd while they change. A reader rejects a copy
    that is torn, and reads again, unless it accepts all."""
    taken, newest = [], 0
    for posted, completed, what in (one for program in programs for one in brought(trace, program)):
        first, last = (int.from_bytes(int(what[end]).to_bytes(8, "little"), "big") for end in ("first", "last"))
        newest = max(newest, first // 2)
        if completed != NEVER and (accepts_all or first == last and not first % 2):
            taken.append(Operation(posted, completed, "read", (), (first / 2, last / 2)))
    return taken + [Operation(0, NEVER, "write", (number,)) for number in range(1, newest + 1)]
