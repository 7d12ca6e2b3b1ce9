# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Reads the output of `verbs-trace -j`, and writes a call as text, as verbs-trace without -j does.

Place: the first step of picture.py. Contract: a line that cannot be read is counted and left out; a file without any
call is an error. Any JSON results in some text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# A line of -j is below 64 KiB; a longer one is not from verbs-trace.
LONGEST = 1 << 17
# Objects, and words that need no name before them.
OBJECT = re.compile(
    r"(context|pd|mr|mw|cq|qp|srq|ah|comp_channel|event_channel|id|event|addrinfo|device_list|context_list|xrcd"
    r"|wq|rwq_table|flow|flow_action|counters|dm|td)\d+"
)
LABELLED = {"send_cq", "recv_cq", "srq", "listener"}
BARE = {"wr", "wc", "completion", "what", "opcode", "type"}


class Unreadable(Exception):
    """Raised for a file that is no trace. The text is for the user."""


@dataclass
class Call:
    """A call, or empty polls in one line (`times`), or a call that has not ended."""

    name: str
    time: int  # nanoseconds, at its beginning
    took: int
    process: Process
    thread: int
    args: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str = ""
    depth: int = 0
    times: int = 0
    returned: dict[str, Any] = field(default_factory=dict)  # pointer, qp_num
    unfinished: bool = False
    callers: list[str] = field(default_factory=list)  # callers, with -i, the innermost first: OBJECT+OFFSET

    @property
    def end(self) -> int:
        """Returns when the call returned."""
        return self.time + self.took


@dataclass(eq=False)
class Process:
    """A process of a trace. Its calls are in order of their beginnings."""

    trace: int
    pid: int
    program: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    accusations: list[str] = field(default_factory=list)


@dataclass
class Trace:
    """The contents of a file."""

    path: str
    start: int | None = None  # a time on the clock of `boot`
    boot: str = ""
    processes: dict[int, Process] = field(default_factory=dict)
    damaged: int = 0
    first_damaged: int = 0

    def process(self, number: int, pid: int) -> Process:
        """Returns the process with this pid, in the trace with this number."""
        return self.processes.setdefault(pid, Process(number, pid))


def _number(record: dict[str, Any], name: str, default: int | None = None) -> int:
    """Returns a whole number from 0 up."""
    value = record.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise ValueError(name)
    return value


def _call(record: dict[str, Any], process: Process) -> Call:
    """Reads one line of a call."""
    name = record.get("call", record.get("unfinished"))
    args = record.get("args", {})
    if not isinstance(name, str) or not isinstance(args, dict):
        raise ValueError("call")
    return Call(
        name=name,
        time=_number(record, "time_ns"),
        took=_number(record, "took_ns"),
        process=process,
        thread=_number(record, "thread"),
        args=args,
        result=record.get("result"),
        error=str(record.get("error", "")),
        depth=_number(record, "depth", 0),
        times=_number(record, "times", 0),
        returned={k: record[k] for k in ("pointer", "qp_num") if k in record},
        unfinished="unfinished" in record,
        callers=[str(one) for one in record.get("from", [])],
    )


def _take(trace: Trace, number: int, record: Any) -> None:
    """Puts the contents of a line where they belong."""
    if not isinstance(record, dict):
        raise ValueError("no object")
    pid = _number(record, "pid")
    if isinstance(record.get("program"), list):
        trace.process(number, pid).program = [str(word) for word in record["program"]]
        trace.start, trace.boot = _number(record, "start_ns"), str(record.get("boot_id", ""))
    elif "accusation" in record:
        trace.process(number, pid).accusations.append(str(record.get("text", record["accusation"])))
    elif "call" in record or "unfinished" in record:
        process = trace.process(number, pid)
        process.calls.append(_call(record, process))


def read(path: str, number: int) -> Trace:
    """Reads the trace in a file, as number `number` of the drawn ones."""
    trace = Trace(path)
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as lines:
            for at, line in enumerate(lines, 1):
                try:
                    if len(line) > LONGEST:
                        raise ValueError("too long")
                    if line.strip():
                        _take(trace, number, json.loads(line))
                except (ValueError, RecursionError):
                    trace.damaged += 1
                    trace.first_damaged = trace.first_damaged or at
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    # The thread of empty polls that are printed at the very end is not known: 0.
    trace.processes = {pid: p for pid, p in trace.processes.items() if any(not c.times for c in p.calls)}
    if not trace.processes:
        raise Unreadable(f"{path}: no call in it: is it what verbs-trace -j -o {path} has written?")
    for process in trace.processes.values():
        process.calls.sort(key=lambda call: (call.time, call.depth))
    return trace


def _is_bare(name: str, value: Any) -> bool:
    if name in BARE:
        return True
    if name == "status":
        return isinstance(value, str)
    return name not in LABELLED and isinstance(value, str) and bool(OBJECT.fullmatch(value))


def _value(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, dict) and set(value) == {"bytes", "hex"}:
        hexadecimal = str(value["hex"])
        cut = isinstance(value["bytes"], int) and len(hexadecimal) < 2 * value["bytes"]
        count = "1 byte" if value["bytes"] == 1 else f"{value['bytes']} bytes"
        return f"({count}) {hexadecimal}{'...' if cut else ''}".rstrip()
    if isinstance(value, dict):
        return f"{{{text_of_arguments(value)}}}"
    return str(value)


def text_of_arguments(items: dict[str, Any]) -> str:
    """Returns the text of a group, between its braces."""
    parts: list[str] = []
    for name, value in items.items():
        if name == "cut" and value is True:
            parts.append("...")
        elif name.endswith("_pointer") and name.removesuffix("_pointer") in items and parts:
            parts[-1] += f" ({value})"
        elif _is_bare(name, value) and not (name == "qp" and "qp_num" in items):
            parts.append(_value(value))
        else:
            parts.append(f"{name} {_value(value)}")
    return ", ".join(parts)


def text_of(call: Call) -> str:
    """Returns a call as verbs-trace without -j writes it, without its time and duration."""
    text = f"{call.name}({text_of_arguments(call.args)})"
    if call.unfinished:
        return f"{call.name}: has not returned"
    if call.times:
        return f"{text} = 0, {call.times} time{'' if call.times == 1 else 's'}"
    if call.result is not None or "pointer" in call.returned or call.error:
        text += f" = {_value(call.result)}"
    if "pointer" in call.returned:
        text += f" ({call.returned['pointer']})"
    if "qp_num" in call.returned:
        text += f", qp_num {call.returned['qp_num']}"
    return f"{text} {call.error}" if call.error else text
