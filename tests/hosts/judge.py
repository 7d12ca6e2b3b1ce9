# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Judges what a client, its server and the next client have done while something happened.

Place: test_disturbed.py asks it. Contract: nothing here runs anything.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from hosts.disturbances import HINT, Disturbance

DONE, TOLD, BAD, NOT_RUN = "done", "told", "BAD", "not run"


@dataclass
class Side:
    """The result of one program: its exit status, stderr and stdout."""

    status: int | None = None  # None: it did not end in its time
    said: list[str] = field(default_factory=list)
    out: str = ""
    hung: str = ""  # the place in the kernel, if it had to be killed


@dataclass
class Seen:
    """All that was seen of one stage."""

    client: Side = field(default_factory=Side)
    server: Side = field(default_factory=Side)
    next: Side = field(default_factory=Side)
    server_lasted: bool = True  # the server ran until it was interrupted, after the next client
    said_later: list[str] = field(default_factory=list)  # lines of the server about the next client or about its end
    held: str = ""  # objects of the server long after its client had gone


@dataclass
class Verdict:
    """The word for the table, and what is wrong; what was said is kept for the reader."""

    word: str
    faults: list[str]
    client: str = ""
    server: str = ""


def first_result(out: str) -> dict[str, Any] | None:
    """Returns the first line of results."""
    for line in out.splitlines():
        try:
            result = json.loads(line)
        except ValueError:
            return None
        return result if isinstance(result, dict) else None
    return None


def of_result(stage: str, out: str, count: int) -> list[str]:
    """Checks a client that ended well: all its messages, and each byte of them."""
    result = first_result(out)
    if result is None:
        return ["exit status 0 without a result"]
    faults = []
    if not result["complete"]:
        faults.append("exit status 0, but complete is false")
    if result["count"] + result["warm_up"] != count:
        faults.append(f"{result['count']} + {result['warm_up']} messages, not {count}")
    if not stage.startswith("blast") and not result["verified"]:
        faults.append("not verified")
    return faults


# The announcement of a server, and the line of count-atomic-1's after each client.
NEWS = re.compile(r"listening on |counted to \d+, and the clients' counts add up to ")


def sentences(said: list[str]) -> list[str]:
    """Returns the lines that are complaints, without news."""
    return [line.split(": ", 1)[1] for line in said if not NEWS.search(line)]


def of_reason(who: str, lines: list[str], row: Disturbance) -> list[str]:
    """An error is one line that names a cause that it can have. A server may lose its listener, too."""
    faults = []
    lines = [line for line in lines if not re.search(HINT, line)] or lines[:1]
    if len(lines) > (2 if row.removes and who == "server" else 1):
        faults.append(f"{who} says {len(lines)} things: {' / '.join(lines)}")
    for line in lines[:2]:
        if not any(re.search(cause, line) for cause in row.causes):
            faults.append(f"{who} gives another cause: {line}")
    return faults


def of_client(row: Disturbance, stage: str, client: Side) -> list[str]:
    """The client succeeds, or says why not."""
    lines = sentences(client.said)
    if client.status is None:
        return [f"client hangs ({client.hung}); it said: {' / '.join(lines) or 'nothing'}"]
    if client.status == 0:
        faults = [f"client says, with exit status 0: {line}" for line in lines]
        return faults + of_result(stage, client.out, row.count)
    faults = of_reason("client", lines, row)
    if client.status != 1:
        faults.append(f"client: exit status {client.status}")
    if not lines:
        faults.append("client fails without a word")
    return faults


def of_server(row: Disturbance, seen: Seen) -> list[str]:
    """The server says why a client failed, ends no sooner than it is told to, and fits its exit status to it."""
    lines = sentences(seen.server.said)
    faults = of_reason("server", lines, row)
    if seen.server.status is None:
        faults.append(f"server hangs ({seen.server.hung})")
    elif seen.server.status not in (0, 1):
        faults.append(f"server: exit status {seen.server.status}")
    elif seen.server.status == 1 and not lines + sentences(seen.said_later):
        faults.append("server fails without a word")
    later = [line for line in sentences(seen.said_later) if not re.search(HINT, line)]
    faults += [f"server says later: {line}" for line in later]
    if seen.held:
        faults.append(f"server still holds {seen.held} of a client that has gone")
    if not seen.server_lasted and not (row.removes and 1 in row.hosts):
        faults.append("server ended with its first client, in spite of -n 0")
    return faults


def judge(row: Disturbance, stage: str, seen: Seen) -> Verdict:
    """The verdict on a stage."""
    client, server = sentences(seen.client.said), sentences(seen.server.said)
    faults = of_client(row, stage, seen.client) + of_server(row, seen)
    word = DONE if seen.client.status == 0 and not server else TOLD
    if row.harmless and word != DONE and not faults:
        faults.append("fails, though nothing is lost for good")
    if seen.next.status != 0:
        what = "hangs" if seen.next.status is None else f"exit status {seen.next.status}"
        faults.append(f"the next client is not served: {what}, {sentences(seen.next.said)}")
    else:
        faults += [f"the next client: {fault}" for fault in of_result(stage, seen.next.out, row.count)]
    return Verdict(BAD if faults else word, faults, " / ".join(client), " / ".join(server))
