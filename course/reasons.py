# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Puts into words what a process of a case did, and the command with which a student sees it again.

Place: used by judges.py and grade.py. Contract: a reason is about the submission if it ended early or badly, whatever
its partner did then. In a command, DIR is the submission's folder.
"""

import errno
import os
import re
import shlex
import signal
from typing import Any

from .run_cases import DEFAULT_STEPS

Result = dict[str, Any]
SLEEP = "sleep 2;"  # time for a server to begin to listen, or for a client to try


def printable(text: str) -> str:
    """The text without characters that change how a terminal shows it: in their place, what C and Python write for them."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def did(of: Result) -> str:
    """Describes what a process did: run_cases.py gives its exit status, or says why it had to be ended."""
    status = of["status"]
    if not isinstance(status, int):
        return str(status)
    number = -status if status < 0 else status - 128  # a shell adds 128
    if number in {one.value for one in signal.Signals}:
        return f"was killed by signal {signal.Signals(number).name}"
    return f"exited with status {status}"


def last_words(of: Result) -> str:
    """The last line that a process wrote to stderr."""
    lines = of["err"].strip().splitlines()
    return f"its last line on stderr: {lines[-1][:200]}" if lines else "it wrote nothing to stderr"


def ended(of: Result, status: int, who: str) -> str:
    """Returns an empty string if a process ended with that exit status."""
    return "" if of["status"] == status else f"{who} {did(of)}; expected: exit status {status}; {last_words(of)}"


def ended_with(result: Result, own: str, partner: str, expected: str) -> str:
    """Returns an empty string if the submission and its partner ended well."""
    reason = ended(result[own], 0, f"your {own}")
    if reason or result[partner]["status"] == 0:
        return reason
    if isinstance(result[partner]["status"], str):
        return f"your {own} exited with status 0 while our {partner} still waited for it; expected: {expected}"
    return f"your {own} exited with status 0, but our {partner} {did(result[partner])}; expected: {expected}; " \
           f"our {partner}: {last_words(result[partner])}"  # fmt: skip


def not_implemented(reason: str, result: Result, unwritten: list[str]) -> str:
    """A text for a reason if a program of the submission failed because something answered ENOSYS. The first functions of the
    starting file do, without a word. `unwritten`: functions that the student has not changed."""
    role = re.search(r"\byour (client|server)\b", reason)
    if not role:
        return ""
    if unwritten:
        return f"; your own {role[1]} answered ENOSYS: as in the starting file, nothing else is in {', '.join(unwritten)}"
    said = result.get(role[1], result.get("client", {})).get("err", "") + reason
    gone = f"; your own {role[1]} answered ENOSYS: it made a call that there is not in this lab"
    return gone if os.strerror(errno.ENOSYS) in said else ""


def _words(side: Result, traced: bool) -> str:
    """The command line of one side."""
    own = "/" not in side["program"]
    words = [f"{name}={value}" for name, value in side["environment"].items()]
    words += ["tools/verbs-trace/verbs-trace"] if own and traced else []
    return shlex.join([*words, f"DIR/{side['program']}" if own else side["program"], *side["arguments"]])


def _alone(side: Result) -> str:
    """The command of a case that needs no lab."""
    if side["program"] == "sim":
        _, role, _, tests = side["arguments"]
        return f"make sim DIR=DIR ROLE={role} TESTS={tests}"
    probe = side["program"].removeprefix("probe-")
    return f"cc -std=c11 -I DIR -o /tmp/probe course/partners/{probe}.c DIR/program/measure/{probe}.c && /tmp/probe {side['shown']}"


def command(case: Result, traced: bool) -> str:
    """A command that runs a case, without the machinery of the grader. `traced`: with verbs-trace."""
    sides = {name: case[name] for name in ("server", "client", "holder") if name in case}
    if not sides:
        return ""
    if not sides.get("client", {}).get("connects", True):
        return _alone(sides["client"])
    address = f"-a $LAB_{'ROCE' if case['transport'] == 'RoCE' else 'IWARP'}_ADDR"
    own = next(name for name, side in sides.items() if "/" not in side["program"])
    steps = case.get("steps") or DEFAULT_STEPS[tuple(name for name in sides if name != "holder")]
    parts = []
    for action, name, *_ in steps:
        parts.append({
            "start": f"{_words(sides[name], traced)} {address} & {name}=$!;",
            "interrupt": f"kill -INT ${name};",
            "restart": f"sleep 1; kill -9 ${name}; {_words(sides[name], traced)} {address} & {name}=$!;",
            "end": f"wait ${name};" + " echo exit status $?;" * (name == own),
        }.get(action, SLEEP))  # fmt: skip
    if ["end", own] not in steps:
        parts.append(f"wait ${own}; echo exit status $?")
    text = " ".join(parts).removesuffix(";").replace(f" & {own}=$!; wait ${own};", ";")  # the submission's program is the last to start
    for name in sides:
        text = text if f"${name}" in text else text.replace(f" & {name}=$!;", " &")
    return f"lab/run --writable DIR --timeout 60 -- sh -c '{text}'"
