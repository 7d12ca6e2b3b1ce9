# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks, and functions that make the cases of all exercises.

Place: between checks.py and run_cases.py. Contract: a check trusts what a partner reports and what the kernel saw. What
the submission itself reports (exit status, trace, runs over the simulated device) counts only if all checks have passed
that are marked as `key`, because they show from outside that the task is done, and the starting tree fails them.
"""

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tools.folders import folder

from . import judges
from .judges import Judge
from .reasons import Result

SECONDS = 40
IDLE_SECONDS = 20  # a submission that has used no processor time for this long will not continue
SIM_SECONDS = 300


ITSELF, PARTNER, KERNEL = "the submission itself", "a partner", "the kernel"


@dataclass(frozen=True)
class Check:
    """The points for what a case shows."""

    points: int
    text: str
    case: Result
    judge: Judge
    by: str = ITSELF  # the one who saw it
    key: bool = False
    needs: str = ""  # the text of a check that has to pass, too, because the starting tree passes this one
    each_message: bool = False  # the judge reads in the trace which calls are made for each message


def key(check: Check) -> Check:
    """Returns the check as a key check: unless it passes, the submission's own word does not count."""
    return replace(check, key=True)


def draw_count(chance: Random, least: int = 200) -> int:
    """Returns how many messages a run has."""
    return least + chance.randrange(1, 100)


def side(program: str, *arguments: str, **environment: str) -> Result:
    """A process of a case."""
    return {"program": program, "arguments": list(arguments), "environment": environment}


def case(transport: str, **sides: Any) -> Result:
    """A case. For its steps see run_cases.py."""
    return {"transport": transport, "seconds": SECONDS, "idle_seconds": IDLE_SECONDS, **sides}


def alone(program: str, *arguments: str, **environment: str) -> Result:
    """A case of one process that makes no connection."""
    what = {**side(program, *arguments, **environment), "connects": False}
    return {"transport": "RoCE", "seconds": SIM_SECONDS, "client": what}


def messages(points: int, own: str, transport: str, partner: str, count: int, *arguments: str,
             partners: tuple[str, ...] = ()) -> Check:  # fmt: skip
    """A run with a partner, which counts the messages. If the partner is a client, it also compares every byte."""
    role = "server" if own == "client" else "client"
    sides = {own: side(own, *arguments), role: side(f"{folder(partner)}/{role}", "-j", *partners)}
    sides["client"]["arguments"] += ["-c", str(count), "-w", "5", "-v"]
    run = case(transport, **sides)
    what = " ".join(dict.fromkeys(word for word in arguments + partners if word.startswith("--")))
    text = f"{own}, {transport}{', ' + what if what else ''}: {count} messages"
    return Check(points, text, run, judges.complete(role, own, count, own == "server"), by=PARTNER)


def innocent(points: int, own: str, of: Check) -> Check:
    """Returns whether verbs-trace, which watched another check's case, reports no fault."""
    return Check(points, f"{own}: verbs-trace accuses it of nothing", of.case, judges.innocent(own))


def over_sim(points: int, stage: str, role: str, tests: str, *numbers: int) -> Check:
    """A group of tests of the submission over the simulated device."""
    shows = {
        "orderings": "events and completions in every order, nothing left behind",
        "sweep": "each call made to fail, nothing left behind",
        "odd": "odd peers, hosts and devices",
        "calls": "what it tells the libraries",
        "flaps": "links that flap, and servers that are killed, at each call",
        "once": "killed at any call, and links that flap: each addition is executed once",
    }[tests]
    run = alone("sim", stage, role, f"/work/sim/{role}", ":".join([tests, *map(str, numbers)]))
    return Check(points, f"{role}, simulated device: {shows}", run, judges.over_sim(role))
